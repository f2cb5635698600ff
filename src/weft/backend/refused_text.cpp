#include "weft/backend/refused_text.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iomanip>

#include "weft/base/hash.h"

namespace weft {

CompileError refused_text(std::string_view who, std::string_view refused, std::string_view said,
                          std::string_view extension) {
    namespace fs = std::filesystem;
    Hasher hasher;
    hasher.add(refused);
    std::ostringstream name;
    name << "weft-refused-" << std::hex << std::setfill('0') << std::setw(16) << hasher.result().high << extension;
    std::error_code error;
    fs::path folder = fs::temp_directory_path(error), path = folder / name.str(),
             fresh = folder / text(name.str(), ".", ::getpid());
    std::ofstream file(fresh);
    file << refused << "\n/* The compiler said:\n" << said << "\n*/\n";
    file.close();
    if (file) fs::rename(fresh, path, error);
    std::string where = file && !error ? text("its text and the compiler's words are in ", path.string())
                                       : text("and its text could not be written to ", path.string());
    return CompileError(text(who, " refused a kernel that weft printed; ", where,
                             ". Run this on the CPU, and please report it with that file."));
}

}  // namespace weft
