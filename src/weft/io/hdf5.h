// HDF5 files: arrays of numbers by their paths, whole or a row at a time (libhdf5; The HDF Group). Contiguous and compact data are the
// library's to read. Of chunks, packed (gzip, shuffle) or not, the library gives the bytes as they lie and weft unpacks them: libhdf5 takes a
// chunk of another size than the file says for one of the right size, and reads past its end. Its calls are made one at a time: it is not
// built for threads. Without the library every call is a FileError that names the package. Callers: data/, cli/.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/core/array.h"

namespace weft::io {

class Hdf5File;

/// One array of a file, whose rows are read one at a time, from any thread; chunks that were unpacked last are kept.
class Hdf5Rows {
  public:
    /// FileError names the file, what is wrong with it, or the nearest array if it has none at this path.
    Hdf5Rows(const std::filesystem::path& path, const std::string& name);
    ~Hdf5Rows();
    Hdf5Rows(const Hdf5Rows&) = delete;
    Hdf5Rows& operator=(const Hdf5Rows&) = delete;
    DType dtype() const;
    const Dims& dims() const;
    /// Row `row` of the first axis.
    void read(std::int64_t row, void* to) const;
    Array whole() const;

  private:
    struct Opened;
    std::unique_ptr<Opened> opened_;
};

Array load_hdf5(const std::filesystem::path& path, const std::string& name);
/// Paths of the arrays in a file: "/train/images".
std::vector<std::string> hdf5_names(const std::filesystem::path& path);

}  // namespace weft::io
