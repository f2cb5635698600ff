// WAV, sound as numbers (Multimedia Programming Interface and Data Specifications 1.0, IBM and Microsoft, 1991): PCM of 8, 16, 24 and
// 32 bits and IEEE floats of 32 and 64, also in the extensible form. Callers: data/, users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "weft/core/array.h"

namespace weft::io {

struct Sound {
    Array samples;          // float32 (channels, samples): integers over their greatest magnitude, so -1 .. 1
    std::int64_t rate = 0;  // samples a second
};

/// FileError if it is no WAV file, of a compressed kind, or cut short. `name` is for messages.
Sound parse_wav(std::string_view bytes, std::string_view name);
Sound load_wav(const std::filesystem::path& path);

}  // namespace weft::io
