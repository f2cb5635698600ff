#include "weft/found.h"

#if WEFT_HAVE_HDF5
#include "weft/base/error.h"
#include "weft/base/shared_library.h"
#include "weft/io/file.h"
#include "weft/io/hdf5_library.h"

namespace weft::io {
namespace {

struct OpenedHdf5 : LibraryFunctions {
    OpenedHdf5() : LibraryFunctions(WEFT_HDF5_FILE) {
        if (!shared.open()) return;
            // Some names are macros for others: these are what the library has.
#define WEFT_HDF5_TEXT(name) #name
#define WEFT_HDF5_NAME(name) WEFT_HDF5_TEXT(name)
#define WEFT_HDF5_FIND(name) lacks = lacks || !shared.find(WEFT_HDF5_NAME(H5##name), functions.name);
        WEFT_HDF5_FUNCTIONS(WEFT_HDF5_FIND)
#define WEFT_HDF5_PASTE(name) WEFT_HDF5_NAME(H5##name)
#define WEFT_HDF5_SYMBOL(name) WEFT_HDF5_PASTE(name)
        lacks = lacks || !shared.find(WEFT_HDF5_SYMBOL(WEFT_HDF5_VISIT), functions.visit);
        lacks = lacks || !shared.find(WEFT_HDF5_SYMBOL(WEFT_HDF5_STORED), functions.stored);
    }
    Hdf5Library functions;
};
const OpenedHdf5& opened_hdf5() { return once_opened<OpenedHdf5>(); }

bool is_ieee(hid_t type, std::size_t bits, std::size_t exponent_wanted) {
    std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0,
                own = bits - 1 - exponent_wanted;
    return hdf5().Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
           sign == bits - 1 && exponent == own && exponent_bits == exponent_wanted && mantissa == 0 &&
           mantissa_bits == own && hdf5().Tget_ebias(type) == (std::size_t{1} << (exponent_wanted - 1)) - 1 &&
           (hdf5().Tget_order(type) == H5T_ORDER_LE || hdf5().Tget_order(type) == H5T_ORDER_BE);
}

}  // namespace

const Hdf5Library& hdf5() { return opened_hdf5().functions; }

std::mutex& hdf5_lock() {
    static std::mutex one;
    return one;
}

void damaged_hdf5(const std::string& file, const std::string& what) {
    throw FileError(text("'", file, "' is damaged, or no HDF5 file that weft reads: ", what));
}

hid_t hdf5_file(const std::filesystem::path& path) {
    (void)InputFile(path);  // says what is wrong with a path that is no file
    if (const OpenedHdf5& opened = opened_hdf5(); opened.lacks)
        throw FileError(text("'", path.string(), "' is an HDF5 file, and the library that reads these, " WEFT_HDF5_FILE,
                             opened.shared.open() ? ", is another version" : ", is not on this machine",
                             " (Debian has it in libhdf5-dev); install it, or write the arrays as .npz"));
    // Its own reports go nowhere: what is wrong is said by who asked.
    hdf5().Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    constexpr unsigned to_read = 0;  // H5F_ACC_RDONLY, a macro that calls the library by name
    hid_t file = hdf5().Fopen(path.c_str(), to_read, H5P_DEFAULT);
    if (file < 0) damaged_hdf5(path.string(), "libhdf5 cannot open it");
    return file;
}

std::vector<std::string> hdf5_names_in(hid_t file) {
#if H5_VERSION_GE(1, 12, 0)
    using Info = H5O_info1_t;
#else
    using Info = H5O_info_t;
#endif
    std::vector<std::string> names;
    auto visit = [](hid_t, const char* name, const Info* info, void* to) -> herr_t {
        auto& all = *static_cast<std::vector<std::string>*>(to);
        try {
            if (info->type == H5O_TYPE_DATASET) all.push_back(std::string("/") + name);
        } catch (...) {
            return -1;
        }
        return all.size() > 100000 ? -1 : 0;
    };
    hdf5().visit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names);
    return names;
}

std::optional<DType> hdf5_dtype(hid_t type) {
    std::size_t size = hdf5().Tget_size(type);
    switch (hdf5().Tget_class(type)) {
        case H5T_ENUM:
            return size == 1 && hdf5().Tget_nmembers(type) == 2 ? std::optional(DType::bool_) : std::nullopt;
        case H5T_FLOAT:
            if (size == 2 && is_ieee(type, 16, 5)) return DType::float16;
            if (size == 4 && is_ieee(type, 32, 8)) return DType::float32;
            if (size == 8 && is_ieee(type, 64, 11)) return DType::float64;
            return std::nullopt;
        case H5T_INTEGER: {
            if (hdf5().Tget_precision(type) != 8 * size || hdf5().Tget_offset(type) != 0) return std::nullopt;
            bool negative = hdf5().Tget_sign(type) == H5T_SGN_2;
            for (DType dtype : all_dtypes())
                if (is_integer(dtype) && dtype != DType::bool_ && size_of(dtype) == size &&
                    (kind_of(dtype) == Kind::signed_integer) == negative)
                    return dtype;
            return std::nullopt;
        }
        default:
            return std::nullopt;
    }
}

}  // namespace weft::io
#endif
