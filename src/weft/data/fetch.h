// Published data sets, fetched into weft's cache: by curl or wget, checked by their MD5 before they get their names; and
// where a data set's files are looked for. Callers: the sources of data/, cli/data.cpp, users.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

struct PublishedFile {
    std::string path;  // in the folder: "mnist/train-images-idx3-ubyte.gz"
    std::string url, md5;
};
struct PublishedSet {
    std::string name, doc;
    std::vector<PublishedFile> files;
};
const std::vector<PublishedSet>& published_sets();
/// ConfigError names the nearest there is.
const PublishedSet& published_set(std::string_view name);

/// Where fetched files lie: the folder `data` of weft's cache.
std::filesystem::path fetched_folder();
/// The first of `path`, $WEFT_DATA/path and fetched_folder()/path that is there; `path` if none is, or it is absolute.
std::filesystem::path find_data(const std::filesystem::path& path);

/// Puts the file at folder/file.path; false if it was there already, whole. FileError says what happened and what to do by hand: no program
/// to fetch with, no network, another content than the published one.
bool fetch(const PublishedFile& file, const std::filesystem::path& folder);

}  // namespace weft::data
