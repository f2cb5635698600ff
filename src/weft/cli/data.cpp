// weft data: what data sets there are, and what a data set or a file holds.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/cli/commands.h"
#include "weft/data/registry.h"
#include "weft/io/csv.h"
#include "weft/io/idx.h"
#include "weft/io/npy.h"
#include "weft/io/safetensors.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

void print_array(std::string_view name, const Array& array) {
    std::cout << name << ": " << array.dtype << " of shape " << array.dims << "\n";
}

/// By the name's ending, as everywhere in weft; IDX files have none, or .gz.
void print_file(const fs::path& path) {
    std::string ending = path.extension().string();
    if (ending == ".npy") return print_array(path.string(), io::load_npy(path));
    if (ending == ".csv") {
        io::CsvTable table = io::load_csv(path);
        print_array(path.string(), table.values);
        for (const std::string& name : table.names) std::cout << "  column " << name << "\n";
        return;
    }
    if (ending == ".safetensors") {
        for (const auto& [name, array] : io::load_safetensors(path, {.map = true}).arrays) print_array(name, array);
        return;
    }
    print_array(path.string(), io::load_idx(path));
}

void print_source(const weft::data::Source& source) {
    std::cout << source.name << ": " << source.doc << "\n" << help_on(source.options);
    for (const Option& option : source.options) {
        if (option.required) return;  // what lies in a user's files can't be told without their names
    }
    weft::data::Dataset set = source.load(complete({}, source.options, source.name));
    std::cout << "with these defaults: " << set.size() << " examples of shape " << set.example() << ", " << set.x.dtype
              << " in memory, " << set.x_dtype() << " in a batch; " << set.classes.size() << " classes\n";
}

}  // namespace

int data(const Arguments& arguments) {
    const std::vector<std::string>& words = arguments.words();
    if (words[0] == "list" && words.size() == 1) {
        for (const weft::data::Source& source : weft::data::sources()) {
            std::cout << source.name << std::string(10 - std::min<std::size_t>(9, source.name.size()), ' ')
                      << source.doc << "\n";
        }
        return done;
    }
    if (words[0] == "get") throw ConfigError("weft data get is not built yet in this version of weft");
    if (words[0] != "info" || words.size() != 2)
        throw ConfigError("weft data: expected `weft data list` or `weft data info NAME|FILE`");
    if (fs::is_regular_file(words[1]))
        print_file(words[1]);
    else
        print_source(weft::data::source_named(words[1]));
    return done;
}

}  // namespace weft::cli
