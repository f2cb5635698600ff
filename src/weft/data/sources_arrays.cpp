// What is generated, and what is arrays or tables of a user's own: digits, mnist, npy, npz, csv.
#include "weft/data/batches.h"
#include "weft/data/digits.h"
#include "weft/data/files.h"
#include "weft/data/mnist.h"
#include "weft/data/sources.h"

namespace weft::data {
namespace {

Split split_named(const Json& name) {
    const std::string& word = name.as_string();
    return word == "train" ? Split::train : word == "valid" ? Split::valid : Split::test;
}

std::vector<std::string> target_names(const Json& target) {
    std::vector<std::string> names;
    if (target.is_null()) return names;
    std::vector<Json> list = target.is_array() ? target.items() : std::vector<Json>{target};
    for (const Json& item : list)
        names.push_back(item.is_integer() ? std::to_string(item.as_integer()) : item.as_string());
    return names;
}

void check_csv(const Json& options) {
    check_range(options);
    check_file(options.at("path"));
    (void)target_names(options.at("target"));
    const Json& delimiter = options.at("delimiter");
    if (delimiter.as_string().size() != 1) delimiter.refuse("a delimiter is one character");
}

Dataset load_csv(const Json& options) {
    const std::string& header = options.at("header").as_string();
    CsvDataOptions how;
    how.target = target_names(options.at("target"));
    how.labels = options.at("labels").as_bool();
    how.table.delimiter = options.at("delimiter").as_string()[0];
    how.table.header = header == "yes" ? io::CsvHeader::yes : header == "no" ? io::CsvHeader::no : io::CsvHeader::guess;
    return in_range(csv(options.at("path").as_string(), how), options);
}

void check_digits(const Json& options) {
    if (options.at("size").as_integer() < 1) options.at("size").refuse("digits: the size is at least 1");
    if (options.at("seed").as_integer() < 0) options.at("seed").refuse("digits: a seed is not negative");
}

Dataset load_digits(const Json& options) {
    auto seed = static_cast<std::uint64_t>(options.at("seed").as_integer());
    return digits_split(split_named(options.at("split")), options.at("size").as_integer(), seed);
}

/// One picture as digits and mnist have them.
Dataset sample_picture(const Json&) { return digits_split(Split::train, 1, 1); }

}  // namespace

std::vector<Source> generated_and_table_sources() {
    return {
        {"digits",
         "hand-drawn-looking digits, 28 x 28 grey values 0 .. 255, generated: any number, no files",
         {{"split", "train", "which pictures", false, Json::Kind::string, {"train", "valid", "test"}},
          {"size", 10000, "how many pictures"},
          {"seed", 1, "another seed gives other pictures"}},
         load_digits,
         check_digits,
         sample_picture},
        {"mnist",
         "hand-written digits, 60,000 + 10,000 of 28 x 28 grey values 0 .. 255, from $WEFT_DATA/mnist",
         {{"split", "train", "which of its two parts", false, Json::Kind::string, {"train", "test"}},
          range_option(),
          {"folder", Json(), "where the files lie, if not in $WEFT_DATA/mnist", false, Json::Kind::string}},
         [](const Json& options) {
             const Json& folder = options.at("folder");
             bool train = options.at("split").as_string() == "train";
             return in_range(mnist_part(train, folder.is_null() ? "" : folder.as_string()), options);
         },
         check_range,
         sample_picture},
        {"npy",
         "arrays from two .npy files (paths start where the program runs)",
         {{"x", Json(), "file of the examples", true, Json::Kind::string},
          {"y", Json(), "file of what they should give", true, Json::Kind::string},
          {"stream", false, "rows of x are read when a batch wants them, and not kept in memory"},
          range_option()},
         [](const Json& options) {
             return in_range(
                 npy(options.at("x").as_string(), options.at("y").as_string(), options.at("stream").as_bool()),
                 options);
         },
         [](const Json& options) {
             check_range(options);
             check_file(options.at("x")), check_file(options.at("y"));
         }},
        {"npz",
         "arrays from one .npz file (its path starts where the program runs)",
         {{"path", Json(), "the file", true, Json::Kind::string},
          word_option("x", "x", "name of the examples in it"),
          word_option("y", "y", "name of what they should give"),
          range_option()},
         [](const Json& options) {
             return in_range(
                 npz(options.at("path").as_string(), options.at("x").as_string(), options.at("y").as_string()),
                 options);
         },
         [](const Json& options) {
             check_range(options);
             check_file(options.at("path"));
         }},
        {"csv",
         "a table of numbers from a text file, a row an example (its path starts where the program runs)",
         {{"path", Json(), "the file", true, Json::Kind::string},
          {"target", Json(), "the column(s) that are y, by name or number; the last if left out"},
          {"labels", true, "y holds class numbers; false: quantities"},
          {"delimiter", ",", "what stands between two fields"},
          {"header",
           "guess",
           "whether the first line names the columns",
           false,
           Json::Kind::string,
           {"guess", "yes", "no"}},
          range_option()},
         load_csv,
         check_csv},
    };
}

}  // namespace weft::data
