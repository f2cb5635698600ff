#include "weft/io/hdf5.h"

#include "weft/base/error.h"
#include "weft/found.h"

#if WEFT_HAVE_HDF5
#include <algorithm>
#include <cstring>
#include <list>

#include "weft/base/nearest.h"
#include "weft/io/file.h"
#include "weft/io/gzip.h"
#include "weft/io/hdf5_library.h"
#include "weft/io/numbers.h"
#endif

namespace weft::io {

#if WEFT_HAVE_HDF5
namespace {

constexpr std::uint64_t most_kept = 64 << 20;  // bytes of unpacked chunks

/// What `shuffle` did to the bytes of elements of `width`, undone: all first bytes, all second ones, ...
std::string unshuffled(const std::string& bytes, std::size_t width) {
    std::string result = bytes;
    std::size_t count = bytes.size() / width;
    for (std::size_t byte = 0; byte < width; ++byte)
        for (std::size_t i = 0; i < count; ++i) result[i * width + byte] = bytes[byte * count + i];
    return result;
}

}  // namespace

struct Hdf5Rows::Opened {
    Opened(const std::filesystem::path& path, const std::string& name);
    ~Opened() {
        std::lock_guard lock(hdf5_lock());
        chunks.clear();
        values.reset(), file.reset();
    }
    void open(const std::string& name);
    void read_layout();
    void read_filters(hid_t plan);
    /// Rows first .. first + count - 1. Under hdf5_lock().
    void read_rows(std::int64_t first, std::int64_t count, void* to);
    void read_of_chunks(std::int64_t first, std::int64_t count, void* to);
    hsize_t stored_bytes(const std::vector<hsize_t>& offset) const;
    std::string unpacked(const std::vector<hsize_t>& offset);
    const std::string& chunk(const std::vector<hsize_t>& offset);
    void copy_overlap(const std::string& from, const std::vector<hsize_t>& offset, std::int64_t first,
                      std::int64_t count, std::byte* to) const;

