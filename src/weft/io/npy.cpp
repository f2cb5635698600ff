#include "weft/io/npy.h"

#include <charconv>
#include <cstring>
#include <map>

#include "weft/io/file.h"
#include "weft/io/numbers.h"

namespace weft::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_npy_header = 1 << 16;

/// NumPy's letter for a kind of number; the width in bytes follows it.
char letter_of(DType dtype) {
    if (dtype == DType::bool_) return 'b';
    switch (kind_of(dtype)) {
        case Kind::boolean:
            return 'b';
        case Kind::signed_integer:
            return 'i';
        case Kind::unsigned_integer:
            return 'u';
        case Kind::floating:
            return 'f';
        case Kind::complex:
            return 'c';
    }
    __builtin_unreachable();
}

struct NpyHeader {
    DType dtype = DType::float32;
    std::endian order = std::endian::little;
    bool fortran = false;
    Dims dims;
};

/// The header is a Python dictionary, as repr() prints it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
  public:
    HeaderReader(std::string_view rest, std::string_view name) : rest_(rest), name_(name) {}

    NpyHeader read() {
        std::map<std::string, bool> seen;
        take('{');
        while (!next_is('}')) {
            std::string key = quoted();
            if (std::exchange(seen[key], true)) fail(text("the key '", key, "' stands there twice"));
            take(':');
            member(key);
            if (!next_is('}')) take(',');
        }
        take('}');
        skip_space();
        if (!rest_.empty()) fail("something follows the dictionary");
        for (const char* key : {"descr", "fortran_order", "shape"}) {
            if (!seen.count(key)) fail(text("the key '", key, "' is missing"));
        }
        return header_;
    }

  private:
    [[noreturn]] void fail(const std::string& what) {
        throw FileError(text("'", name_, "' is no .npy file that weft reads: ", what));
    }
    void skip_space() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
    }
    bool next_is(char c) {
        skip_space();
        return !rest_.empty() && rest_[0] == c;
    }
    void take(char c) {
        if (!next_is(c)) fail(text("its header lacks a '", c, "'"));
        rest_.remove_prefix(1);
    }
    std::string quoted() {
        char quote = next_is('"') ? '"' : '\'';
        take(quote);
        std::size_t end = rest_.find(quote);
        if (end == std::string_view::npos) fail("its header has a string without end");
        std::string word(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return word;
    }
    void member(const std::string& key) {
        if (key == "descr") return element_type();
        if (key == "shape") return shape();
        if (key != "fortran_order") fail("its header has an unknown key");
        skip_space();
        header_.fortran = rest_.substr(0, 4) == "True";
        if (!header_.fortran && rest_.substr(0, 5) != "False") fail("fortran_order is neither True nor False");
        rest_.remove_prefix(header_.fortran ? 4 : 5);
    }
    void element_type() {
        if (next_is('[')) fail("it holds records (several fields an element); save each field as an array of its own");
        std::string descr = quoted();
        std::string_view type = descr;
        if (type.find('O') != std::string_view::npos) {
            fail(
                "it holds Python objects, a pickle, and loading one runs code; convert to an array of numbers and save "
                "that");
        }
        char order = type.empty() ? '\0' : type[0];
        if (order == '<' || order == '>' || order == '|' || order == '=') type.remove_prefix(1);
        header_.order = order == '>' ? std::endian::big : order == '=' ? std::endian::native : std::endian::little;
        for (DType dtype : all_dtypes()) {
            if (dtype == DType::bfloat16 || type != text(letter_of(dtype), size_of(dtype))) continue;
            header_.dtype = dtype;
            return;
        }
        fail(text("its elements are of type '", descr,
                  "'; weft reads bool, integers, floats and complex numbers of at most 8 bytes a part"));
    }
    void shape() {
        take('(');
        while (!next_is(')')) {
            std::int64_t size = 0;
            auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
            if (error != std::errc() || size < 0) fail("its header has a shape of something else than sizes");
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            header_.dims.push_back(size);
            if (!next_is(')')) take(',');
        }
        take(')');
    }

    std::string_view rest_, name_;
    NpyHeader header_;
};

/// Where header and numbers begin.
std::pair<std::size_t, std::size_t> sections(std::string_view bytes, std::string_view name) {
    auto refuse = [&](const auto&... what) { throw FileError(text("'", name, "' ", what...)); };
    if (bytes.substr(0, magic.size()) != magic) refuse("is no .npy file: it does not begin with \\x93NUMPY");
    if (bytes.size() < 12) refuse("is cut short within its header");
    auto version = static_cast<unsigned char>(bytes[6]);
    if (version < 1 || version > 3)
        refuse("is a .npy file of version ", static_cast<int>(version), "; weft reads 1 to 3");
    std::size_t begin = version == 1 ? 10 : 12;
    std::size_t length = read_little(bytes.substr(8), version == 1 ? 2 : 4);
    if (length > longest_npy_header) refuse("is no .npy file that weft reads: its header claims ", length, " bytes");
    if (bytes.size() < begin + length) refuse("is cut short within its header");
    return {begin, begin + length};
}

