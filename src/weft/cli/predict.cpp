// weft predict: what the model that a run has kept says of examples in a file, as .npy, as .csv, or as lines.
#include "weft/train/predict.h"

#include <charconv>
#include <cstring>
#include <iostream>
#include <map>

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

/// Answers as lines: of a classification the class and the numbers behind it, else all that the network gives; of several outputs one behind
/// the other.
class Lines {
  public:
    Lines(char between, const train::Run& run) : between_(between), run_(run) {}

    std::string head(const std::vector<train::Answers>& outputs) {
        std::string line;
        for (const train::Answers& answers : outputs) {
            std::string of = answers.name.empty() ? "" : answers.name + ".";
            if (!answers.classes.dims.empty()) add(line, of + "class");
            for (std::int64_t i = 0; i < width(numbers_of(answers)); ++i)
                add(line, field(answers.probabilities.dims.empty() ? text(of, "output_", i)
                                                                   : text(of, "p_", name(answers.name, i))));
        }
        return line + "\n";
    }
    std::string of(const std::vector<train::Answers>& outputs) {
        std::string lines;
        for (std::int64_t row = 0; row < outputs[0].outputs.dims[0]; ++row) {
            std::string line;
            for (const train::Answers& answers : outputs) {
                if (!answers.classes.dims.empty())
                    add(line, field(name(answers.name, answers.classes.data<std::int64_t>()[row])));
                add_row(line, numbers_of(answers), row);
            }
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
    void add(std::string& line, const std::string& word) const {
        if (!line.empty()) line += between_;
        line += word;
    }
    std::string name(const std::string& output, std::int64_t label) {
        auto known = classes_.find(output);
        if (known == classes_.end()) known = classes_.emplace(output, train::class_names(run_, output)).first;
        auto at = static_cast<std::size_t>(label);
        return at < known->second.size() ? known->second[at] : std::to_string(label);
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
    const train::Run& run_;
    std::map<std::string, std::vector<std::string>> classes_;  // by output
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
    train::predict(run, examples, [&](const auto& batch) { parts.push_back(batch[0].outputs); });
    io::save_npy(file, joined(parts, examples.size()));
}

void write_csv(const fs::path& file, const train::Run& run, const data::Dataset& examples) {
    Lines lines(',', run);
    std::string table;
    train::predict(run, examples, [&](const auto& batch) {
        if (table.empty()) table = lines.head(batch);
        table += lines.of(batch);
    });
    io::write_atomically(file, table);
}

}  // namespace

int predict(const Arguments& arguments) {
    use_machine(arguments);
    std::optional<std::string> input = arguments.value("input"), output = arguments.value("output");
    if (!input)
        throw ConfigError("weft predict: --input FILE is missing: the examples, as .npy, .npz, .h5, .mat, .csv or IDX");
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
        Lines lines('\t', run);
        train::predict(run, examples, [&](const auto& batch) { std::cout << lines.of(batch); });
        std::cout.flush();
    }
    return done;
}

}  // namespace weft::cli
