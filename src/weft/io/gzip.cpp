#include "weft/io/gzip.h"

#include <algorithm>

#include "weft/base/crc.h"
#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/io/file.h"

#if WEFT_HAVE_ZLIB
#include <zlib.h>
#endif

namespace weft::io {

bool is_gzip(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

#if WEFT_HAVE_ZLIB
namespace {

class Inflater {
  public:
    /// 16 more bits of window: gzip alone; a negative number of them: deflate without a frame.
    Inflater(std::string_view compressed, std::string_view name, int bits = 16 + MAX_WBITS)
        : rest_(compressed), name_(name), framed_(bits > MAX_WBITS) {
        if (inflateInit2(&stream_, bits) != Z_OK) throw OutOfMemory("no memory for zlib");
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    /// Up to `count` bytes; fewer only at the end.
    std::size_t read(char* to, std::size_t count) {
        std::size_t done = 0;
        while (done < count && !ended_) done += step(to + done, count - done);
        return done;
    }

  private:
    std::size_t step(char* to, std::size_t count) {
        auto room = static_cast<uInt>(std::min<std::size_t>(count, 1u << 30));
        auto given = static_cast<uInt>(std::min<std::size_t>(rest_.size(), 1u << 30));
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
        stream_.avail_in = given;
        stream_.next_out = reinterpret_cast<Bytef*>(to);
        stream_.avail_out = room;
        int status = inflate(&stream_, Z_NO_FLUSH);
        rest_.remove_prefix(given - stream_.avail_in);
        if (status == Z_STREAM_END) return next_member(), room - stream_.avail_out;
        if (status == Z_BUF_ERROR || (status == Z_OK && rest_.empty() && stream_.avail_out > 0)) {
            throw FileError(text("'", name_, "' is cut short: the gzip stream has no end"));
        }
        if (status != Z_OK) {
            throw FileError(text("'", name_, "' is damaged: ", stream_.msg ? stream_.msg : "no valid gzip stream"));
        }
        return room - stream_.avail_out;
    }
    /// A gzip file may be several, one after another (RFC 1952, 2.2).
    void next_member() {
        ended_ = rest_.empty();
        if (ended_ || !framed_) return void(ended_ = true);
        if (!is_gzip(rest_))
            throw FileError(text("'", name_, "' is damaged: ", rest_.size(), " bytes follow the gzip stream"));
        inflateReset(&stream_);
    }

    z_stream stream_{};
    std::string_view rest_, name_;
    bool framed_, ended_ = false;
};

}  // namespace

std::string gunzip_begin(std::string_view compressed, std::uint64_t count, std::string_view name) {
    std::string bytes(std::min(count, most_unfolded(compressed.size())), '\0');
    bytes.resize(Inflater(compressed, name).read(bytes.data(), bytes.size()));
    return bytes;
}

std::string gunzip(std::string_view compressed, std::uint64_t limit, std::string_view name) {
    Inflater inflater(compressed, name);
    std::string bytes;
    std::size_t size = 0, wanted = 1 << 16;
    do {
        wanted = std::min<std::uint64_t>(wanted, limit + 1);  // one more than allowed shows that there is more
        bytes.resize(wanted);
        size += inflater.read(bytes.data() + size, wanted - size);
        if (size > limit)
            throw FileError(text("'", name, "' unfolds to more than the ", limit, " bytes that are allowed here"));
        wanted *= 2;
    } while (size == bytes.size());
    bytes.resize(size);
    return bytes;
}

void gunzip_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    BufferHandle mapped = map_file(from);
    std::string_view bytes(reinterpret_cast<const char*>(mapped->data()), InputFile(from).size());
    if (!is_gzip(bytes)) throw FileError(text("'", from.string(), "' is no gzip file, whatever its name says"));
    std::string name = from.string();
    Inflater inflater(bytes, name);
    std::string piece(1 << 20, '\0');
    write_atomically(to, [&]() -> std::string_view {
        return {piece.data(), inflater.read(piece.data(), piece.size())};
    });
}

namespace {

std::string inflated(std::string_view compressed, std::uint64_t size, std::string_view name, int bits) {
    if (size > most_unfolded(compressed.size()))
        throw FileError(text("'", name, "' is damaged: ", compressed.size(), " bytes cannot unfold to ", size));
    std::string bytes(size, '\0');
    Inflater inflater(compressed, name, bits);
    std::size_t held = inflater.read(bytes.data(), bytes.size());
    char more = 0;
    if (held != size || inflater.read(&more, 1) != 0)
        throw FileError(
            text("'", name, "' is damaged: it unfolds to another number of bytes than the ", size, " it says"));
    return bytes;
}

}  // namespace

std::string inflate_raw(std::string_view compressed, std::uint64_t size, std::string_view name) {
    return inflated(compressed, size, name, -MAX_WBITS);
}
std::string inflate_zlib(std::string_view compressed, std::uint64_t size, std::string_view name) {
    return inflated(compressed, size, name, MAX_WBITS);
}

std::uint32_t crc32(std::string_view bytes) {
    uLong sum = ::crc32(0, nullptr, 0);
    for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 1u << 30)))
        sum = ::crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()),
                      static_cast<uInt>(std::min<std::size_t>(bytes.size(), 1u << 30)));
    return static_cast<std::uint32_t>(sum);
}

