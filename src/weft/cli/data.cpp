// weft data: what data sets there are, what a data set or a file holds, and published ones fetched.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/cli/commands.h"
#include "weft/data/fetch.h"
#include "weft/data/registry.h"
#include "weft/io/csv.h"
#include "weft/io/hdf5.h"
#include "weft/io/idx.h"
#include "weft/io/mat.h"
#include "weft/io/npy.h"
#include "weft/io/npz.h"
#include "weft/io/parquet.h"
#include "weft/io/picture.h"
#include "weft/io/safetensors.h"
#include "weft/io/wav.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

void print_array(std::string_view name, DType dtype, const Dims& dims) {
    std::cout << name << ": " << dtype << " of shape " << dims << "\n";
}
void print_array(std::string_view name, const Array& array) { print_array(name, array.dtype, array.dims); }

void print_parquet(const io::ParquetFile& file) {
    std::cout << file.rows() << " rows, in groups: " << file.groups() << "\n";
    for (const io::ParquetColumn& column : file.columns()) {
        const io::ColumnKind& kind = column.kind;
        std::cout << "  column " << column.name << ": " << (kind.list && kind.unread.empty() ? "lists of " : "");
        if (!kind.unread.empty())
            std::cout << kind.unread << ", which weft does not read\n";
        else
            std::cout << (kind.words ? "text" : name_of(kind.dtype)) << "\n";
    }
}

/// By the name's ending, as everywhere in weft; IDX files have none, or .gz.
void print_file(const fs::path& path) {
    std::string ending = path.extension().string();
    if (ending == ".npy") return print_array(path.string(), io::load_npy(path));
    if (ending == ".npz") {
        for (const auto& [name, array] : io::load_npz(path)) print_array(name, array);
        return;
    }
    if (io::is_picture(path.string())) return print_array(path.string(), io::load_picture(path));
    if (ending == ".wav") {
        io::Sound sound = io::load_wav(path);
        print_array(path.string(), sound.samples);
        std::cout << "  " << sound.rate << " samples a second\n";
        return;
    }
    if (ending == ".csv") {
        io::CsvTable table = io::load_csv(path);
        print_array(path.string(), table.values);
        for (const std::string& name : table.names) std::cout << "  column " << name << "\n";
        return;
    }
    if (ending == ".parquet") return print_parquet(io::ParquetFile(path));
    if (ending == ".h5" || ending == ".hdf5") {
        for (const std::string& name : io::hdf5_names(path)) {
            try {  // those that a data set could be made of
                io::Hdf5Rows rows(path, name);
                print_array(name, rows.dtype(), rows.dims());
            } catch (const FileError& error) {
                std::cout << error.what() << "\n";
            }
        }
        return;
    }
    if (ending == ".mat") {
        for (const std::string& name : io::mat_names(path)) {
            try {
                print_array(name, io::load_mat(path, name));
            } catch (const FileError& error) {
                std::cout << error.what() << "\n";
            }
        }
        return;
    }
    if (ending == ".safetensors") {
        for (const auto& [name, array] : io::load_safetensors(path, {.map = true}).arrays) print_array(name, array);
        return;
    }
    print_array(path.string(), io::load_idx(path));
}

/// How many files of each ending lie in each folder below, as of pictures or sounds in a folder a class.
void print_folder(const fs::path& folder) {
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        if (!entry.is_regular_file()) continue;
        fs::path below = entry.path().parent_path().lexically_relative(folder);
        ++counts[{below == "." ? "" : below.string() + "/", entry.path().extension().string()}];
    }
    if (counts.empty()) throw ConfigError(text("'", folder.string(), "': there is no file in it"));
    for (const auto& [what, count] : counts)
        std::cout << what.first << "*" << what.second << "  " << count << (count == 1 ? " file" : " files") << "\n";
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

int get(const std::string& name) {
    fs::path folder = weft::data::fetched_folder();
    for (const weft::data::PublishedFile& file : weft::data::published_set(name).files) {
        bool fresh = weft::data::fetch(file, folder);
        std::cout << (folder / file.path).string() << (fresh ? "" : " (was there)") << std::endl;
    }
    return done;
}

}  // namespace

int data(const Arguments& arguments) {
    const std::vector<std::string>& words = arguments.words();
    if (words[0] == "list" && words.size() == 1) {
        for (const weft::data::Source& source : weft::data::sources()) {
            std::cout << source.name << std::string(10 - std::min<std::size_t>(9, source.name.size()), ' ')
                      << source.doc << "\n";
        }
        std::cout << "\n`weft data get NAME` fetches:\n";
        for (const weft::data::PublishedSet& set : weft::data::published_sets())
            std::cout << set.name << std::string(16 - std::min<std::size_t>(15, set.name.size()), ' ') << set.doc
                      << "\n";
        return done;
    }
    if (words[0] == "get" && words.size() == 2) return get(words[1]);
    if (words[0] != "info" || words.size() != 2)
        throw ConfigError(
            "weft data: expected `weft data list`, `weft data info NAME|FILE|FOLDER` or `weft data get NAME`");
    if (fs::is_directory(words[1]))
        print_folder(words[1]);
    else if (fs::exists(words[1]))
        as_input([&] { print_file(words[1]); });
    else if (words[1].find_first_of("./") != std::string::npos)
        throw ConfigError(text("'", words[1], "': there is no such file; `weft data list` names the data sets"));
    else
        print_source(weft::data::source_named(words[1]));
    return done;
}

}  // namespace weft::cli
