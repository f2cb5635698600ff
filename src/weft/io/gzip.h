// Reading of gzip (RFC 1952), through zlib where the build has it. Lengths and checksums are verified; output is
// limited, so a small file that unfolds to gigabytes is refused instead of filling the memory. Callers: io/idx.cpp,
// data/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace weft::io {

/// Whether the bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes);
/// Deflate writes at least one bit for 129 bytes: what `bytes` of it can unfold to at most.
inline std::uint64_t most_unfolded(std::uint64_t bytes) { return bytes * 1032 + 64; }

/// Unfolded; FileError if that is more than `limit` bytes, or the stream is damaged or cut short. `name` is for
/// messages.
std::string gunzip(std::string_view compressed, std::uint64_t limit, std::string_view name);
/// The first `count` bytes (fewer if there are no more); what follows is neither unfolded nor checked.
std::string gunzip_begin(std::string_view compressed, std::uint64_t count, std::string_view name);

/// A gzip file unfolded into another, a piece at a time: in little memory, and wholly or not at all.
void gunzip_file(const std::filesystem::path& from, const std::filesystem::path& to);
/// `size` bytes out of a deflate stream without gzip's frame (as zip files hold them). FileError if it holds more or fewer.
std::string inflate_raw(std::string_view compressed, std::uint64_t size, std::string_view name);
/// The same out of a zlib stream (RFC 1950), whose checksum is verified.
std::string inflate_zlib(std::string_view compressed, std::uint64_t size, std::string_view name);
/// The bytes as a zlib stream (RFC 1950): packed where the build has zlib, else as they are.
std::string zlib_stream(std::string_view bytes);
/// CRC-32 of gzip, zip and PNG.
std::uint32_t crc32(std::string_view bytes);

/// A file's bytes, unfolded if it is a gzip file.
std::string read_maybe_gzip(const std::filesystem::path& path, std::uint64_t limit);

}  // namespace weft::io
