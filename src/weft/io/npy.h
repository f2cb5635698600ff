// .npy, NumPy's file for one array (NEP 1; versions 1 to 3), read and written. Both byte orders and both memory orders
// are read; what is returned is row-major in the machine's order. Files of Python objects are refused: they hold code
// (a pickle). Callers: data/, users.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "weft/core/array.h"
#include "weft/io/file.h"

namespace weft::io {

/// FileError names the path and what is wrong.
Array load_npy(const std::filesystem::path& path);
Array parse_npy(std::string_view bytes, std::string_view name);
/// A file whose rows are read one at a time, from any thread.
class NpyRows {
  public:
    /// FileError if it is no .npy file of rows that lie one after another (column-major ones do not), or cut short.
    explicit NpyRows(const std::filesystem::path& path);
    DType dtype() const { return dtype_; }
    const Dims& dims() const { return dims_; }
    void read(std::int64_t row, void* to) const;

  private:
    InputFile file_;
    DType dtype_ = DType::float32;
    Dims dims_;
    std::uint64_t begin_ = 0, row_bytes_ = 0;
    bool swapped_ = false;
};

/// Little-endian, row-major. DTypeError for bfloat16, which NumPy does not have.
void save_npy(const std::filesystem::path& path, const Array& array);
std::string npy_header(const Array& array);

}  // namespace weft::io
