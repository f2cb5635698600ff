#include "weft/io/idx.h"

#include <cstring>

#include "weft/io/file.h"
#include "weft/io/gzip.h"
#include "weft/io/numbers.h"

namespace weft::io {
namespace {

struct Code {
    unsigned code;
    DType dtype;
};
constexpr Code codes[] = {{0x08, DType::uint8}, {0x09, DType::int8},    {0x0b, DType::int16},
                          {0x0c, DType::int32}, {0x0d, DType::float32}, {0x0e, DType::float64}};
constexpr std::size_t longest_idx_header = 4 + 4 * 255;

struct IdxHeader {
    DType dtype;
    Dims dims;
    std::uint64_t begin, bytes;  // of the numbers
};

[[noreturn]] void refuse(std::string_view name, const std::string& what) {
    throw FileError(text("'", name, "' ", what));
}

/// `begin`: the first bytes of the file; as many as the header has, or the whole file.
IdxHeader read_header(std::string_view begin, std::string_view name) {
    if (begin.size() < 4) refuse(name, text("is no IDX file: it holds ", begin.size(), " bytes"));
    if (begin[0] != 0 || begin[1] != 0) refuse(name, "is no IDX file: it does not begin with two zeros");
    IdxHeader header{};
    auto code = static_cast<unsigned char>(begin[2]);
    const Code* known = std::find_if(std::begin(codes), std::end(codes), [&](const Code& c) { return c.code == code; });
    if (known == std::end(codes))
        refuse(name, text("is no IDX file: it has no element type of code ", static_cast<int>(code)));
    header.dtype = known->dtype;
    std::size_t ndim = static_cast<unsigned char>(begin[3]);
    header.begin = 4 + 4 * ndim;
    if (begin.size() < header.begin) refuse(name, text("is cut short within the sizes of its ", ndim, " axes"));
    for (std::size_t axis = 0; axis < ndim; ++axis) {
        header.dims.push_back(static_cast<std::int64_t>(read_big(begin.substr(4 + 4 * axis), 4)));
    }
    std::optional<std::uint64_t> bytes = bytes_of(header.dtype, header.dims);
    if (!bytes) refuse(name, text("is damaged: its header claims the shape ", header.dims));
    header.bytes = *bytes;
    return header;
}

void check_idx_length(const IdxHeader& header, std::uint64_t length, std::string_view name) {
    std::uint64_t wanted = header.begin + header.bytes;
    if (length == wanted) return;
    refuse(name, text(length < wanted ? "is cut short: " : "is too long: ", header.dtype, " of shape ", header.dims,
                      " need ", wanted, " bytes, the file holds ", length));
}

}  // namespace

std::string read_idx_bytes(const std::filesystem::path& path) {
    std::string bytes = read_file(path), name = path.string();
    if (!is_gzip(bytes)) {
        check_idx_length(read_header(bytes, name), bytes.size(), name);
        return bytes;
    }
    IdxHeader header = read_header(gunzip_begin(bytes, longest_idx_header, name), name);
    std::uint64_t wanted = header.begin + header.bytes;
    if (wanted > most_unfolded(bytes.size())) {
        refuse(name, text("is cut short or damaged: ", header.dtype, " of shape ", header.dims, " need ", wanted,
                          " bytes, and ", bytes.size(), " compressed ones cannot hold these"));
    }
    std::string unfolded = gunzip(bytes, wanted, name);
    check_idx_length(header, unfolded.size(), name);
    return unfolded;
}

Array parse_idx(std::string_view bytes, std::string_view name) {
    IdxHeader header = read_header(bytes, name);
    check_idx_length(header, bytes.size(), name);
    Array array = Array::empty(header.dtype, header.dims);
    if (header.bytes) std::memcpy(array.address(), bytes.data() + header.begin, header.bytes);
    to_native(array, std::endian::big);
    return array;
}

Array load_idx(const std::filesystem::path& path) { return parse_idx(read_idx_bytes(path), path.string()); }

void save_idx(const std::filesystem::path& path, const Array& array) {
    const Code* known =
        std::find_if(std::begin(codes), std::end(codes), [&](const Code& c) { return c.dtype == array.dtype; });
    if (known == std::end(codes)) throw DTypeError(text("save_idx: IDX has no ", array.dtype, "; convert it first"));
    if (array.ndim() > 255) throw ShapeError(text("save_idx: IDX has at most 255 axes, the array has ", array.ndim()));
    std::string header{'\0', '\0'};
    append_big(header, known->code, 1);
    append_big(header, array.ndim(), 1);
    for (std::int64_t size : array.dims) {
        if (size > UINT32_MAX)
            throw ShapeError(text("save_idx: a size of IDX has 32 bits, the array has ", array.dims));
        append_big(header, static_cast<std::uint64_t>(size), 4);
    }
    Array numbers = Array::empty(array.dtype, array.dims);
    copy_elements(array, numbers);
    to_native(numbers, std::endian::big);
    std::string_view pieces[] = {header, {static_cast<const char*>(numbers.address()), numbers.bytes()}};
    write_atomically(path, pieces);
}

}  // namespace weft::io
