// weft predict: what the model that a run has kept says of examples in a file, as .npy, as .csv, or as lines.
#include "weft/train/predict.h"

#include <charconv>
#include <cstring>
#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/io/file.h"
#include "weft/io/npy.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

/// The shortest text that reads back as the same number of its type.
template <class T>
void add_number(std::string& line, T value) {
    char digits[40];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// As a field of a table (RFC 4180).
std::string field(const std::string& word) {
    if (word.find_first_of(",\"\n\r") == std::string::npos) return word;
    std::string quoted = "\"";
    for (char c : word) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

/// Answers as lines: of a classification the class and the numbers behind it, else all that the network gives.
class Lines {
  public:
    Lines(char between, std::vector<std::string> classes) : between_(between), classes_(std::move(classes)) {}

    std::string head(const train::Answers& answers) const {
        std::string line = answers.classes.dims.empty() ? "" : "class";
        std::int64_t count = width(numbers_of(answers));
        for (std::int64_t i = 0; i < count; ++i) {
            if (!line.empty()) line += between_;
            line += field(answers.probabilities.dims.empty() ? text("output_", i) : text("p_", name(i)));
        }
        return line + "\n";
    }
    std::string of(const train::Answers& answers) const {
        std::string lines;
        const Array numbers = numbers_of(answers);
        for (std::int64_t row = 0; row < numbers.dims[0]; ++row) {
            std::string line =
                answers.classes.dims.empty() ? "" : field(name(answers.classes.data<std::int64_t>()[row]));
            add_row(line, numbers, row);
            lines += line + "\n";
        }
        return lines;
    }

  private:
    static Array numbers_of(const train::Answers& answers) {
        return answers.probabilities.dims.empty() ? answers.outputs : answers.probabilities;
    }
    static std::int64_t width(const Array& numbers) {
        return numbers.size() / std::max<std::int64_t>(1, numbers.dims[0]);
    }
    std::string name(std::int64_t label) const {
        auto at = static_cast<std::size_t>(label);
        return at < classes_.size() ? classes_[at] : std::to_string(label);
    }
    void add_row(std::string& line, const Array& numbers, std::int64_t row) const {
        std::int64_t count = width(numbers);
        with_dtype(numbers.dtype, [&](auto tag) {
            using T = typename decltype(tag)::Type;
            if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
                for (std::int64_t i = 0; i < count; ++i) {
                    if (!line.empty()) line += between_;
                    add_number(line, numbers.data<T>()[row * count + i]);
                }
            }
        });
    }
    char between_;
    std::vector<std::string> classes_;
};

/// All outputs, one behind the other.
Array joined(const std::vector<Array>& parts, std::int64_t rows) {
    Dims dims = parts[0].dims;
    dims[0] = rows;
    Array all = Array::empty(parts[0].dtype, dims);
    auto* to = static_cast<std::byte*>(all.address());
    for (const Array& part : parts) {
        std::memcpy(to, part.address(), part.bytes());
        to += part.bytes();
    }
    return all;
}

void write_npy(const fs::path& file, const train::Run& run, const data::Dataset& examples) {
    std::vector<Array> parts;
    train::predict(run, examples, [&](const train::Answers& batch) { parts.push_back(batch.outputs); });
    io::save_npy(file, joined(parts, examples.size()));
}

void write_csv(const fs::path& file, const train::Run& run, const data::Dataset& examples) {
    Lines lines(',', train::class_names(run));
    std::string table;
    train::predict(run, examples, [&](const train::Answers& batch) {
        if (table.empty()) table = lines.head(batch);
        table += lines.of(batch);
    });
    io::write_atomically(file, table);
}

}  // namespace

int predict(const Arguments& arguments) {
    use_machine(arguments);
    std::optional<std::string> input = arguments.value("input"), output = arguments.value("output");
    if (!input) throw ConfigError("weft predict: --input FILE is missing: the examples, as .npy, .npz, .csv or IDX");
    std::string ending = output ? fs::path(*output).extension().string() : "";
    if (output && ending != ".npy" && ending != ".csv")
        throw ConfigError(text("--output ", *output, ": expected a name that ends with .npy or .csv"));
    if (output && !fs::is_directory(fs::absolute(*output).parent_path()))
        throw ConfigError(text("--output ", *output, ": there is no such folder"));
    std::error_code none;
    if (output && fs::equivalent(*input, *output, none))
        throw ConfigError(text("--output ", *output, " would replace the examples; give it another name"));
    train::Run run = train::Run::open(arguments.words()[0]);
    data::Dataset examples = train::load_examples(run, *input);
    if (ending == ".npy") {
        write_npy(*output, run, examples);
    } else if (ending == ".csv") {
        write_csv(*output, run, examples);
    } else {
        Lines lines('\t', train::class_names(run));
        train::predict(run, examples, [&](const train::Answers& batch) { std::cout << lines.of(batch); });
        std::cout.flush();
    }
    return done;
}

}  // namespace weft::cli
