#include "weft/io/wav.h"

#include <gmock/gmock.h>

#include <bit>

#include "io/scratch.h"
#include "weft/io/numbers.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

/// As the specification lays it out: RIFF, a format of 16 bytes, an unknown part of an odd size, the samples.
std::string wav_bytes(unsigned kind, unsigned channels, unsigned bits, const std::vector<std::uint64_t>& samples) {
    std::string data, out = "RIFF";
    for (std::uint64_t sample : samples) append_little(data, sample, bits / 8);
    append_little(out, 4 + 24 + 12 + 8 + data.size(), 4);
    out += "WAVEfmt ";
    append_little(out, 16, 4), append_little(out, kind, 2), append_little(out, channels, 2);
    append_little(out, 8000, 4), append_little(out, 8000 * channels * bits / 8, 4);
    append_little(out, channels * bits / 8, 2), append_little(out, bits, 2);
    out += std::string("LIST\3\0\0\0abc\0data", 16);
    append_little(out, data.size(), 4);
    return out + data;
}

std::vector<float> samples(const std::string& bytes) {
    Sound sound = parse_wav(bytes, "w");
    EXPECT_EQ(sound.rate, 8000);
    return {sound.samples.data<float>(), sound.samples.data<float>() + sound.samples.size()};
}

TEST(Wav, every_kind_of_sample_is_read) {
    EXPECT_EQ(samples(wav_bytes(1, 1, 8, {0, 128, 255})), (std::vector<float>{-1, 0, 127.0f / 128}));
    EXPECT_EQ(samples(wav_bytes(1, 1, 16, {0x8000, 1, 0x7fff})),
              (std::vector<float>{-1, 1 / 32768.0f, 32767 / 32768.0f}));
    EXPECT_EQ(samples(wav_bytes(1, 1, 24, {0x800000, 0x400000, 0xffffff})),
              (std::vector<float>{-1, 0.5f, -1 / 8388608.0f}));
    EXPECT_EQ(samples(wav_bytes(1, 1, 32, {0x80000000, 0x40000000})), (std::vector<float>{-1, 0.5f}));
    EXPECT_EQ(samples(wav_bytes(3, 1, 32, {std::bit_cast<std::uint32_t>(0.3f)})), (std::vector<float>{0.3f}));
    EXPECT_EQ(samples(wav_bytes(3, 1, 64, {std::bit_cast<std::uint64_t>(0.25)})), (std::vector<float>{0.25f}));
}

TEST(Wav, channels_are_taken_apart) {
    Sound sound = parse_wav(wav_bytes(1, 2, 8, {0, 128, 192, 64}), "w");
    EXPECT_EQ(sound.samples.dims, (Dims{2, 2}));
    EXPECT_EQ(samples(wav_bytes(1, 2, 8, {0, 128, 192, 64})), (std::vector<float>{-1, 0.5f, 0, -0.5f}));
}

TEST(Wav, what_is_wrong_is_named) {
    auto refusal = [](const std::string& bytes) { return error_of([&] { (void)parse_wav(bytes, "w"); }); };
    std::string good = wav_bytes(1, 1, 16, {1, 2, 3});
    EXPECT_EQ(refusal("RIFX"), "'w' is no WAV file: it does not begin with RIFF ... WAVE");
    EXPECT_EQ(refusal(good.substr(0, good.size() - 2)), "'w' is cut short: a part of 6 bytes has 4");
    EXPECT_EQ(refusal(good.substr(0, 36)), "'w' is cut short: it has no samples");
    EXPECT_THAT(refusal(wav_bytes(6, 1, 8, {1})), HasSubstr("sound of kind 6 with 8 bits"));
    EXPECT_THAT(refusal(wav_bytes(1, 0, 16, {1})), HasSubstr("0 channels"));
    EXPECT_THAT(refusal(wav_bytes(1, 2, 16, {1, 2, 3})), HasSubstr("no whole number of samples of 4"));
    survives_damage(
        good, [](const auto& path) { (void)load_wav(path); }, 300);
}

}  // namespace
}  // namespace weft::io
