// libhdf5's functions, found in the library when the first file of its kind is opened: some 30 other libraries come with it, and most
// programs read no such file. Headers were there when weft was built (WEFT_HAVE_HDF5); the library need not be where it runs.
// Callers: io/hdf5.cpp.
#pragma once

#if __has_include(<hdf5/serial/hdf5.h>)
#include <hdf5/serial/hdf5.h>
#else
#include <hdf5.h>
#endif

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weft/core/dtype.h"

// The form of 1.8 and 1.10, which later versions still have under this name.
#if H5_VERSION_GE(1, 12, 0)
#define WEFT_HDF5_VISIT Ovisit1
#else
#define WEFT_HDF5_VISIT Ovisit
#endif
#if H5_VERSION_GE(1, 10, 5)
#define WEFT_HDF5_STORED Dget_chunk_info_by_coord
#else
#define WEFT_HDF5_STORED Dget_chunk_storage_size
#endif

#define WEFT_HDF5_FUNCTIONS(X)  \
    X(Eset_auto2)               \
    X(Fopen)                    \
    X(Fclose)                   \
    X(Dopen2)                   \
    X(Dclose)                   \
    X(Dget_type)                \
    X(Dget_space)               \
    X(Dget_create_plist)        \
    X(Dread)                    \
    X(Dread_chunk)              \
    X(Tclose)                   \
    X(Tcopy)                    \
    X(Tget_class)               \
    X(Tget_size)                \
    X(Tget_sign)                \
    X(Tget_order)               \
    X(Tget_offset)              \
    X(Tget_precision)           \
    X(Tget_fields)              \
    X(Tget_ebias)               \
    X(Tget_nmembers)            \
    X(Tget_super)               \
    X(Sclose)                   \
    X(Screate_simple)           \
    X(Sselect_hyperslab)        \
    X(Sget_simple_extent_ndims) \
    X(Sget_simple_extent_dims)  \
    X(Pclose)                   \
    X(Pget_layout)              \
    X(Pget_external_count)      \
    X(Pget_chunk)               \
    X(Pget_nfilters)            \
    X(Pget_filter2)             \
    X(Pget_fill_value)          \
    X(Pfill_value_defined)

namespace weft::io {

/// H5Fopen is hdf5().Fopen.
struct Hdf5Library {
#define WEFT_HDF5_MEMBER(name) decltype(&H5##name) name = nullptr;
    WEFT_HDF5_FUNCTIONS(WEFT_HDF5_MEMBER)
#undef WEFT_HDF5_MEMBER
#define WEFT_HDF5_PASTE(name) decltype(&H5##name)
#define WEFT_HDF5_TYPE(name) WEFT_HDF5_PASTE(name)
    WEFT_HDF5_TYPE(WEFT_HDF5_VISIT) visit = nullptr;
    WEFT_HDF5_TYPE(WEFT_HDF5_STORED) stored = nullptr;
#undef WEFT_HDF5_TYPE
#undef WEFT_HDF5_PASTE
};

/// Once hdf5_file() has given a file.
const Hdf5Library& hdf5();

/// The library is not built for threads: who calls it holds this.
std::mutex& hdf5_lock();

/// A thing of the library's, given back at the end. Whoever makes one holds hdf5_lock().
class Hdf5Handle {
  public:
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Hdf5Handle() {
        if (id_ >= 0) close_(id_);
    }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    operator hid_t() const { return id_; }

  private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

[[noreturn]] void damaged_hdf5(const std::string& file, const std::string& what);

/// The file, open. FileError if it is none, or if the library is not on this machine: names the file and the package.
hid_t hdf5_file(const std::filesystem::path& path);
/// Paths of its arrays.
std::vector<std::string> hdf5_names_in(hid_t file);
/// Nothing for what weft has no type for. Truth values are what h5py writes for them: an enumeration in one byte.
std::optional<DType> hdf5_dtype(hid_t type);

}  // namespace weft::io
