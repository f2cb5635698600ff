#include "weft/data/files.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/parts.h"
#include "weft/io/hdf5.h"
#include "weft/io/mat.h"
#include "weft/io/npy.h"
#include "weft/io/npz.h"

namespace weft::data {
namespace {

struct NpySource : RowSource {
    explicit NpySource(const std::filesystem::path& path) : file(path) {}
    void read(std::int64_t row, void* to) const override { file.read(row, to); }
    io::NpyRows file;
};

}  // namespace

std::vector<std::string> classes_of(const Array& labels) {
    if (labels.dtype != int64 || labels.ndim() != 1 || labels.size() == 0) return {};
    const auto* values = labels.data<std::int64_t>();
    auto [least, greatest] = std::minmax_element(values, values + labels.size());
    if (*least < 0 || *greatest >= 100000) return {};
    std::vector<std::string> classes;
    for (std::int64_t label = 0; label <= *greatest; ++label) classes.push_back(std::to_string(label));
    return classes;
}

Dataset of_arrays(const NamedArrays& inputs, const NamedArrays& targets, const std::string& name) {
    std::vector<InputPart> given;
    std::vector<TargetPart> wanted;
    for (const auto& [field, array] : inputs) given.emplace_back(field, input_of(array));
    for (const auto& [field, array] : targets) wanted.push_back({field, target_of(array, {}, name)});
    return of_parts(std::move(given), std::move(wanted), name);
}

Dataset npy(const std::filesystem::path& x, const std::filesystem::path& y, bool stream) {
    std::string name = text("npy: '", x.string(), "', '", y.string(), "'");
    if (!stream) return of_arrays({{"x", io::load_npy(x)}}, {{"y", io::load_npy(y)}}, name);
    auto rows = std::make_shared<NpySource>(x);
    Dataset set = of_arrays({{"x", unread(rows->file.dtype(), rows->file.dims())}}, {{"y", io::load_npy(y)}}, name);
    set.source = rows;
    return set;
}

std::string unknown_ending(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    for (const char* known : {".npz", ".h5", ".hdf5", ".mat"})
        if (ending == known) return "";
    if (ending == ".parquet")
        return text("'", path.filename().string(),
                    "' is a table: the data set `parquet` reads it, as in {parquet: {path: ", path.filename().string(),
                    ", target: COLUMN}}");
    return text("'", path.filename().string(), "': the ending says how a file is read, and '", ending,
                "' is not known; .npz, .h5, .hdf5 and .mat are (.npy and .csv by the data sets of their names)");
}

namespace {

struct Hdf5Source : RowSource {
    Hdf5Source(const std::filesystem::path& path, const std::string& name) : rows(path, name) {}
    void read(std::int64_t row, void* to) const override { rows.read(row, to); }
    io::Hdf5Rows rows;
};

/// A file of arrays by name.
class ArraysFile {
  public:
    explicit ArraysFile(const std::filesystem::path& path) : path_(path), ending_(path.extension().string()) {
        if (ending_ == ".npz") npz_ = io::load_npz(path);
    }
    Array read(const std::string& key) const {
        if (ending_ == ".mat") return io::load_mat(path_, key);
        if (ending_ != ".npz") return io::load_hdf5(path_, key);
        auto found = npz_.find(key);
        if (found != npz_.end()) return found->second;
        std::vector<std::string_view> names;
        for (const auto& [known, array] : npz_) names.push_back(known);
        throw ConfigError(text("npz: '", path_.string(), "' has no array '", key, "'", did_you_mean(key, names)));
    }
    Dataset input(const std::string& key, bool stream) const {
        if (!stream) return input_of(rows_first(read(key), key));
        if (ending_ == ".npz" || ending_ == ".mat")
            throw ConfigError(text("'", path_.string(),
                                   "': `stream` is for files whose rows can be read one by one, "
                                   "which are .h5 and .npy"));
        auto rows = std::make_shared<Hdf5Source>(path_, key);
        Dataset set = input_of(unread(rows->rows.dtype(), rows->rows.dims()));
        set.source = rows;
        return set;
    }

  private:
    Array rows_first(Array array, const std::string& key) const {
        if (array.ndim() == 0) throw FileError(text("'", path_.string(), "': '", key, "' is one number, no rows"));
        return array;
    }
    std::filesystem::path path_;
    std::string ending_;
    std::map<std::string, Array, std::less<>> npz_;
};

}  // namespace

Dataset arrays_of(const std::filesystem::path& path, const ArraysOptions& options) {
    if (std::string wrong = unknown_ending(path); !wrong.empty()) throw ConfigError(wrong);
    if (options.inputs.empty() || options.targets.empty())
        throw ValueError("arrays_of: a data set has at least one input and one target");
    std::string name = text(path.extension().string().substr(1), ": '", path.string(), "'");
    ArraysFile file(path);
    std::vector<InputPart> inputs;
    std::vector<TargetPart> targets;
    for (const FieldKey& one : options.inputs) inputs.emplace_back(one.name, file.input(one.key, options.stream));
    for (const FieldKey& one : options.targets)
        targets.push_back({one.name, target_of(file.read(one.key), options.labels, name)});
    Dataset set = of_parts(std::move(inputs), targets, name);
    if (options.lengths.empty()) return set;
    set.lengths = target_of(file.read(options.lengths), true, name);
    set.check(name);
    return set;
}

Dataset npz(const std::filesystem::path& path, const std::string& x, const std::string& y) {
    ArraysOptions options;
    options.inputs[0].key = x, options.targets[0].key = y;
    return arrays_of(path, options);
}

}  // namespace weft::data
