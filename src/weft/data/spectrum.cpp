// Power over time and frequency, by weft's own Fourier transform; all in float64 until the logarithm was taken.
#include <cmath>
#include <numbers>

#include "weft/data/sounds.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/fft.h"

namespace weft::data {
namespace {

constexpr double least_power = 1e-10;  // keeps the logarithm of silence finite

/// |X|^2, (frames, window / 2 + 1) in float64.
Tensor power(const Array& samples, std::int64_t window, std::int64_t hop) {
    if (window < 2 || hop < 1)
        throw ValueError(text("wav: a window of ", window, " samples, ", hop, " apart, is none"));
    std::int64_t count = samples.size() < window ? 0 : 1 + (samples.size() - window) / hop;
    if (count == 0) throw ValueError(text("wav: ", samples.size(), " samples do not fill a window of ", window));
    Array frames = Array::empty(float64, {count, window});
    for (std::int64_t frame = 0; frame < count; ++frame) {
        for (std::int64_t i = 0; i < window; ++i) {
            double hann =
                (1 - std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(window))) / 2;
            frames.data<double>()[frame * window + i] =
                hann * static_cast<double>(samples.data<float>()[frame * hop + i]);
        }
    }
    Tensor transformed = fft::rfft(Tensor(frames));
    return square(real(transformed)) + square(imag(transformed));
}

double mel(double frequency) { return 2595 * std::log10(1 + frequency / 700); }
double frequency_of(double mels) { return 700 * (std::pow(10, mels / 2595) - 1); }

/// (window / 2 + 1, bands)
Array triangles(std::int64_t window, std::int64_t bands, double rate) {
    Array weights = Array::zeros(float64, {window / 2 + 1, bands});
    auto middle = [&](std::int64_t band) {  // band -1 and `bands` are the ends
        return frequency_of(mel(rate / 2) * static_cast<double>(band + 1) / static_cast<double>(bands + 1));
    };
    for (std::int64_t bin = 0; bin <= window / 2; ++bin) {
        double frequency = rate * static_cast<double>(bin) / static_cast<double>(window);
        for (std::int64_t band = 0; band < bands; ++band) {
            double rising = (frequency - middle(band - 1)) / (middle(band) - middle(band - 1));
            double falling = (middle(band + 1) - frequency) / (middle(band + 1) - middle(band));
            weights.data<double>()[bin * bands + band] = std::max(0.0, std::min(rising, falling));
        }
    }
    return weights;
}

Array logarithm(const Tensor& power) { return contiguous(astype(log(power + least_power), float32).array()); }

}  // namespace

Array log_power(const Array& samples, std::int64_t window, std::int64_t hop) {
    return logarithm(power(samples, window, hop));
}

Array log_mel(const Array& samples, std::int64_t window, std::int64_t hop, std::int64_t bands, double rate) {
    if (bands < 1 || !(rate > 0))
        throw ValueError(text("wav: ", bands, " bands at ", rate, " samples a second are none"));
    return logarithm(matmul(power(samples, window, hop), Tensor(triangles(window, bands, rate))));
}

}  // namespace weft::data
