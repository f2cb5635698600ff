#include "weft/io/csv.h"

#include <algorithm>
#include <charconv>

#include "weft/io/file.h"
#include "weft/io/gzip.h"

namespace weft::io {
namespace {

struct Field {
    std::string value;
    int line = 0, column = 0;
};

/// Cuts a text into lines of fields.
class Reader {
  public:
    Reader(std::string_view text, std::string_view name, char delimiter)
        : text_(text), name_(name), delimiter_(delimiter) {
        if (text_.substr(0, 3) == "\xef\xbb\xbf")
            line_start_ = at_ = 3;  // the mark that some programs begin UTF-8 with
    }

    /// The fields of the next line that is not empty; false at the end.
    bool next(std::vector<Field>& fields) {
        while (!ended() && end_of_line()) {
        }
        fields.clear();
        if (ended()) return false;
        do fields.push_back(field());
        while (take_delimiter());
        if (!ended() && !end_of_line()) fail(line_, column(), "text follows a quoted field");
        return true;
    }
    [[noreturn]] void fail(int line, int column, const std::string& what) const {
        throw FileError(weft::text("'", name_, "':", line, ":", column, ": ", what));
    }

  private:
    bool ended() const { return at_ >= text_.size(); }
    int column() const { return static_cast<int>(at_ - line_start_) + 1; }

    /// Goes past "\n" or "\r\n"; false if there is none here.
    bool end_of_line() {
        std::size_t length = text_[at_] == '\n' ? 1 : text_.substr(at_, 2) == "\r\n" ? 2 : 0;
        if (length == 0) return false;
        at_ += length;
        ++line_;
        line_start_ = at_;
        return true;
    }
    bool take_delimiter() {
        if (ended() || text_[at_] != delimiter_) return false;
        ++at_;
        return true;
    }
    Field field() {
        Field field{{}, line_, column()};
        std::size_t first = text_.find_first_not_of(delimiter_ == '\t' ? " " : " \t", at_);
        if (first < text_.size() && text_[first] == '"') {
            at_ = first;
            quoted(field);
            return field;
        }
        char stops[] = {delimiter_, '\n', '\0'};
        std::size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
        field.value = trimmed(text_.substr(at_, end - at_));
        at_ = end > at_ && end < text_.size() && text_[end] == '\n' && text_[end - 1] == '\r' ? end - 1 : end;
        return field;
    }
    void quoted(Field& field) {
        for (++at_;; ++at_) {
            if (ended()) fail(field.line, field.column, "a quoted field has no closing quote");
            if (text_[at_] == '"' && text_.substr(at_ + 1, 1) != "\"") break;
            if (text_[at_] == '"') ++at_;  // two of them mean one
            field.value.push_back(text_[at_]);
            if (text_[at_] != '\n') continue;
            ++line_;
            line_start_ = at_ + 1;
        }
        ++at_;
        while (!ended() && (text_[at_] == ' ' || (text_[at_] == '\t' && delimiter_ != '\t'))) ++at_;
    }
    static std::string trimmed(std::string_view word) {
        std::size_t begin = word.find_first_not_of(" \t\r"), end = word.find_last_not_of(" \t\r");
        return begin == std::string_view::npos ? "" : std::string(word.substr(begin, end - begin + 1));
    }

    std::string_view text_, name_;
    char delimiter_;
    std::size_t at_ = 0, line_start_ = 0;
    int line_ = 1;
};

template <class T>
bool convert(std::string_view word, T& value) {
    if (word.substr(0, 1) == "+") word.remove_prefix(1);
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

template <class T>
CsvTable read(Reader& reader, const CsvOptions& options) {
    CsvTable table;
    std::vector<T> values;
    std::vector<Field> fields;
    std::size_t columns = 0;
    std::int64_t rows = 0;
    for (bool first = true; reader.next(fields); first = false) {
        if (first) columns = fields.size();
        if (fields.size() != columns) {
            reader.fail(fields[0].line, 1,
                        text("the row has ", fields.size(), " fields, the first line has ", columns));
        }
        double number = 0;
        auto is_name = [&](const Field& field) { return !convert(field.value, number); };
        bool is_header = options.header == CsvHeader::yes ||
                         (options.header == CsvHeader::guess && std::any_of(fields.begin(), fields.end(), is_name));
        if (first && is_header) {
            for (Field& field : fields) table.names.push_back(std::move(field.value));
            continue;
        }
        for (const Field& field : fields) {
            T value{};
            if (!convert(field.value, value)) {
                const char* wanted = std::is_integral_v<T> ? "an integer of 64 bits" : "a number";
                reader.fail(field.line, field.column,
                            field.value.empty()
                                ? text("expected ", wanted, ", the field is empty")
                                : text("expected ", wanted, ", found '", field.value.substr(0, 60), "'"));
            }
            values.push_back(value);
        }
        ++rows;
    }
    table.values = Array::from(values, {rows, static_cast<std::int64_t>(columns)});
    return table;
}

}  // namespace

CsvTable parse_csv(std::string_view text, std::string_view name, const CsvOptions& options) {
    if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r' ||
        options.delimiter == '\0') {
        throw ValueError("csv: the delimiter can be neither a quote nor an end of line");
    }
    Reader reader(text, name, options.delimiter);
    switch (options.dtype) {
        case DType::float32:
            return read<float>(reader, options);
        case DType::float64:
            return read<double>(reader, options);
        case DType::int64:
            return read<std::int64_t>(reader, options);
        default:
            throw DTypeError(weft::text("csv: tables are read as float32, float64 or int64, not ", options.dtype));
    }
}

CsvTable load_csv(const std::filesystem::path& path, const CsvOptions& options) {
    return parse_csv(read_maybe_gzip(path, default_file_limit), path.string(), options);
}

}  // namespace weft::io
