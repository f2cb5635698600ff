#include "weft/io/npz.h"

#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/io/file.h"
#include "weft/io/gzip.h"
#include "weft/io/npy.h"
#include "weft/io/numbers.h"

namespace weft::io {
namespace {

// Offsets and sizes after PKWARE's APPNOTE.TXT 6.3: the directory stands at the end, and says where each file begins.
constexpr std::size_t end_size = 22, directory_size = 46, local_size = 30, longest_comment = 65535;
constexpr std::uint64_t unknown32 = 0xffffffff;

class ZipReader {
  public:
    ZipReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

    std::map<std::string, Array, std::less<>> read() {
        std::map<std::string, Array, std::less<>> arrays;
        std::size_t end = find_end();
        std::uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
        if (at == unknown32 || count == 0xffff) zip64(end, count, at);
        for (std::uint64_t i = 0; i < count; ++i) at = file(at, arrays);
        return arrays;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { throw FileError(text("'", name_, "' ", what)); }

    std::string_view part(std::uint64_t at, std::uint64_t size) const {
        if (at > bytes_.size() || size > bytes_.size() - at)
            fail(text("is cut short or damaged: ", size, " bytes at byte ", at, " are not all there"));
        return bytes_.substr(at, size);
    }
    std::uint64_t number(std::uint64_t at, std::size_t size) const { return read_little(part(at, size), size); }

    std::size_t find_end() const {
        if (bytes_.substr(0, 2) != "PK") fail("is no .npz file: it does not begin as a zip archive");
        std::size_t from = bytes_.size() > end_size + longest_comment ? bytes_.size() - end_size - longest_comment : 0;
        std::size_t at = bytes_.rfind(std::string_view("PK\5\6", 4));
        if (at == bytes_.npos || at < from || bytes_.size() - at < end_size)
            fail("is cut short: the directory of its arrays is missing");
        return at;
    }

    void zip64(std::size_t end, std::uint64_t& count, std::uint64_t& at) const {
        if (end < 20 || part(end - 20, 4) != std::string_view("PK\6\7", 4))
            fail("is damaged: it lacks a zip64 directory");
        std::uint64_t record = number(end - 12, 8);
        if (part(record, 4) != std::string_view("PK\6\6", 4)) fail("is damaged: it lacks a zip64 directory");
        count = number(record + 32, 8), at = number(record + 48, 8);
    }

    /// What stands in 64 bits in an extra field where 32 were too few, in the order in which it is asked for.
    std::uint64_t wide(std::uint64_t value, std::string_view extra, std::size_t& used) const {
        if (value != unknown32) return value;
        while (extra.size() >= 4) {
            std::uint64_t size = read_little(extra.substr(2), 2);
            if (size > extra.size() - 4) break;
            if (read_little(extra, 2) == 1 && size >= used + 8) {
                used += 8;
                return read_little(extra.substr(4 + used - 8), 8);
            }
            extra.remove_prefix(4 + size);
        }
        fail("is damaged: a size of 64 bits is missing");
    }

    /// Reads one file of the directory; where the next one's line begins.
    std::uint64_t file(std::uint64_t at, std::map<std::string, Array, std::less<>>& arrays) const {
        std::string_view line = part(at, directory_size);
        if (line.substr(0, 4) != std::string_view("PK\1\2", 4))
            fail(text("is damaged: no line of its directory at byte ", at));
        std::uint64_t name_size = read_little(line.substr(28), 2), extra_size = read_little(line.substr(30), 2);
        std::string name(part(at + directory_size, name_size));
        std::string_view extra = part(at + directory_size + name_size, extra_size);
        std::size_t used = 0;
        std::uint64_t size = wide(read_little(line.substr(24), 4), extra, used);
        std::uint64_t packed = wide(read_little(line.substr(20), 4), extra, used);
        std::uint64_t begin = wide(read_little(line.substr(42), 4), extra, used);
        if (read_little(line.substr(8), 2) & 1) fail(text("holds '", name, "' encrypted, which weft does not read"));
        std::uint64_t data = begin + local_size + number(begin + 26, 2) + number(begin + 28, 2);
        std::string place = text(name_, ": ", name);
        std::string numbers = unpacked(part(data, packed), read_little(line.substr(10), 2), size, place);
        if (WEFT_HAVE_ZLIB && crc32(numbers) != read_little(line.substr(16), 4))
            throw FileError(text("'", place, "' is damaged: its checksum is another one than it says"));
        if (name.size() > 4 && name.substr(name.size() - 4) == ".npy") name.resize(name.size() - 4);
        arrays.insert_or_assign(name, parse_npy(numbers, place));
        return at + directory_size + name_size + extra_size + read_little(line.substr(32), 2);
    }

    static std::string unpacked(std::string_view packed, std::uint64_t method, std::uint64_t size,
                                const std::string& place) {
        if (method == 8) return inflate_raw(packed, size, place);
        if (method != 0)
            throw FileError(text("'", place, "' is compressed by method ", method, "; weft reads 0 and 8"));
        if (packed.size() != size)
            throw FileError(text("'", place, "' is damaged: ", packed.size(), " bytes for ", size));
        return std::string(packed);
    }

    std::string_view bytes_, name_;
};

}  // namespace

std::map<std::string, Array, std::less<>> parse_npz(std::string_view bytes, std::string_view name) {
    return ZipReader(bytes, name).read();
}

std::map<std::string, Array, std::less<>> load_npz(const std::filesystem::path& path) {
    return parse_npz(read_file(path), path.string());
}

}  // namespace weft::io
