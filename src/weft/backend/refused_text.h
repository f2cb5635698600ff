// What becomes of a text that a device's compiler refuses: it goes to a file, for it may be long, and the message names the file.
// Callers: backend/opencl, backend/cuda.
#pragma once

#include <string>
#include <string_view>

#include "weft/base/error.h"

namespace weft {

/// Writes the text, and below it what the compiler said, to a file of the system's temporary folder named after the text's content.
/// The error to throw: "OpenCL device pthread refused a kernel that weft printed; its text is in <file>. ..."
CompileError refused_text(std::string_view who, std::string_view text, std::string_view said,
                          std::string_view extension);

}  // namespace weft
