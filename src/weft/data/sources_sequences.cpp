// Sounds and texts as a file names them: wav, text.
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/sounds.h"
#include "weft/data/sources.h"
#include "weft/data/words.h"

namespace weft::data {
namespace {

SoundOptions sound_options(const Json& options) {
    SoundOptions made;
    made.pattern = options.at("pattern").as_string();
    for (const Json::Member& range : options.at("where").members())
        made.where[range.key] = {range.value.item(0).as_integer(), range.value.item(1).as_integer()};
    made.length = options.at("length").as_integer();
    made.lengths = options.at("lengths").as_bool();
    const std::string& features = options.at("features").as_string();
    made.features = features == "mel"        ? SoundFeatures::mel
                    : features == "spectrum" ? SoundFeatures::spectrum
                                             : SoundFeatures::waveform;
    made.window = options.at("window").as_integer(), made.hop = options.at("hop").as_integer();
    made.bands = options.at("bands").as_integer();
    return made;
}

void check_wav(const Json& options) {
    check_place(options.at("path"));
    for (const Json::Member& range : options.at("where").members()) {
        if (!range.value.is_array() || range.value.size() != 2 ||
            range.value.item(0).as_integer() > range.value.item(1).as_integer())
            range.value.refuse("wav: `where` gives a word of the pattern a range of integers: {index: [0, 4]}");
    }
    try {
        NamePattern pattern(options.at("pattern").as_string());
        if (!pattern.has("label")) options.at("pattern").refuse("wav: the pattern has no {label}");
        for (const Json::Member& range : options.at("where").members()) {
            if (!pattern.has(range.key))
                throw ConfigError(text(range.where, "wav: the pattern has no {", range.key, "}"));
        }
    } catch (const ValueError& error) {
        options.at("pattern").refuse(error.what());
    }
}

TextOptions text_options(const Json& options) {
    TextOptions made;
    made.words = options.at("unit").as_string() == "word";
    made.length = options.at("length").as_integer();
    made.most = options.at("most").as_integer();
    made.lanes = options.at("lanes").as_integer();
    made.lines = options.at("lines").as_bool();
    for (std::size_t i = 0; i < 3; ++i) made.parts[i] = options.at("parts").item(i).as_number();
    return made;
}

void check_text(const Json& options) {
    check_place(options.at("path"));
    if (options.at("lines").as_bool() && options.at("lanes").as_integer() > 1)
        options.at("lanes").refuse("text: lanes are stretches of a text; lines are examples by themselves");
    const Json& parts = options.at("parts");
    if (parts.size() != 3) parts.refuse("text: three parts, as in [0.9, 0.05, 0.05]");
    double sum = 0;
    for (const Json& part : parts.items()) {
        if (!(part.as_number() >= 0 && part.as_number() <= 1)) part.refuse("text: a part is from 0 to 1");
        sum += part.as_number();
    }
    if (sum > 1 + 1e-9 || parts.item(0).as_number() <= 0)
        parts.refuse("text: the parts are 1 together at most, the first more than 0");
}

Dataset load_text(const Json& options) {
    const std::string& split = options.at("split").as_string();
    TextPart part = split == "train" ? TextPart::train : split == "valid" ? TextPart::valid : TextPart::test;
    TextOptions how = text_options(options);
    return how.lines ? text_lines(options.at("path").as_string(), part, how)
                     : text_windows(options.at("path").as_string(), part, how);
}

/// How many symbols there are is known once the text is read.
std::optional<Dataset> sample_text(const Json& options) {
    Dims one{1, options.at("length").as_integer()};
    Dataset set;
    set.x = Array::zeros(int64, one), set.y = Array::zeros(int64, one);
    if (options.at("lines").as_bool()) set.lengths = Array::from(std::vector<std::int64_t>{one[1]}, {1});
    return set;
}

/// Nothing where the longest sound says how long an example is.
std::optional<Dataset> sample_wav(const Json& options) {
    std::int64_t length = options.at("length").as_integer(), window = options.at("window").as_integer();
    const std::string& features = options.at("features").as_string();
    if (length == 0 || (features != "waveform" && length < window)) return std::nullopt;
    std::int64_t frames = 1 + (length - window) / options.at("hop").as_integer();
    Dataset set;
    set.x = Array::zeros(float32, features == "waveform" ? Dims{1, length}
                                  : features == "mel"    ? Dims{1, frames, options.at("bands").as_integer()}
                                                         : Dims{1, frames, window / 2 + 1});
    set.y = Array::zeros(int64, {1});
    if (!options.at("lengths").as_bool()) return set;
    if (features == "waveform") set.x = Array::zeros(float32, {1, length, 1});
    set.lengths = Array::from(std::vector<std::int64_t>{set.x.dims[1]}, {1});
    return set;
}

}  // namespace

std::vector<Source> sequence_sources() {
    return {
        {"wav",
         "sounds, their labels in the files' names: the waveform, -1 .. 1, or features (frames, bins)",
         {{"path", Json(), "a folder or an archive (.tar, .tar.gz) of .wav files", true, Json::Kind::string},
          word_option("pattern", "{label}_*", "what a name says, as in {label}_{speaker}_{index}"),
          {"where", Json::object(), "only files whose words are in these ranges: {index: [0, 4]}"},
          integer_option("length", 0,
                         "samples: longer sounds are cut, shorter ones followed by zeros; 0: of the longest", 0),
          {"lengths", false, "each example's own length is known: see `buckets`, and layers of sequences"},
          word_option("features", "waveform", "waveform, or logarithms of the power in bins of frequency or mel",
                      {"waveform", "spectrum", "mel"}),
          integer_option("window", 256, "samples of a frame", 2),
          integer_option("hop", 128, "samples from frame to frame", 1),
          integer_option("bands", 40, "of mel", 1),
          range_option()},
         [](const Json& options) {
             return in_range(sounds(options.at("path").as_string(), sound_options(options)), options);
         },
         [](const Json& options) { check_range(options), check_wav(options); },
         sample_wav},
        {"text",
         "a text in UTF-8 as windows of characters or words; y is one symbol ahead",
         {{"path", Json(), "the file, also as .gz", true, Json::Kind::string},
          word_option("split", "train", "which part of it", {"train", "valid", "test"}),
          {"parts", Json::array({0.9, 0.05, 0.05}), "how much of it is train, valid and test, one behind the other"},
          word_option("unit", "character", "what a symbol is", {"character", "word"}),
          {"lines", false,
           "an example is a line, with its length, and ends with \\n; longer ones than `length` are cut"},
          integer_option("length", 64, "symbols of an example", 1),
          integer_option("most", 0, "how many symbols have a number of their own, the most frequent in train; 0: all",
                         0),
          integer_option("lanes", 1,
                         "stretches that are read side by side: rows of a batch of so many go on in the next", 1),
          range_option()},
         [](const Json& options) { return in_range(load_text(options), options); },
         [](const Json& options) { check_range(options), check_text(options); },
         sample_text},
    };
}

}  // namespace weft::data
