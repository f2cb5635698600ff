// Whole files in and out. What is read is limited before memory is asked for; what is written is either wholly there or
// not at all. Every failure is a FileError that names the path and the system's cause. Bytes travel as std::string and
// string_view. Callers: the loaders of io/, data/ and train/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "weft/core/buffer.h"

namespace weft::io {

inline constexpr std::uint64_t default_file_limit = 1ull << 36;  // 64 GiB

/// A file opened for reading; closed with the object.
class InputFile {
  public:
    explicit InputFile(const std::filesystem::path& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    std::uint64_t size() const { return size_; }
    std::string name() const { return path_.string(); }
    /// Exactly `bytes` from `offset`; FileError if the file is shorter.
    void read(void* to, std::uint64_t bytes, std::uint64_t offset) const;
    /// Read on demand by the system. Writes to the memory stay there; the file must not be shortened meanwhile.
    BufferHandle map() const;

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

/// FileError if there is no such file, it is no regular file, or it holds more than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = default_file_limit);
BufferHandle map_file(const std::filesystem::path& path);

/// The pieces, one after another, into a temporary file beside `path`, flushed to the disk, then renamed: whoever opens
/// `path` sees the old bytes or the new ones. On failure what was there is as it was.
void write_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces);
void write_atomically(const std::filesystem::path& path, std::string_view bytes);
/// Pieces that are asked for until one is empty.
void write_atomically(const std::filesystem::path& path, const std::function<std::string_view()>& next);
/// So that names given in the folder survive a power cut too. Not all file systems can; the bytes themselves are safe already.
void flush_folder(const std::filesystem::path& folder);

}  // namespace weft::io
