// What stands beside the transforms: their frequencies, shifts, and the records of what ops/fft.cpp makes of the one primitive.
#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/fft.h"

namespace weft::fft {
namespace {

Tensor frequencies(std::string_view operation, std::int64_t n, std::int64_t count, std::int64_t positive, double d,
                   DType dtype) {
    if (n < 1) throw ValueError(text(operation, ": ", n, " points; there must be at least 1"));
    if (!is_floating(dtype)) throw DTypeError(text(operation, ": frequencies are floating numbers, not ", dtype));
    Tensor k = iota(count);
    return where(k < positive, k, k - n).astype(dtype) / (static_cast<double>(n) * d);
}

Tensor shifted(const Operand& x, const std::optional<Axes>& axes, std::string_view operation, bool back) {
    LineScope line(x.where);
    Tensor result = x.as_tensor();
    for (std::int64_t given : axes ? *axes : all_axes(result.ndim())) {
        std::int64_t axis = checked_axis(x, given, result.ndim(), operation);
        Size size = result.shape()[static_cast<std::size_t>(axis)];
        if (!size.known())
            throw ShapeError(
                text(operation, ": the size ", size, " of axis ", axis, " is not known yet", place(x.where)));
        std::int64_t half = size.value() / 2;
        result = roll(Operand(result, x.where), back ? -half : half, axis);
    }
    return result;
}

}  // namespace

Tensor fftfreq(std::int64_t n, double d, DType dtype) { return frequencies("fftfreq", n, n, (n + 1) / 2, d, dtype); }
Tensor rfftfreq(std::int64_t n, double d, DType dtype) { return frequencies("rfftfreq", n, n / 2 + 1, n, d, dtype); }
Tensor fftshift(const Operand& x, const std::optional<Axes>& axes) { return shifted(x, axes, "fftshift", false); }
Tensor ifftshift(const Operand& x, const std::optional<Axes>& axes) { return shifted(x, axes, "ifftshift", true); }

#define RECORD(name, doc, ...)                                                                             \
    static const Operation name##_record = composite(#name, doc, "fft." #name, "fft." #name, __VA_ARGS__); \
    WEFT_REGISTER(name##_record);
RECORD(ifft, "The inverse transform.", {{{{9}}, [](auto x) { return ifft(x[0], 4); }, "np.fft.ifft(x0, 4)"}})
RECORD(fftn, "The transform along several axes.",
       {{{{3, 4, 5}}, [](auto x) { return fftn(x[0]); }, "np.fft.fftn(x0)"},
        {{{3, 4, 5}},
         [](auto x) {
             return fftn(x[0], Dims{6, 2}, Axes{2, 0}, Norm::ortho);
         },
         "np.fft.fftn(x0, (6, 2), (2, 0), 'ortho')"}})
RECORD(ifftn, "The inverse transform along several axes.",
       {{{{3, 4, 5}},
         [](auto x) {
             return ifftn(x[0], Dims{4, -1}, Axes{-2, -1}, Norm::forward);
         },
         "np.fft.ifftn(x0, (4, -1), (-2, -1), 'forward')"}})
RECORD(rfftn, "Half of the transform of real numbers along several axes.",
       {{{{3, 4, 5}}, [](auto x) { return rfftn(real(x[0])); }, "np.fft.rfftn(np.real(x0))"},
        {{{3, 4}},
         [](auto x) {
             return rfftn(real(x[0]), Dims{5, 6}, Axes{1, 0}, Norm::ortho);
         },
         "np.fft.rfftn(np.real(x0), (5, 6), (1, 0), 'ortho')"}})
RECORD(irfftn, "Real numbers from half of their transform along several axes.",
       {{{{3, 4, 5}}, [](auto x) { return irfftn(x[0]); }, "np.fft.irfftn(x0)"},
        {{{3, 4}},
         [](auto x) {
             return irfftn(x[0], Dims{4, 5}, Axes{0, 1});
         },
         "np.fft.irfftn(x0, (4, 5), (0, 1))"}})
RECORD(hfft, "The real transform of half of what is Hermitian.",
       {{{{2, 5}}, [](auto x) { return hfft(x[0]); }, "np.fft.hfft(x0)"},
        {{{2, 5}}, [](auto x) { return hfft(x[0], 9, -1, Norm::forward); }, "np.fft.hfft(x0, 9, -1, 'forward')"}})
RECORD(ihfft, "Half of the inverse transform of real numbers.",
       {{{{2, 5}}, [](auto x) { return ihfft(real(x[0])); }, "np.fft.ihfft(np.real(x0))"},
        {{{5, 2}},
         [](auto x) { return ihfft(real(x[0]), 8, 0, Norm::ortho); },
         "np.fft.ihfft(np.real(x0), 8, 0, 'ortho')"}})
RECORD(fft2, "The transform of the last two axes.",
       {{{{2, 3, 4}}, [](auto x) { return fft2(x[0]); }, "np.fft.fft2(x0)"}})
RECORD(ifft2, "The inverse transform of the last two axes.",
       {{{{2, 3, 4}}, [](auto x) { return ifft2(x[0]); }, "np.fft.ifft2(x0)"}})
RECORD(rfft2, "Half of the transform of the last two axes of real numbers.",
       {{{{2, 3, 4}}, [](auto x) { return rfft2(real(x[0])); }, "np.fft.rfft2(np.real(x0))"}})
RECORD(irfft2, "Real numbers from half of the transform of the last two axes.",
       {{{{2, 3, 4}}, [](auto x) { return irfft2(x[0]); }, "np.fft.irfft2(x0)"}})
RECORD(fftfreq, "The frequencies of a transform.",
       {{{}, [](auto) { return fftfreq(5, 0.1); }, "np.fft.fftfreq(5, 0.1).astype('float32')"},
        {{}, [](auto) { return fftfreq(6, 2, DType::float64); }, "np.fft.fftfreq(6, 2)"}})
RECORD(rfftfreq, "The frequencies of half of a transform.",
       {{{}, [](auto) { return rfftfreq(5, 0.1); }, "np.fft.rfftfreq(5, 0.1).astype('float32')"},
        {{}, [](auto) { return rfftfreq(6); }, "np.fft.rfftfreq(6).astype('float32')"}})
RECORD(fftshift, "Frequency 0 into the middle.",
       {{{{4, 5}}, [](auto x) { return fftshift(x[0]); }, "np.fft.fftshift(x0)"}})
RECORD(ifftshift, "Frequency 0 to the front again.",
       {{{{4, 5}}, [](auto x) { return ifftshift(x[0], Axes{1}); }, "np.fft.ifftshift(x0, 1)"}})
#undef RECORD

}  // namespace weft::fft