void check_npy_length(const NpyHeader& header, std::uint64_t held, std::string_view name) {
    std::optional<std::uint64_t> wanted = bytes_of(header.dtype, header.dims);
    if (wanted == held) return;
    throw FileError(text("'", name, "' ", !wanted || held < *wanted ? "is cut short: " : "is too long: ", header.dtype,
                         " of shape ", header.dims, " do not fill ", held, " bytes exactly"));
}

}  // namespace

Array parse_npy(std::string_view bytes, std::string_view name) {
    auto [begin, numbers] = sections(bytes, name);
    NpyHeader header = HeaderReader(bytes.substr(begin, numbers - begin), name).read();
    check_npy_length(header, bytes.size() - numbers, name);
    Dims dims = header.dims;
    if (header.fortran) std::reverse(dims.begin(), dims.end());
    Array array = Array::empty(header.dtype, dims);
    if (array.bytes()) std::memcpy(array.address(), bytes.data() + numbers, array.bytes());
    to_native(array, header.order);
    repair_bools(array);
    if (!header.fortran) return array;
    std::reverse(array.dims.begin(), array.dims.end());
    std::reverse(array.strides.begin(), array.strides.end());
    return contiguous(array);
}

Array load_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

NpyRows::NpyRows(const std::filesystem::path& path) : file_(path) {
    std::string begin(std::min<std::uint64_t>(file_.size(), longest_npy_header + 12), '\0');
    file_.read(begin.data(), begin.size(), 0);
    auto [at, numbers] = sections(begin, file_.name());
    NpyHeader header = HeaderReader(std::string_view(begin).substr(at, numbers - at), file_.name()).read();
    check_npy_length(header, file_.size() - numbers, file_.name());
    if (header.dims.empty() || (header.fortran && header.dims.size() > 1))
        throw FileError(text("'", file_.name(), "' has no rows that lie one after another (",
                             header.fortran ? "it is column-major" : "it is one number",
                             "); save it row-major, or read it whole"));
    dtype_ = header.dtype, dims_ = header.dims, begin_ = numbers, swapped_ = header.order != std::endian::native;
    row_bytes_ = dims_[0] ? *bytes_of(dtype_, dims_) / static_cast<std::uint64_t>(dims_[0]) : 0;
}

void NpyRows::read(std::int64_t row, void* to) const {
    file_.read(to, row_bytes_, begin_ + static_cast<std::uint64_t>(row) * row_bytes_);
    if (swapped_) swap_bytes(to, row_bytes_, size_of(real_of(dtype_)));
    if (dtype_ != DType::bool_) return;
    auto* truths = static_cast<unsigned char*>(to);  // in a file any but 0 means true
    std::transform(truths, truths + row_bytes_, truths, [](unsigned char byte) { return byte != 0; });
}

std::string npy_header(const Array& array) {
    if (array.dtype == DType::bfloat16) throw DTypeError("save_npy: NumPy has no bfloat16; convert to float32 first");
    bool one_byte = size_of(array.dtype) == 1;
    std::string dictionary = text("{'descr': '", one_byte ? '|' : '<', letter_of(array.dtype), size_of(array.dtype),
                                  "', 'fortran_order': False, 'shape': ", array.dims, ", }");
    bool is_long = dictionary.size() > 60000;
    std::size_t before = magic.size() + (is_long ? 6 : 4);
    while ((before + dictionary.size() + 1) % 64 != 0) dictionary.push_back(' ');  // NEP 1: the numbers begin aligned
    dictionary.push_back('\n');
    std::string header(magic);
    append_little(header, is_long ? 2 : 1, 1);
    append_little(header, 0, 1);
    append_little(header, dictionary.size(), is_long ? 4 : 2);
    return header + dictionary;
}

void save_npy(const std::filesystem::path& path, const Array& array) {
    std::string header = npy_header(array);
    Array numbers = contiguous(array);
    if (std::endian::native != std::endian::little) {
        numbers = Array::empty(array.dtype, array.dims);
        copy_elements(array, numbers);
        to_native(numbers, std::endian::little);
    }
    std::string_view pieces[] = {header, {static_cast<const char*>(numbers.address()), numbers.bytes()}};
    write_atomically(path, pieces);
}

}  // namespace weft::io
