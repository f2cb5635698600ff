#include "weft/io/safetensors.h"

#include <algorithm>
#include <cstring>

#include "weft/base/json.h"
#include "weft/io/file.h"
#include "weft/io/numbers.h"

namespace weft::io {
namespace {

constexpr std::string_view metadata_key = "__metadata__";

/// The format's name of an element type; empty if it has none.
std::string code_of(DType dtype) {
    if (dtype == DType::bool_) return "BOOL";
    if (dtype == DType::bfloat16) return "BF16";
    if (dtype == DType::complex128) return "";
    const char* letters[] = {"B", "I", "U", "F", "C"};  // in the order of Kind
    return text(letters[static_cast<int>(kind_of(dtype))], 8 * size_of(dtype));
}

struct Entry {
    std::string name;
    DType dtype = DType::float32;
    Dims dims;
    std::uint64_t begin = 0, end = 0;  // bytes, from where the numbers begin
};

/// Reads and checks the header; what is wrong with the file is said here, once.
class Header {
  public:
    Header(const InputFile& file, std::uint64_t limit) : file_(file) {
        if (file.size() < 8) fail(text("it holds ", file.size(), " bytes, the length of its header alone takes 8"));
        char bytes[8];
        file.read(bytes, 8, 0);
        std::uint64_t length = read_little({bytes, 8}, 8);
        if (length > file.size() - 8)
            fail(text("its header claims ", length, " bytes, the file holds ", file.size() - 8, " after it"));
        if (length > limit)
            fail(text("its header claims ", length, " bytes, more than the ", limit, " that are allowed"));
        std::string json(length, '\0');
        file.read(json.data(), length, 8);
        start_ = 8 + length;
        Json header = parse_json(json, text("'", file.name(), "': header"), {.depth = 4});
        if (!header.is_object()) fail("its header is no JSON object");
        for (const Json::Member& member : header.members()) {
            if (member.key == metadata_key)
                read_metadata(member.value);
            else
                entries.push_back(entry(member));
        }
        check_places();
    }

    std::uint64_t start() const { return start_; }
    std::vector<Entry> entries;
    std::map<std::string, std::string, std::less<>> metadata;

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw FileError(text("'", file_.name(), "' is no sound safetensors file: ", what));
    }

    void read_metadata(const Json& value) {
        if (!value.is_object()) fail("its metadata are no JSON object");
        for (const Json::Member& member : value.members()) {
            if (!member.value.is_string()) fail(text("its metadata '", member.key, "' are no string"));
            metadata[member.key] = member.value.as_string();
        }
    }

    const Json& field(const Json::Member& of, std::string_view key, Json::Kind kind) const {
        const Json* value = of.value.find(key);
        if (!value || value->kind() != kind) fail(text("array '", of.key, "' has no proper ", key));
        return *value;
    }
    std::uint64_t natural(const Json::Member& of, const Json& value) const {
        if (!value.is_integer() || value.as_integer() < 0)
            fail(text("array '", of.key, "' has a size or place that is no natural number"));
        return static_cast<std::uint64_t>(value.as_integer());
    }

    Entry entry(const Json::Member& member) const {
        Entry entry;
        entry.name = member.key;
        const std::string& code = field(member, "dtype", Json::Kind::string).as_string();
        auto known = std::find_if(all_dtypes().begin(), all_dtypes().end(),
                                  [&](DType d) { return code_of(d) == code && !code.empty(); });
        if (known == all_dtypes().end())
            fail(text("array '", member.key, "' has elements of type '", code, "', which weft does not have"));
        entry.dtype = *known;
        for (const Json& size : field(member, "shape", Json::Kind::array).items()) {
            entry.dims.push_back(static_cast<std::int64_t>(natural(member, size)));
        }
        const Json& offsets = field(member, "data_offsets", Json::Kind::array);
        if (offsets.size() != 2 || member.value.size() != 3)
            fail(text("array '", member.key, "' has other fields than the format's three"));
        entry.begin = natural(member, offsets.item(0));
        entry.end = natural(member, offsets.item(1));
        std::optional<std::uint64_t> wanted = bytes_of(entry.dtype, entry.dims);
        if (!wanted || entry.end < entry.begin || entry.end - entry.begin != *wanted) {
            fail(text("array '", member.key, "', ", entry.dtype, " of shape ", entry.dims, ", does not fill bytes ",
                      entry.begin, " to ", entry.end));
        }
        return entry;
    }

