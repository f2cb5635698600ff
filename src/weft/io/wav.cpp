#include "weft/io/wav.h"

#include <bit>

#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/io/numbers.h"

namespace weft::io {
namespace {

constexpr std::uint64_t pcm = 1, ieee_float = 3, extensible = 0xfffe;

struct WavFormat {
    std::uint64_t kind = 0, channels = 0, rate = 0, bits = 0;
};

[[noreturn]] void refuse_wav(std::string_view name, const std::string& what) {
    throw FileError(text("'", name, "' ", what));
}

WavFormat parse_format(std::string_view chunk, std::string_view name) {
    if (chunk.size() < 16) refuse_wav(name, "is damaged: its format has fewer than 16 bytes");
    WavFormat format{read_little(chunk, 2), read_little(chunk.substr(2), 2), read_little(chunk.substr(4), 4),
                     read_little(chunk.substr(14), 2)};
    if (format.kind == extensible && chunk.size() >= 26) format.kind = read_little(chunk.substr(24), 2);
    bool whole =
        format.kind == pcm && (format.bits == 8 || format.bits == 16 || format.bits == 24 || format.bits == 32);
    bool real = format.kind == ieee_float && (format.bits == 32 || format.bits == 64);
    if (!whole && !real)
        refuse_wav(name, text("holds sound of kind ", format.kind, " with ", format.bits,
                              " bits a sample; weft reads PCM of 8, 16, 24 and 32 bits and floats of 32 and 64"));
    if (format.channels == 0 || format.rate == 0)
        refuse_wav(name,
                   text("is damaged: it says ", format.channels, " channels, ", format.rate, " samples a second"));
    return format;
}

float wav_sample(std::string_view bytes, const WavFormat& format) {
    std::uint64_t word = read_little(bytes, format.bits / 8);
    if (format.kind == ieee_float)
        return format.bits == 32 ? std::bit_cast<float>(static_cast<std::uint32_t>(word))
                                 : static_cast<float>(std::bit_cast<double>(word));
    if (format.bits == 8) return (static_cast<float>(word) - 128) / 128;  // the one unsigned form
    auto shift = static_cast<int>(64 - format.bits);
    auto value = static_cast<std::int64_t>(word << shift) >> shift;
    return static_cast<float>(static_cast<double>(value) / static_cast<double>(std::int64_t{1} << (format.bits - 1)));
}

Sound samples_of(std::string_view data, const WavFormat& format, std::string_view name) {
    std::uint64_t width = format.bits / 8, frame = width * format.channels;
    if (data.size() % frame != 0)
        refuse_wav(name, text("is cut short: ", data.size(), " bytes are no whole number of samples of ", frame));
    auto count = static_cast<std::int64_t>(data.size() / frame), channels = static_cast<std::int64_t>(format.channels);
    Sound sound{Array::empty(DType::float32, {channels, count}), static_cast<std::int64_t>(format.rate)};
    auto* to = sound.samples.data<float>();
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t channel = 0; channel < channels; ++channel, data.remove_prefix(width))
            to[channel * count + i] = wav_sample(data, format);
    }
    return sound;
}

}  // namespace

Sound parse_wav(std::string_view bytes, std::string_view name) {
    if (bytes.size() < 12 || bytes.substr(0, 4) != "RIFF" || bytes.substr(8, 4) != "WAVE")
        refuse_wav(name, "is no WAV file: it does not begin with RIFF ... WAVE");
    std::string_view rest = bytes.substr(12);
    WavFormat format;
    while (rest.size() >= 8) {
        std::string_view kind = rest.substr(0, 4);
        std::uint64_t size = read_little(rest.substr(4), 4);
        rest.remove_prefix(8);
        if (size > rest.size()) refuse_wav(name, text("is cut short: a part of ", size, " bytes has ", rest.size()));
        if (kind == "fmt ") format = parse_format(rest.substr(0, size), name);
        if (kind == "data") {
            if (format.channels == 0) refuse_wav(name, "is damaged: its samples stand before their format");
            return samples_of(rest.substr(0, size), format, name);
        }
        rest.remove_prefix(std::min<std::uint64_t>(size + size % 2, rest.size()));  // parts begin at even bytes
    }
    refuse_wav(name, "is cut short: it has no samples");
}

Sound load_wav(const std::filesystem::path& path) {
    return parse_wav(read_file(path, std::uint64_t{1} << 32), path.string());
}

}  // namespace weft::io
