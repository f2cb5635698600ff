// Tables of numbers as text: comma-separated values (RFC 4180), with any delimiter. A row with too many or too few
// fields and a field that is no number are refused with line and column. Callers: data/, users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/array.h"

namespace weft::io {

enum class CsvHeader : std::uint8_t { guess, yes, no };  // guess: the first line is one if a field of it is no number

struct CsvOptions {
    char delimiter = ',';
    CsvHeader header = CsvHeader::guess;
    DType dtype = DType::float32;  // float32, float64 or int64
};

struct CsvTable {
    std::vector<std::string> names;  // of the columns; empty if there is no header
    Array values;                    // (rows, columns)
};

/// FileError("'name':line:column: ..."). Empty lines are skipped; "nan" and "inf" are numbers unless integers are
/// wanted.
CsvTable parse_csv(std::string_view text, std::string_view name, const CsvOptions& options = {});
CsvTable load_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace weft::io
