// Files by name, read in any order and by any thread: those below a folder, or those in an archive (.tar, .tar.gz, .tgz). An archive's files
// are read where they lie in it and never written anywhere, so no name in it can reach outside of it; a compressed one is unfolded once,
// as one .tar, into weft's cache. Callers: data/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::io {

class InputFile;

/// The folder of what weft can make again: $WEFT_CACHE, or $XDG_CACHE_HOME/weft, or ~/.cache/weft. FileError if none of these is set.
std::filesystem::path cache_folder();

class FileTree {
  public:
    struct Entry {
        std::string name;                    // below the folder, with '/': "train/cat/0001.jpg"
        std::uint64_t offset = 0, size = 0;  // in the archive
    };

    /// FileError if `path` is neither a folder nor an archive, or the archive is damaged.
    explicit FileTree(const std::filesystem::path& path);
    ~FileTree();

    /// Regular files, in the order of their names' bytes.
    const std::vector<Entry>& entries() const { return entries_; }
    /// A file's bytes. FileError if it cannot be read, or holds more than `limit`.
    std::string read(const Entry& entry, std::uint64_t limit = std::uint64_t{1} << 32) const;
    /// Where the file is, for messages: "folder/name", "archive.tar: name".
    std::string place(const Entry& entry) const;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    std::shared_ptr<const InputFile> archive_;  // none: a folder
    std::vector<Entry> entries_;
};

/// Whether the name ends as an archive's that FileTree reads.
bool is_archive(const std::filesystem::path& path);

/// The regular files of a tar archive (POSIX ustar, with GNU's and pax' long names), as they lie in it. FileError if it is damaged or cut short.
std::vector<FileTree::Entry> tar_entries(const InputFile& archive);

}  // namespace weft::io
