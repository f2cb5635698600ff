// Texts for models that say what comes next: characters or words as numbers, in windows. Callers: data/registry.cpp, users.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "weft/data/dataset.h"

namespace weft::data {

struct TextOptions {
    bool words = false;        // separated by white space, which is left out; else characters (code points of UTF-8)
    std::int64_t length = 64;  // symbols of an example
    std::array<double, 3> parts = {0.9, 0.05, 0.05};  // of the symbols: train, valid, test, one behind the other
    std::int64_t most = 0;   // how many symbols have a number of their own, the most frequent; 0: all
    std::int64_t lanes = 1;  // see text_windows
    bool lines = false;      // see text_lines
};

/// x and y (n, length) int64, y one symbol ahead. Numbers are given by the training part alone: its characters in the order of their code
/// points, its words by frequency. What it does not have is the class "<unknown>", the last, which is there only if some part needs it.
/// The part is cut into `lanes` stretches: row w * lanes + lane is window w of a stretch, so with batches of `lanes` rows in the data's own
/// order each row goes on where the same row of the batch before ended. A rest shorter than a window is left out.
/// FileError if the file is no UTF-8 or too short; ValueError for parts that are no parts.
enum class TextPart : std::uint8_t { train, valid, test };
Dataset text_windows(const std::filesystem::path& path, TextPart part, const TextOptions& options = {});

/// A line an example, with its length: x its symbols, y one symbol ahead, at the end of a line "\n". Longer lines are cut to options.length
/// symbols, shorter ones padded to the longest; empty ones are left out. The parts are of the lines. FileError and ValueError as above.
Dataset text_lines(const std::filesystem::path& path, TextPart part, const TextOptions& options = {});

}  // namespace weft::data