    void check_places() {
        std::sort(entries.begin(), entries.end(),
                  [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
        std::uint64_t at = 0, held = file_.size() - start_;
        for (const Entry& entry : entries) {
            if (entry.begin != at) {
                fail(text("array '", entry.name, "' begins at byte ", entry.begin,
                          entry.begin < at ? ", inside" : ", beyond the end of", " the array before it, which ends at ",
                          at));
            }
            if (entry.end > held)
                fail(text("it is cut short: array '", entry.name, "' ends at byte ", entry.end, " of ", held));
            at = entry.end;
        }
        if (at != held) fail(text(held - at, " bytes follow the last array"));
    }

    const InputFile& file_;
    std::uint64_t start_ = 0;
};

/// The array where it lies in the mapped file; nothing if it does not lie as its elements must.
std::optional<Array> mapped(const Entry& entry, const BufferHandle& memory, std::uint64_t start) {
    std::uint64_t offset = start + entry.begin, width = size_of(entry.dtype);
    bool aligned = offset % width == 0 && std::endian::native == std::endian::little;
    if (!aligned || entry.dtype == DType::bool_) return std::nullopt;
    return Array{entry.dtype, entry.dims, contiguous_strides(entry.dims), static_cast<std::int64_t>(offset / width),
                 memory};
}

Array read(const Entry& entry, const InputFile& file, std::uint64_t start) {
    Array array = Array::empty(entry.dtype, entry.dims);
    file.read(array.address(), entry.end - entry.begin, start + entry.begin);
    to_native(array, std::endian::little);
    repair_bools(array);
    return array;
}

/// In the order in which they lie in the file: wide elements first, so that each array is aligned; then by name.
std::vector<std::pair<std::string, Array>> ordered(const NamedArrays& contents) {
    std::vector<std::pair<std::string, Array>> list;
    for (const auto& [name, array] : contents.arrays) {
        if (code_of(array.dtype).empty()) {
            throw DTypeError(text("save_safetensors: array '", name, "' is ", array.dtype,
                                  ", which the format does not have; save real and "
                                  "imaginary parts"));
        }
        if (name == metadata_key)
            throw ValueError(text("save_safetensors: no array can be named '", metadata_key, "'"));
        list.emplace_back(name, contiguous(array));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return size_of(a.second.dtype) > size_of(b.second.dtype); });
    return list;
}

std::string header_of(const NamedArrays& contents, const std::vector<std::pair<std::string, Array>>& list) {
    std::vector<Json::Member> members;
    if (!contents.metadata.empty()) {
        std::vector<Json::Member> texts;
        for (const auto& [key, value] : contents.metadata) texts.push_back({key, Json(value), {}});
        members.push_back({std::string(metadata_key), Json::object(std::move(texts)), {}});
    }
    std::uint64_t at = 0;
    for (const auto& [name, array] : list) {
        Json entry = Json::object(), shape = Json::array();
        for (std::int64_t size : array.dims) shape.push_back(size);
        entry["dtype"] = code_of(array.dtype);
        entry["shape"] = std::move(shape);
        entry["data_offsets"] = Json::array({at, at + array.bytes()});
        at += array.bytes();
        members.push_back({name, std::move(entry), {}});
    }
    std::string json = json_text(Json::object(std::move(members)));
    json.resize((json.size() + 8 + 63) / 64 * 64 - 8, ' ');  // the numbers begin aligned
    std::string header;
    append_little(header, json.size(), 8);
    return header + json;
}

}  // namespace

std::map<std::string, ArrayForm, std::less<>> list_safetensors(const std::filesystem::path& path,
                                                               const SafetensorsOptions& options) {
    InputFile file(path);
    Header header(file, options.header_limit);
    std::map<std::string, ArrayForm, std::less<>> forms;
    for (const Entry& entry : header.entries) forms[entry.name] = {entry.dtype, entry.dims};
    return forms;
}

NamedArrays load_safetensors(const std::filesystem::path& path, const SafetensorsOptions& options) {
    InputFile file(path);
    Header header(file, options.header_limit);
    BufferHandle memory = options.map ? file.map() : nullptr;
    NamedArrays contents{{}, std::move(header.metadata)};
    for (const Entry& entry : header.entries) {
        std::optional<Array> array = memory ? mapped(entry, memory, header.start()) : std::nullopt;
        contents.arrays.emplace(entry.name, array ? *array : read(entry, file, header.start()));
    }
    return contents;
}

void save_safetensors(const std::filesystem::path& path, const NamedArrays& contents) {
    std::vector<std::pair<std::string, Array>> list = ordered(contents);
    std::string header = header_of(contents, list);
    std::vector<std::string_view> pieces{header};
    for (auto& [name, array] : list) {
        if (std::endian::native != std::endian::little) {
            Array numbers = Array::empty(array.dtype, array.dims);
            copy_elements(array, numbers);
            swap_bytes(numbers.address(), numbers.bytes(), size_of(real_of(array.dtype)));
            array = numbers;
        }
        pieces.emplace_back(static_cast<const char*>(array.address()), array.bytes());
    }
    write_atomically(path, pieces);
}

}  // namespace weft::io
