#include "weft/io/file_tree.h"

#include <algorithm>
#include <fstream>

#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/md5.h"
#include "weft/io/file.h"
#include "weft/io/gzip.h"

namespace weft::io {
namespace {

namespace fs = std::filesystem;

bool ends_with(std::string_view name, std::string_view end) {
    return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
}

/// The .tar of a compressed archive, in the cache. Its name follows from which file it is, how long and how old, so that another archive
/// of the same name is unfolded anew.
fs::path unfolded(const fs::path& archive) {
    std::string whole = fs::absolute(archive).string();
    std::string key =
        md5(text(whole, " ", fs::file_size(archive), " ", fs::last_write_time(archive).time_since_epoch().count()));
    fs::path folder = cache_folder() / "unfolded";
    fs::path made = folder / text(archive.filename().string(), "-", key.substr(0, 12), ".tar");
    if (fs::is_regular_file(made)) return made;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw FileError(text("'", folder.string(), "' cannot be made: ", error.message(),
                             "; set WEFT_CACHE to a folder for what weft unpacks"));
    gunzip_file(archive, made);
    return made;
}

std::vector<FileTree::Entry> folder_entries(const fs::path& folder) {
    std::vector<FileTree::Entry> entries;
    std::error_code error;
    fs::recursive_directory_iterator at(folder, fs::directory_options::follow_directory_symlink, error), end;
    for (; !error && at != end; at.increment(error)) {
        if (at.depth() > 32) throw FileError(text("'", folder.string(), "' is deeper than 32 folders"));
        if (at->is_regular_file()) entries.push_back({at->path().lexically_relative(folder).generic_string(), 0, 0});
    }
    if (error) throw FileError(text("'", folder.string(), "' cannot be read: ", error.message()));
    return entries;
}

}  // namespace

fs::path cache_folder() {
    if (auto cache = environment("WEFT_CACHE")) return *cache;
    if (auto cache = environment("XDG_CACHE_HOME")) return fs::path(*cache) / "weft";
    if (auto home = environment("HOME")) return fs::path(*home) / ".cache" / "weft";
    throw FileError("there is no folder for what weft keeps: set the environment variable WEFT_CACHE to one");
}

bool is_archive(const fs::path& path) {
    std::string name = path.filename().string();
    return ends_with(name, ".tar") || ends_with(name, ".tar.gz") || ends_with(name, ".tgz");
}

FileTree::FileTree(const fs::path& path) : path_(path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        entries_ = folder_entries(path);
    } else {
        if (!fs::is_regular_file(path, ignored))
            throw FileError(text("'", path.string(), "' is missing: there is no such folder or archive"));
        if (!is_archive(path))
            throw FileError(text("'", path.string(), "' is neither a folder nor an archive (.tar, .tar.gz, .tgz)"));
        archive_ = std::make_shared<InputFile>(ends_with(path.filename().string(), ".tar") ? path : unfolded(path));
        entries_ = tar_entries(*archive_);
    }
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
}

FileTree::~FileTree() = default;

std::string FileTree::place(const Entry& entry) const {
    return archive_ ? text(path_.string(), ": ", entry.name) : (path_ / entry.name).string();
}

std::string FileTree::read(const Entry& entry, std::uint64_t limit) const {
    if (!archive_) return read_file(path_ / entry.name, limit);
    if (entry.size > limit)
        throw FileError(text("'", place(entry), "' holds ", entry.size, " bytes, more than the ", limit, " allowed"));
    std::string bytes(entry.size, '\0');
    archive_->read(bytes.data(), bytes.size(), entry.offset);
    return bytes;
}

}  // namespace weft::io
