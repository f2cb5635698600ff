// What a model made up, as a file that people look at, or programs read. Callers: cli/sample.cpp, the Python package.
#pragma once

#include <filesystem>

#include "weft/core/array.h"

namespace weft::look {

/// samples (count, ...), float32: .npy holds the numbers, .png is one picture of all, `columns` side by side. ConfigError if the name ends
/// otherwise, or a .png is wanted of what is no picture.
void write_samples(const std::filesystem::path& file, const Array& samples, std::int64_t columns = 10);
/// ConfigError unless a file of this name can hold samples; before these are drawn.
void check_samples_name(const std::filesystem::path& file);

}  // namespace weft::look
