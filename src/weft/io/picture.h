// Pictures from JPEG (libjpeg-turbo) and PNG (libpng) files, where the build has these libraries. Callers: data/, users.
#pragma once

#include <filesystem>
#include <string_view>

#include "weft/core/array.h"

namespace weft::io {

/// Bytes (channels, height, width) of 0 .. 255: one channel where the file is grey, else red, green, blue. What is transparent stands on
/// black, 16 bits become 8. By the file's first bytes, whatever its name. FileError if it is neither, is damaged or cut short, has more
/// than 2^28 pixels, or needs a library that this build lacks. `name` is for messages.
Array parse_picture(std::string_view bytes, std::string_view name);
Array load_picture(const std::filesystem::path& path);

/// Whether a file's name ends as a picture's that weft reads: .jpg, .jpeg, .png, in any case.
bool is_picture(std::string_view name);

}  // namespace weft::io