std::string zlib_stream(std::string_view bytes) {
    uLongf size = compressBound(bytes.size());
    std::string packed(size, '\0');
    if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                 bytes.size()) != Z_OK)
        throw OutOfMemory("no memory for zlib");
    packed.resize(size);
    return packed;
}

#else

void gunzip_file(const std::filesystem::path& from, const std::filesystem::path&) {
    (void)gunzip("", 0, from.string());
}
std::string inflate_raw(std::string_view, std::uint64_t, std::string_view name) {
    throw FileError(text("'", name, "' is compressed, and this build of weft was made without zlib (zlib1g-dev)"));
}
std::string inflate_zlib(std::string_view compressed, std::uint64_t size, std::string_view name) {
    return inflate_raw(compressed, size, name);
}
std::uint32_t crc32(std::string_view bytes) { return crc<crc32_polynomial>(bytes); }

namespace {

std::uint32_t adler32(std::string_view bytes) {  // RFC 1950
    std::uint32_t a = 1, b = 0;
    for (char byte : bytes) {
        a = (a + static_cast<std::uint8_t>(byte)) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

}  // namespace

/// Stored blocks (RFC 1951, 3.2.4).
std::string zlib_stream(std::string_view bytes) {
    std::string out = "\x78\x01";
    std::uint32_t check = adler32(bytes);
    do {
        std::size_t count = std::min<std::size_t>(bytes.size(), 65535);
        out.push_back(count == bytes.size() ? 1 : 0);
        for (std::size_t word : {count, ~count}) {
            out.push_back(static_cast<char>(word & 255));
            out.push_back(static_cast<char>(word >> 8 & 255));
        }
        out += bytes.substr(0, count);
        bytes.remove_prefix(count);
    } while (!bytes.empty());
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(check >> shift & 255));
    return out;
}

std::string gunzip(std::string_view, std::uint64_t, std::string_view name) {
    throw FileError(text("'", name,
                         "' is compressed by gzip, and this build of weft was made without zlib; unpack it (gunzip ",
                         name, ") or build with zlib installed"));
}
std::string gunzip_begin(std::string_view compressed, std::uint64_t count, std::string_view name) {
    return gunzip(compressed, count, name);
}

#endif

std::string read_maybe_gzip(const std::filesystem::path& path, std::uint64_t limit) {
    std::string bytes = read_file(path, limit);
    return is_gzip(bytes) ? gunzip(bytes, limit, path.string()) : bytes;
}

}  // namespace weft::io
