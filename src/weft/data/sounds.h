// Data sets of WAV files: the waveform, or its power over time and frequency. Callers: data/registry.cpp, users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "weft/data/dataset.h"

namespace weft::data {

/// What a file's name says: a pattern of words in braces and what stands between them, "{label}_{speaker}_{index}".
class NamePattern {
  public:
    /// ValueError unless words are in braces, differ, and something stands between two of them.
    explicit NamePattern(std::string_view pattern);
    /// The words' values for a name without folder and ending; nothing if it does not match. Each is as short as it can be.
    std::optional<std::map<std::string, std::string, std::less<>>> match(std::string_view name) const;
    bool has(std::string_view word) const;

  private:
    std::vector<std::string> words_, between_;  // between_[i] stands in front of words_[i]; one more at the end
};

enum class SoundFeatures : std::uint8_t { waveform, spectrum, mel };

struct SoundOptions {
    std::string pattern = "{label}_*";  // '*' is a word that nobody asks for
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> where =
        {};                   // only files whose word is an integer from .. to
    std::int64_t length = 0;  // samples: what is longer is cut, what is shorter followed by zeros; 0: of the longest
    bool lengths =
        false;  // the data set knows how many frames (of a waveform: samples, (n, length, 1)) are each sound's own
    SoundFeatures features = SoundFeatures::waveform;
    std::int64_t window = 256, hop = 128, bands = 40;
};

/// x float32: (n, length) as it sounds, the mean of its channels; or (n, frames, bins) of features. y int64, the place of the label among
/// all labels (numbers by size, else by their letters). FileError for a file that is damaged, or of another rate than the first.
Dataset sounds(const std::filesystem::path& path, const SoundOptions& options = {});

/// Frames (count, window / 2 + 1) of log(|X|^2 + 1e-10), X the Fourier transform of window samples, `hop` apart, times Hann's window
/// (1 - cos(2 pi i / window)) / 2. As many frames as fit wholly. ValueError if none does.
Array log_power(const Array& samples, std::int64_t window, std::int64_t hop);
/// (count, bands): log(sum of |X|^2 weighted by a band's triangle + 1e-10); the bands' middles lie evenly from 0 to half the rate on the mel
/// scale m = 2595 log10(1 + f / 700) (O'Shaughnessy, 1987), each triangle reaches its neighbours' middles and is 1 at its own.
Array log_mel(const Array& samples, std::int64_t window, std::int64_t hop, std::int64_t bands, double rate);

}  // namespace weft::data
