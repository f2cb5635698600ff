// What lies where in a tar archive: headers of 512 bytes, each followed by its file's bytes, filled up to 512 (POSIX.1-2001, pax; GNU tar's
// manual for long names and sizes beyond 8 GiB). Links, devices and folders are passed over.
#include <optional>

#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/io/file_tree.h"

namespace weft::io {
namespace {

constexpr std::uint64_t tar_block = 512, longest_tar_name = 1 << 16;

class TarReader {
  public:
    explicit TarReader(const InputFile& archive) : archive_(archive) {}

    std::vector<FileTree::Entry> read() {
        std::vector<FileTree::Entry> entries;
        while (at_ < archive_.size()) {
            if (archive_.size() - at_ < tar_block) fail("is cut short within a header");
            std::string header(tar_block, '\0');
            archive_.read(header.data(), tar_block, at_);
            if (header.find_first_not_of('\0') == header.npos) return entries;  // two such blocks end an archive
            check_sum(header);
            member(header, entries);
        }
        if (entries.empty()) fail("is no tar archive: it is empty");
        return entries;  // old archives simply end
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { throw FileError(text("'", archive_.name(), "' ", what)); }

    static std::string_view field(std::string_view header, std::size_t at, std::size_t size) {
        std::string_view whole = header.substr(at, size);
        return whole.substr(0, whole.find('\0'));
    }

    /// Octal digits, or GNU's big-endian binary, marked by its first bit.
    std::uint64_t number(std::string_view digits) const {
        std::uint64_t value = 0;
        if (static_cast<unsigned char>(digits[0]) & 0x80) {
            for (char c : digits.substr(digits.size() - 8)) value = value << 8 | static_cast<unsigned char>(c);
            return value;
        }
        for (char c : digits) {
            if (c >= '0' && c <= '7')
                value = value << 3 | static_cast<unsigned>(c - '0');
            else if (c != ' ' && c != '\0')
                fail(text("is no tar archive, or damaged: the header at byte ", at_, " has no proper number"));
        }
        return value;
    }

    void check_sum(std::string_view header) const {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < tar_block; ++i)  // its own field counts as blanks
            sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
        if (sum != number(header.substr(148, 8)))
            fail(text("is no tar archive, or damaged: the header at byte ", at_, " has another sum than it says"));
    }

    void member(std::string_view header, std::vector<FileTree::Entry>& entries) {
        std::uint64_t size = number(header.substr(124, 12)), begin = at_ + tar_block;
        if (size > archive_.size() - begin)
            fail(text("is cut short: '", field(header, 0, 100), "' of ", size, " bytes begins at byte ", begin,
                      ", the file holds ", archive_.size()));
        at_ = begin + std::min((size + tar_block - 1) / tar_block * tar_block, archive_.size() - begin);
        char kind = header[156];
        if (kind == 'L') return void(long_name_ = content(begin, size));
        if (kind == 'x') return pax(content(begin, size));
        std::string name(field(header, 0, 100));
        if (header.substr(257, 6) == std::string_view("ustar\0", 6) && header[345])
            name = text(field(header, 345, 155), "/", name);
        if (long_name_) name = *long_name_;
        long_name_.reset();
        if (kind != '0' && kind != '\0') return;
        if (name.substr(0, 2) == "./") name.erase(0, 2);
        if (!name.empty() && name.back() != '/') entries.push_back({name, begin, size});
    }

    std::string content(std::uint64_t begin, std::uint64_t size) const {
        if (size > longest_tar_name) fail(text("is damaged: a name at byte ", begin, " of ", size, " bytes"));
        std::string bytes(size, '\0');
        archive_.read(bytes.data(), size, begin);
        return bytes.substr(0, bytes.find('\0'));
    }

    /// Lines "LENGTH KEY=VALUE\n"; of these only `path` matters.
    void pax(std::string_view records) {
        while (!records.empty()) {
            std::size_t length = 0, i = 0;
            for (; i < records.size() && records[i] >= '0' && records[i] <= '9' && length < longest_tar_name; ++i)
                length = length * 10 + static_cast<std::size_t>(records[i] - '0');
            if (length <= i + 1 || length > records.size()) fail(text("is damaged: a record before byte ", at_));
            std::string_view record = records.substr(i + 1, length - i - 2);
            if (record.substr(0, 5) == "path=") long_name_ = std::string(record.substr(5));
            records.remove_prefix(length);
        }
    }

    const InputFile& archive_;
    std::uint64_t at_ = 0;
    std::optional<std::string> long_name_;
};

}  // namespace

std::vector<FileTree::Entry> tar_entries(const InputFile& archive) { return TarReader(archive).read(); }

}  // namespace weft::io
