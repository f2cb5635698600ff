#include "weft/io/mat.h"

#include "weft/base/error.h"
#include "weft/found.h"

#if WEFT_HAVE_MATIO
#include <matio.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "weft/base/nearest.h"
#include "weft/base/shared_library.h"
#include "weft/io/file.h"
#include "weft/io/gzip.h"
#include "weft/io/hdf5.h"
#include "weft/io/numbers.h"
#endif

namespace weft::io {

#if WEFT_HAVE_MATIO
namespace {

/// matio's functions, found in the library when the first file of its kind is opened: libhdf5 comes with it, and some 30 others.
struct Matio : LibraryFunctions {
#define WEFT_MATIO_FUNCTIONS(X) \
    X(Open) X(Close) X(GetVersion) X(Rewind) X(VarReadNextInfo) X(VarFree) X(VarReadInfo) X(VarReadDataAll)
#define WEFT_MATIO_MEMBER(name) decltype(&Mat_##name) name = nullptr;
    WEFT_MATIO_FUNCTIONS(WEFT_MATIO_MEMBER)
    Matio() : LibraryFunctions(WEFT_MATIO_FILE) {
#define WEFT_MATIO_FIND(name) lacks = lacks || !shared.find("Mat_" #name, name);
        WEFT_MATIO_FUNCTIONS(WEFT_MATIO_FIND)
    }
};
const Matio& matio() { return once_opened<Matio>(); }

using MatFile = std::unique_ptr<mat_t, int (*)(mat_t*)>;
using Variable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
    throw FileError(text("'", place, "' ", what));
}

/// Level 7.3 is HDF5 behind 512 bytes of MATLAB's own.
bool is_hdf5(const std::filesystem::path& path) {
    InputFile file(path);
    char head[8] = "";
    if (file.size() < 520) return false;
    file.read(head, 8, 512);
    return std::memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0;
}

/// Whatever has not the head of level 5 matio takes for level 4, which has none: it would ask for as much memory as four bytes of it say.
void check_head(const std::filesystem::path& path) {
    InputFile file(path);
    char head[4] = "";
    if (file.size() >= 128) file.read(head, 4, 124);
    bool little = head[1] == 1 && head[2] == 'I' && head[3] == 'M',
         big = head[0] == 1 && head[2] == 'M' && head[3] == 'I';
    if (!little && !big)
        refuse(path.string(), "is damaged, or no MATLAB file of level 5 (save -v6 and -v7 write these) or 7.3");
}

MatFile opened(const std::filesystem::path& path) {
    check_head(path);
    if (matio().lacks)
        refuse(path.string(),
               "is a MATLAB file, and the library that reads these, " WEFT_MATIO_FILE
               ", is not on this machine (Debian has it in libmatio-dev); install it, or write the arrays as "
               ".npz");
    MatFile file(matio().Open(path.c_str(), MAT_ACC_RDONLY), matio().Close);
    if (!file) refuse(path.string(), "is damaged, or no MATLAB file of level 5");
    if (matio().GetVersion(file.get()) == MAT_FT_MAT73)
        refuse(path.string(), "is damaged: it says to be HDF5 and is not");
    return file;
}

std::vector<std::string> names_in(mat_t* file) {
    std::vector<std::string> names;
    matio().Rewind(file);
    for (;;) {
        Variable one(matio().VarReadNextInfo(file), matio().VarFree);
        if (!one || names.size() > 100000) return names;
        if (one->name) names.emplace_back(one->name);
    }
}

DType dtype_of(const matvar_t& variable, const std::string& place) {
    switch (variable.isComplex ? MAT_C_EMPTY : variable.class_type) {
        case MAT_C_DOUBLE:
            return DType::float64;
        case MAT_C_SINGLE:
            return DType::float32;
        case MAT_C_INT8:
            return DType::int8;
        case MAT_C_UINT8:
            return variable.isLogical ? DType::bool_ : DType::uint8;
        case MAT_C_INT16:
            return DType::int16;
        case MAT_C_UINT16:
            return DType::uint16;
        case MAT_C_INT32:
            return DType::int32;
        case MAT_C_UINT32:
            return DType::uint32;
        case MAT_C_INT64:
            return DType::int64;
        case MAT_C_UINT64:
            return DType::uint64;
        default:
            break;
    }
    refuse(place, "is no array of real numbers; sparse and complex arrays, cells, structures and texts are not read");
}

Array row_major(const Array& turned) {
    Array array = turned;
    std::reverse(array.dims.begin(), array.dims.end());
    std::reverse(array.strides.begin(), array.strides.end());
    return contiguous(array);
}

}  // namespace

Array load_mat(const std::filesystem::path& path, const std::string& name) {
    // HDF5 sees MATLAB's columns as rows.
    if (is_hdf5(path)) return row_major(load_hdf5(path, "/" + name));
    MatFile file = opened(path);
    std::string place = text(path.string(), ":", name);
    Variable variable(matio().VarReadInfo(file.get(), name.c_str()), matio().VarFree);
    if (!variable) {
        std::vector<std::string> known = names_in(file.get());
        std::vector<std::string_view> names(known.begin(), known.end());
        refuse(path.string(), text("has no variable '", name, "', or is damaged", did_you_mean(name, names)));
    }
    DType dtype = dtype_of(*variable, place);
    if (variable->rank < 1 || variable->rank > 32 || !variable->dims) refuse(place, "is damaged: it has no sizes");
    Dims turned;
    for (int axis = variable->rank; axis-- > 0;) turned.push_back(static_cast<std::int64_t>(variable->dims[axis]));
    std::optional<std::uint64_t> bytes = bytes_of(dtype, turned);
    // Numbers may be stored in fewer bytes than their type has.
    if (!bytes || *bytes > 8 * most_unfolded(InputFile(path).size()))
        refuse(place, text("is damaged: ", dtype, " of shape ", turned, " is more than the file can hold"));
    bool read = matio().VarReadDataAll(file.get(), variable.get()) == 0;
    if (!read || (*bytes && !variable->data) || variable->nbytes < *bytes)
        refuse(place, "is damaged: its numbers cannot be read");
    Array array = Array::empty(dtype, turned);
    if (*bytes) std::memcpy(array.address(), variable->data, *bytes);
    repair_bools(array);
    return row_major(array);
}

std::vector<std::string> mat_names(const std::filesystem::path& path) {
    if (!is_hdf5(path)) return names_in(opened(path).get());
    std::vector<std::string> names = hdf5_names(path);
    for (std::string& name : names) name.erase(0, 1);
    return names;
}

#else

namespace {
[[noreturn]] void lacks_matio(const std::filesystem::path& path) {
    throw FileError(text("'", path.string(),
                         "' is a MATLAB file, and this build of weft was made without matio; build it with "
                         "libmatio-dev installed, or write the arrays as .npz"));
}
}  // namespace

Array load_mat(const std::filesystem::path& path, const std::string&) { lacks_matio(path); }
std::vector<std::string> mat_names(const std::filesystem::path& path) { lacks_matio(path); }

#endif

}  // namespace weft::io