    std::string path, place;  // place: for messages
    std::unique_ptr<Hdf5Handle> file, values;
    DType dtype = DType::float32;
    Dims dims;
    bool big_endian = false, shuffle = false, packed = false;
    std::uint64_t row_bytes = 0;
    std::vector<hsize_t> chunk_dims;  // empty: not in chunks
    std::uint64_t chunk_bytes = 0;
    std::string fill;  // a number of what was never written
    std::size_t filters = 0;
    std::list<std::pair<std::vector<hsize_t>, std::string>> chunks;  // the last ones, the newest first
};

Hdf5Rows::Opened::Opened(const std::filesystem::path& where, const std::string& name)
    : path(where.string()), place(text(where.string(), ":", name)) {
    std::lock_guard lock(hdf5_lock());
    file = std::make_unique<Hdf5Handle>(hdf5_file(where), hdf5().Fclose);
    open(name);
    read_layout();
    // A size that the file could not hold is a damaged one: memory is asked for only after this.
    std::uint64_t held = InputFile(where).size(), most = packed ? most_unfolded(held) : held;
    std::optional<std::uint64_t> bytes = bytes_of(dtype, dims);
    if (!bytes || (*bytes > most && chunk_dims.empty()) || (*bytes > 4 * most_unfolded(held)))
        damaged_hdf5(place, text(dtype, " of shape ", dims, " is more than its ", held, " bytes can hold"));
    row_bytes = dims[0] ? *bytes / static_cast<std::uint64_t>(dims[0]) : 0;
}

void Hdf5Rows::Opened::open(const std::string& name) {
    hid_t id = hdf5().Dopen2(*file, name.c_str(), H5P_DEFAULT);
    if (id < 0) {
        std::vector<std::string> known = hdf5_names_in(*file);
        std::vector<std::string_view> names(known.begin(), known.end());
        std::string slash = name.empty() || name[0] != '/' ? "/" + name : name;
        throw FileError(text("'", path, "' has no array '", name, "'", did_you_mean(slash, names)));
    }
    values = std::make_unique<Hdf5Handle>(id, hdf5().Dclose);
    Hdf5Handle type(hdf5().Dget_type(*values), hdf5().Tclose), space(hdf5().Dget_space(*values), hdf5().Sclose);
    if (type < 0 || space < 0) damaged_hdf5(place, "its type cannot be read");
    std::optional<DType> known = hdf5_dtype(type);
    if (!known)
        throw FileError(text("'", place,
                             "' holds no numbers that weft reads; these are bool, integers and floats of "
                             "2, 4 and 8 bytes"));
    dtype = *known;
    Hdf5Handle base(hdf5().Tget_class(type) == H5T_ENUM ? hdf5().Tget_super(type) : hdf5().Tcopy(type), hdf5().Tclose);
    big_endian = hdf5().Tget_order(base) == H5T_ORDER_BE;
    int ndim = hdf5().Sget_simple_extent_ndims(space);
    std::vector<hsize_t> sizes(static_cast<std::size_t>(std::clamp(ndim, 0, 64)));
    if (ndim < 1 || ndim > 32 || hdf5().Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
        throw FileError(text("'", place, "' has no rows: it is a single value, or nothing"));
    for (hsize_t size : sizes) {
        if (size > INT64_MAX / 2) damaged_hdf5(place, "a size is too large");
        dims.push_back(static_cast<std::int64_t>(size));
    }
}

void Hdf5Rows::Opened::read_layout() {
    Hdf5Handle plan(hdf5().Dget_create_plist(*values), hdf5().Pclose);
    if (plan < 0) damaged_hdf5(place, "its layout cannot be read");
    H5D_layout_t layout = hdf5().Pget_layout(plan);
    if (layout == H5D_VIRTUAL || hdf5().Pget_external_count(plan) > 0)
        throw FileError(text("'", place, "' lies in other files, which weft does not open; copy it into one"));
    if (layout != H5D_CHUNKED) return;
    chunk_dims.resize(dims.size());
    if (hdf5().Pget_chunk(plan, static_cast<int>(dims.size()), chunk_dims.data()) != static_cast<int>(dims.size()))
        damaged_hdf5(place, "its chunks have another number of axes");
    chunk_bytes = size_of(dtype);
    for (hsize_t size : chunk_dims) {
        if (size == 0 || __builtin_mul_overflow(chunk_bytes, size, &chunk_bytes) || chunk_bytes > (1ull << 32))
            damaged_hdf5(place, "its chunks have an impossible size");
    }
    fill.assign(size_of(dtype), '\0');
    H5D_fill_value_t kind = H5D_FILL_VALUE_DEFAULT;
    if (hdf5().Pfill_value_defined(plan, &kind) >= 0 && kind == H5D_FILL_VALUE_USER_DEFINED) {
        Hdf5Handle type(hdf5().Dget_type(*values), hdf5().Tclose);
        if (hdf5().Pget_fill_value(plan, type, fill.data()) < 0) damaged_hdf5(place, "its fill value cannot be read");
    }
    read_filters(plan);
}

void Hdf5Rows::Opened::read_filters(hid_t plan) {
    int count = hdf5().Pget_nfilters(plan);
    if (count < 0 || count > 32) damaged_hdf5(place, "its filters cannot be read");
    filters = static_cast<std::size_t>(count);
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0;
        std::size_t numbers = 0;
        char name[64] = "";
        H5Z_filter_t filter =
            hdf5().Pget_filter2(plan, static_cast<unsigned>(i), &flags, &numbers, nullptr, sizeof name, name, nullptr);
        bool first = i == 0;
        if (filter == H5Z_FILTER_SHUFFLE && first)
            shuffle = true;
        else if (filter == H5Z_FILTER_DEFLATE && !packed)
            packed = true;
        else
            throw FileError(text("'", place, "' is packed by the filter '", name, "' (", filter,
                                 "); weft unpacks gzip, alone or behind shuffle: write it so (compression=\"gzip\")"));
    }
}

/// As many bytes as H5Dread_chunk writes, which asks the index of chunks; H5Dget_chunk_storage_size does so for packed ones alone.
hsize_t Hdf5Rows::Opened::stored_bytes(const std::vector<hsize_t>& offset) const {
    hsize_t stored = 0;
#if H5_VERSION_GE(1, 10, 5)
    unsigned skipped = 0;
    haddr_t address = HADDR_UNDEF;
    if (hdf5().stored(*values, offset.data(), &skipped, &address, &stored) < 0)
        damaged_hdf5(place, "the index of its chunks cannot be read");
    return address == HADDR_UNDEF ? 0 : stored;
#else
    return hdf5().stored(*values, offset.data(), &stored) < 0 ? 0 : stored;
#endif
}

std::string Hdf5Rows::Opened::unpacked(const std::vector<hsize_t>& offset) {
    hsize_t stored = stored_bytes(offset);
    unsigned skipped = 0;
    if (stored == 0) {  // it was never written
        std::string bytes(chunk_bytes, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = fill[i % fill.size()];
        return bytes;
    }
    if (stored > 2 * chunk_bytes + 4096) damaged_hdf5(place, "a chunk is larger than it can be");
    std::string bytes(stored, '\0');
    if (hdf5().Dread_chunk(*values, H5P_DEFAULT, offset.data(), &skipped, bytes.data()) < 0)
        damaged_hdf5(place, "a chunk cannot be read");
    unsigned last = shuffle ? 1u : 0u;  // bits of filters that this chunk went without
    if (packed && !(skipped >> last & 1)) bytes = inflate_zlib(bytes, chunk_bytes, place);
    if (bytes.size() != chunk_bytes) damaged_hdf5(place, "a chunk has another size than the file says");
    return shuffle && !(skipped & 1) ? unshuffled(bytes, size_of(dtype)) : bytes;
}

const std::string& Hdf5Rows::Opened::chunk(const std::vector<hsize_t>& offset) {
    auto found = std::find_if(chunks.begin(), chunks.end(), [&](const auto& one) { return one.first == offset; });
    if (found == chunks.end()) {
        std::size_t keep = std::max<std::size_t>(1, most_kept / chunk_bytes);
        while (chunks.size() >= keep) chunks.pop_back();
        chunks.emplace_front(offset, unpacked(offset));
    } else {
        chunks.splice(chunks.begin(), chunks, found);
    }
    return chunks.front().second;
}

/// The part of a chunk that lies in rows first .. first + count - 1, to where it belongs in these.
void Hdf5Rows::Opened::copy_overlap(const std::string& from, const std::vector<hsize_t>& offset, std::int64_t first,
                                    std::int64_t count, std::byte* to) const {
    std::size_t ndim = dims.size(), width = size_of(dtype);
    std::vector<std::int64_t> begin(ndim), end(ndim), at;  // of the overlap, in the array
    for (std::size_t axis = 0; axis < ndim; ++axis) {
        auto chunk_begin = static_cast<std::int64_t>(offset[axis]);
        std::int64_t chunk_end = chunk_begin + static_cast<std::int64_t>(chunk_dims[axis]);
        begin[axis] = axis == 0 ? std::max(first, chunk_begin) : chunk_begin;
        end[axis] = std::min(axis == 0 ? first + count : dims[axis], chunk_end);
    }
    auto run = static_cast<std::size_t>(end.back() - begin.back()) * width;
    for (at = begin; at[0] < end[0];) {
        std::size_t inner = 0, outer = 0;
        for (std::size_t axis = 0; axis < ndim; ++axis) {
            inner = inner * chunk_dims[axis] + static_cast<std::size_t>(at[axis]) - offset[axis];
            outer = outer * static_cast<std::size_t>(axis ? dims[axis] : count) +
                    static_cast<std::size_t>(at[axis] - (axis ? 0 : first));
        }
        std::memcpy(to + outer * width, from.data() + inner * width, run);
        if (ndim == 1) break;
        std::size_t axis = ndim - 2;  // the next run: axes in front of the last count up
        while (++at[axis] == end[axis] && axis > 0) at[axis] = begin[axis], --axis;
    }
}

void Hdf5Rows::Opened::read_of_chunks(std::int64_t first, std::int64_t count, void* to) {
    std::vector<hsize_t> begin(dims.size(), 0), at;
    begin[0] = static_cast<hsize_t>(first) / chunk_dims[0] * chunk_dims[0];
    for (at = begin; at[0] < static_cast<hsize_t>(first + count);) {
        copy_overlap(chunk(at), at, first, count, static_cast<std::byte*>(to));
        std::size_t axis = dims.size() - 1;
        for (;; --axis) {
            at[axis] += chunk_dims[axis];
            if (axis == 0 || at[axis] < static_cast<hsize_t>(dims[axis])) break;
            at[axis] = 0;
        }
    }
}

void Hdf5Rows::Opened::read_rows(std::int64_t first, std::int64_t count, void* to) {
    if (count == 0 || row_bytes == 0) return;
    if (!chunk_dims.empty()) {
        read_of_chunks(first, count, to);
    } else {
        std::vector<hsize_t> start(dims.size(), 0), size(dims.begin(), dims.end());
        start[0] = static_cast<hsize_t>(first), size[0] = static_cast<hsize_t>(count);
        Hdf5Handle type(hdf5().Dget_type(*values), hdf5().Tclose), from(hdf5().Dget_space(*values), hdf5().Sclose),
            room(hdf5().Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), hdf5().Sclose);
        bool good = hdf5().Sselect_hyperslab(from, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) >= 0 &&
                    hdf5().Dread(*values, type, room, from, H5P_DEFAULT, to) >= 0;
        if (!good) damaged_hdf5(place, text("rows ", first, " to ", first + count - 1, " cannot be read"));
    }
    std::uint64_t bytes = row_bytes * static_cast<std::uint64_t>(count);
    if (big_endian != (std::endian::native == std::endian::big)) swap_bytes(to, bytes, size_of(dtype));
    if (dtype != DType::bool_) return;
    auto* truths = static_cast<unsigned char*>(to);
    std::transform(truths, truths + bytes, truths, [](unsigned char byte) { return byte != 0; });
}

Hdf5Rows::Hdf5Rows(const std::filesystem::path& path, const std::string& name)
    : opened_(std::make_unique<Opened>(path, name)) {}
Hdf5Rows::~Hdf5Rows() = default;
DType Hdf5Rows::dtype() const { return opened_->dtype; }
const Dims& Hdf5Rows::dims() const { return opened_->dims; }

void Hdf5Rows::read(std::int64_t row, void* to) const {
    std::lock_guard lock(hdf5_lock());
    opened_->read_rows(row, 1, to);
}

Array Hdf5Rows::whole() const {
    Array all = Array::empty(dtype(), dims());
    std::lock_guard lock(hdf5_lock());
    opened_->read_rows(0, dims()[0], all.address());
    return all;
}

std::vector<std::string> hdf5_names(const std::filesystem::path& path) {
    std::lock_guard lock(hdf5_lock());
    Hdf5Handle file(hdf5_file(path), hdf5().Fclose);
    return hdf5_names_in(file);
}

#else

struct Hdf5Rows::Opened {
    DType dtype = DType::float32;
    Dims dims;
};

namespace {
[[noreturn]] void lacks_hdf5(const std::filesystem::path& path) {
    throw FileError(text("'", path.string(),
                         "' is an HDF5 file, and this build of weft was made without HDF5; build it with libhdf5-dev "
                         "installed, or write the arrays as .npz"));
}
}  // namespace

Hdf5Rows::Hdf5Rows(const std::filesystem::path& path, const std::string&) { lacks_hdf5(path); }
Hdf5Rows::~Hdf5Rows() = default;
DType Hdf5Rows::dtype() const { return opened_->dtype; }
const Dims& Hdf5Rows::dims() const { return opened_->dims; }
void Hdf5Rows::read(std::int64_t, void*) const {}
Array Hdf5Rows::whole() const { return {}; }
std::vector<std::string> hdf5_names(const std::filesystem::path& path) { lacks_hdf5(path); }

#endif

Array load_hdf5(const std::filesystem::path& path, const std::string& name) { return Hdf5Rows(path, name).whole(); }

}  // namespace weft::io
