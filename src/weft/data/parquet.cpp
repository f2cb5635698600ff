// Parquet files as data sets: tables whose columns are read a group of rows at a time. Callers: data/sources_files.cpp, users.
#include "weft/io/parquet.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <set>
#include <unordered_map>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/parts.h"
#include "weft/data/tables.h"

namespace weft::data {
namespace {

using Words = std::vector<std::string>;

/// A column, as numbers: how many in a row, and what words they stand for.
struct ParquetPart {
    std::size_t column;
    bool list, holds_words;
    std::int64_t width;
    Words words = {};
    std::unordered_map<std::string, float> numbers = {};  // of words

    /// Words are those of the whole file, in order, unless they are given.
    ParquetPart(const io::ParquetFile& file, std::size_t number, const Words* given)
        : column(number), list(file.kind(number).list), holds_words(file.kind(number).words), width(list ? 0 : 1) {
        std::set<std::string> all;
        for (std::int64_t group = 0; group < file.groups() && (width == 0 || (holds_words && !given)); ++group) {
            io::ColumnCells cells = file.read(group, column);
            if (width == 0) width = cells.numbers.dims[1];
            all.insert(cells.words.begin(), cells.words.end());
        }
        words = given ? *given : Words(all.begin(), all.end());
        for (const std::string& word : words) numbers.emplace(word, static_cast<float>(numbers.size()));
    }
    Array read(const io::ParquetFile& file, std::int64_t group, DType dtype) const {
        io::ColumnCells cells = file.read(group, column, width);
        if (!holds_words) return cells.numbers.dtype == dtype ? cells.numbers : as_float32(cells.numbers);
        std::vector<float> places;
        for (const std::string& word : cells.words) {
            auto found = numbers.find(word);
            if (found == numbers.end())
                throw FileError(text(file.place(column), ": '", word, "' is none of the column's `words:`"));
            places.push_back(found->second);
        }
        Array values = Array::empty(float32, cells.numbers.dims);
        const auto* from = cells.numbers.data<std::int64_t>();
        std::transform(from, from + values.size(), values.data<float>(),
                       [&](std::int64_t place) { return places[static_cast<std::size_t>(place)]; });
        return values;
    }
};

/// Some columns side by side, as numbers of one dtype: bytes, if all are, else float32.
class ParquetColumns : public RowSource {
  public:
    ParquetColumns(std::shared_ptr<const io::ParquetFile> file, const ColumnNumbers& columns,
                   const ParquetOptions& options)
        : file_(std::move(file)) {
        for (std::size_t column : columns) {
            const Words* given = nullptr;
            for (const auto& [name, words] : options.words)
                if (name == file_->columns()[column].name) given = &words;
            width_ += parts_.emplace_back(*file_, column, given).width;
            if (file_->kind(column).dtype != uint8) dtype_ = float32;
        }
    }
    DType dtype() const { return dtype_; }
    Dims dims() const { return {file_->rows(), width_}; }
    /// Words of a single column; none if there are several.
    Words classes() const { return parts_.size() == 1 ? parts_[0].words : Words(); }
    /// Places of a column of lists are pixels[0], pixels[1], ...
    Words names() const {
        Words all;
        for (const ParquetPart& part : parts_) {
            const std::string& name = file_->columns()[part.column].name;
            for (std::int64_t i = 0; i < part.width; ++i) all.push_back(part.list ? text(name, "[", i, "]") : name);
        }
        return all;
    }
    Array whole() const {
        Array all = Array::empty(dtype_, dims());
        auto* to = static_cast<std::byte*>(all.address());
        for (std::int64_t group = 0; group < file_->groups(); ++group)
            read_group(group, to + static_cast<std::size_t>(start(group)) * row_bytes());
        return all;
    }
    /// Groups that were read last are kept, up to 256 MB, and three at least: a shuffled window lies in two, and some rows come late.
    void read(std::int64_t row, void* to) const override {
        auto next = std::upper_bound(file_->starts().begin(), file_->starts().end(), row);
        std::int64_t group = next - file_->starts().begin() - 1;
        std::lock_guard lock(one_);
        auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == group; });
        if (found == kept_.end()) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(*next - start(group)) * row_bytes());
            while (kept_.size() >= std::max<std::size_t>(3, most_kept / std::max<std::size_t>(1, bytes.size())))
                kept_.pop_back();
            read_group(group, bytes.data());
            kept_.emplace_front(group, std::move(bytes));
        } else {
            kept_.splice(kept_.begin(), kept_, found);
        }
        std::copy_n(kept_.front().second.data() + static_cast<std::size_t>(row - start(group)) * row_bytes(),
                    row_bytes(), static_cast<std::byte*>(to));
    }

  private:
    static constexpr std::size_t most_kept = 256 << 20;
    std::int64_t start(std::int64_t group) const { return file_->starts()[static_cast<std::size_t>(group)]; }
    std::size_t row_bytes() const { return static_cast<std::size_t>(width_) * size_of(dtype_); }
    void read_group(std::int64_t group, std::byte* to) const {
        for (const ParquetPart& part : parts_) {
            Array numbers = part.read(*file_, group, dtype_);
            const auto* from = static_cast<const std::byte*>(numbers.address());
            std::size_t run = static_cast<std::size_t>(part.width) * size_of(dtype_);
            for (std::int64_t row = 0; row < numbers.dims[0]; ++row)
                std::copy_n(from + static_cast<std::size_t>(row) * run, run,
                            to + static_cast<std::size_t>(row) * row_bytes());
            to += run;
        }
    }

    std::shared_ptr<const io::ParquetFile> file_;
    std::vector<ParquetPart> parts_;
    std::int64_t width_ = 0;
    DType dtype_ = uint8;
    mutable std::mutex one_;
    mutable std::list<std::pair<std::int64_t, std::vector<std::byte>>> kept_;  // the newest first
};

}  // namespace

Dataset parquet(const std::filesystem::path& path, const TableOptions& options, const ParquetOptions& how) {
    auto file = std::make_shared<const io::ParquetFile>(path);
    if (file->rows() == 0) throw FileError(text("parquet: '", path.string(), "' has no rows"));
    Table table{"parquet", path, {}, file->columns().size(), {}, {}};
    for (const io::ParquetColumn& column : file->columns()) table.names.push_back(column.name);
    std::vector<std::string_view> names(table.names.begin(), table.names.end());
    for (const auto& [name, words] : how.words)
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw ConfigError(text("parquet: words: there is no column '", name, "'", did_you_mean(name, names)));
    table.input = [&](const ColumnNumbers& columns) {
        auto rows = std::make_shared<ParquetColumns>(file, columns, how);
        Dataset set = input_of(how.stream ? unread(rows->dtype(), rows->dims()) : rows->whole());
        set.names = rows->names();
        if (how.stream) set.source = rows;
        return set;
    };
    table.target = [&](const ColumnNumbers& columns) {
        ParquetColumns rows(file, columns, how);
        Dataset set;
        set.x = rows.whole(), set.classes = rows.classes();
        return set;
    };
    return of_table(table, options);
}

}  // namespace weft::data
