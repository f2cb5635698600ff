// Arrays and tables from files of a user's own, and how their fields are named: npy, npz, file, csv, parquet.
#include <filesystem>
#include <set>

#include "weft/base/error.h"
#include "weft/data/batches.h"
#include "weft/data/fetch.h"
#include "weft/data/files.h"
#include "weft/data/sources.h"
#include "weft/io/parquet.h"

namespace weft::data {
namespace {

std::string word_of(const Json& name) {
    return name.is_integer() ? std::to_string(name.as_integer()) : name.as_string();
}

std::vector<std::string> words_in(const Json& list) {
    std::vector<std::string> words;
    for (const Json& name : list.is_array() ? list.items() : std::vector<Json>{list}) words.push_back(word_of(name));
    return words;
}

/// A field is called as it is in the file, but for what stands in front of it there: /train/left is left.
std::string last_part(const std::string& key) { return key.substr(key.rfind('/') + 1); }

/// Nothing: `usual`; one name: what is called `usual`; a list: each called by its own; a mapping {NAME: key}.
std::vector<FieldKey> fields_in(const Json& given, const char* usual) {
    std::vector<FieldKey> fields;
    if (given.is_null()) return {{usual, usual}};
    if (given.is_string()) return {{usual, given.as_string()}};
    if (given.is_array()) {
        for (const Json& key : given.items()) fields.push_back({last_part(key.as_string()), key.as_string()});
    } else {
        for (const Json::Member& field : given.members()) fields.push_back({field.key, field.value.as_string()});
    }
    if (fields.empty()) given.refuse("expected the name of an array, a list of names, or {NAME: array}");
    return fields;
}

/// That names differ, and can stand in `from:` and `target:`.
void check_names(const std::vector<std::pair<std::string, const Json*>>& fields) {
    std::set<std::string> seen;
    for (const auto& [name, place] : fields) {
        if (name.empty() || name == "input")
            place->refuse(text("'", name, "' cannot name a field: 'input' is what a graph itself is given"));
        if (!seen.insert(name).second)
            place->refuse(text("two fields are called '", name, "'; {NAME: array} gives them names of their own"));
    }
}

ArraysOptions arrays_options(const Json& o) {
    ArraysOptions made;
    made.inputs = fields_in(o.at("x"), "x"), made.targets = fields_in(o.at("y"), "y");
    if (!o.at("lengths").is_null()) made.lengths = o.at("lengths").as_string();
    if (!o.at("labels").is_null()) made.labels = o.at("labels").as_bool();
    if (const Json* stream = o.find("stream")) made.stream = stream->as_bool();
    return made;
}

void check_arrays(const Json& o) {
    check_range(o);
    ArraysOptions made = arrays_options(o);
    std::vector<std::pair<std::string, const Json*>> names;
    for (const FieldKey& field : made.inputs) names.emplace_back(field.name, &o.at("x"));
    for (const FieldKey& field : made.targets) names.emplace_back(field.name, &o.at("y"));
    check_names(names);
    const Json& path = o.at("path");
    if (files_checked() && !std::filesystem::is_regular_file(find_data(path.as_string())))
        path.refuse(text("there is no file '", path.as_string(),
                         "'; a path starts where the program runs, or else in $WEFT_DATA"));
    if (std::string wrong = unknown_ending(path.as_string()); !wrong.empty()) path.refuse(wrong);
    if (made.stream && path.as_string().ends_with(".mat"))
        o.at("stream").refuse("stream: rows of .mat files cannot be read one by one; those of .h5 and .npy can");
}

Dataset load_arrays(const Json& o) {
    return in_range(arrays_of(find_data(o.at("path").as_string()), arrays_options(o)), o);
}

/// Names, each with some of its own: fields and their columns, columns and their words.
using Lists = std::vector<std::pair<std::string, std::vector<std::string>>>;

Lists columns_in(const Json& given) {
    Lists all;
    if (given.is_object())
        for (const Json::Member& field : given.members()) all.emplace_back(field.key, words_in(field.value));
    return all;
}

void check_table(const Json& options) {
    check_range(options);
    check_file(options.at("path"));
    const Json &target = options.at("target"), &x = options.at("x");
    if (!target.is_null() && !target.is_object()) (void)words_in(target);
    std::vector<std::pair<std::string, const Json*>> names;
    for (const Json* fields : {&x, &target})
        for (const auto& [name, columns] : columns_in(*fields)) names.emplace_back(name, fields);
    check_names(names);
}

void check_csv(const Json& options) {
    check_table(options);
    const Json& delimiter = options.at("delimiter");
    if (delimiter.as_string().size() != 1) delimiter.refuse("a delimiter is one character");
}

TableOptions table_options(const Json& options) {
    TableOptions how;
    const Json &target = options.at("target"), &x = options.at("x");
    if (!target.is_null() && !target.is_object()) how.target = words_in(target);
    how.targets = columns_in(target), how.inputs = columns_in(x);
    if (!x.is_null() && !x.is_object()) how.inputs = {{"x", words_in(x)}};
    how.labels = options.at("labels").as_bool();
    return how;
}

Dataset load_csv(const Json& options) {
    const std::string& header = options.at("header").as_string();
    io::CsvOptions how;
    how.delimiter = options.at("delimiter").as_string()[0];
    how.header = header == "yes" ? io::CsvHeader::yes : header == "no" ? io::CsvHeader::no : io::CsvHeader::guess;
    return in_range(csv(options.at("path").as_string(), table_options(options), how), options);
}

/// {COLUMN: [word, ...]}: what a column of text may hold.
Lists words_of_columns(const Json& given) {
    Lists all;
    if (given.is_null()) return all;
    for (const Json::Member& column : given.members()) {
        std::vector<std::string> words = words_in(column.value);
        if (std::set<std::string>(words.begin(), words.end()).size() != words.size())
            column.value.refuse("a word stands twice; each has one number");
        all.emplace_back(column.key, words);
    }
    return all;
}

void check_parquet(const Json& options) {
    check_table(options);
    (void)words_of_columns(options.at("words"));
    const Json& path = options.at("path");
    if (std::string lacks = io::lacks_parquet(path.as_string()); !lacks.empty()) path.refuse(lacks);
}

Dataset load_parquet(const Json& options) {
    ParquetOptions how{words_of_columns(options.at("words")), options.at("stream").as_bool()};
    return in_range(parquet(options.at("path").as_string(), table_options(options), how), options);
}

std::vector<Option> table_keys(std::initializer_list<Option> own) {
    std::vector<Option> keys{
        {"path", Json(), "the file", true, Json::Kind::string},
        {"target", Json(), "the column(s) that are y, by name or number, the last if left out; or {NAME: column(s)}"},
        {"x", Json(), "the columns that are x, all others if left out; or {NAME: column(s)}, each an input"},
        {"labels", true, "y holds class numbers; false: quantities"}};
    keys.insert(keys.end(), own);
    keys.push_back(range_option());
    return keys;
}

std::vector<Option> arrays_keys() {
    Option labels{"labels", Json(), "y holds class numbers, or does not; integers do if left out", false,
                  Json::Kind::boolean};
    return {
        {"path", Json(), "the file", true, Json::Kind::string},
        {"x", Json(), "the array of the examples, x if left out; of several inputs a list, or {NAME: array}"},
        {"y", Json(), "the array of what they should give, y if left out; of several targets a list, or {NAME: array}"},
        {"lengths", Json(), "the array of how many places of x's first axis each example fills", false,
         Json::Kind::string},
        labels,
        range_option()};
}

}  // namespace

std::vector<Source> file_sources() {
    std::vector<Option> keys = arrays_keys(), streamed = keys;
    streamed.insert(streamed.end() - 1,
                    {"stream", false, "rows of inputs are read when a batch wants them, and not kept (.h5)"});
    return {
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
        {"npz", "arrays from one .npz file", keys, load_arrays, check_arrays},
        {"file", "arrays from one file, by its ending: .h5 and .hdf5 (x: /train/images), .mat, .npz", streamed,
         load_arrays, check_arrays},
        {"csv", "a table of numbers from a text file, a row an example (its path starts where the program runs)",
         table_keys(
             {{"delimiter", ",", "what stands between two fields"},
              word_option("header", "guess", "whether the first line names the columns", {"guess", "yes", "no"})}),
         load_csv, check_csv},
        {"parquet", "a table from a Parquet file, a row an example; text becomes numbers, lists of one length vectors",
         table_keys(
             {{"words", Json(),
               "{COLUMN: [word, ...]}: the words of a column of text, 0, 1, ...; its own, sorted, if left out", false,
               Json::Kind::object},
              {"stream", false, "rows of inputs are read when a batch wants them; a few groups of rows are kept"}}),
         load_parquet, check_parquet},
    };
}

}  // namespace weft::data
