#include "weft/backend/cpu/fourier_transform.h"

#include <algorithm>
#include <cmath>

namespace weft::cpu {

template <>
const FourierKernels<float>& fourier_kernels() {
    return WEFT_OF_BEST_ISA(fourier_kernels_f32);
}
template <>
const FourierKernels<double>& fourier_kernels() {
    return WEFT_OF_BEST_ISA(fourier_kernels_f64);
}

std::complex<long double> unit_root(std::int64_t k, std::int64_t n) {
    constexpr long double pi = 3.141592653589793238462643383279502884L;
    k %= n;
    bool upper = 2 * k > n;  // k / n in (1/2, 1): the conjugate of n - k
    if (upper) k = n - k;
    bool left = 4 * k > n;  // in (1/4, 1/2]: mirrored at the imaginary axis
    long double place = left ? static_cast<long double>(n - 2 * k) / 2 : static_cast<long double>(k);
    bool steep = 8 * place > static_cast<long double>(n);
    long double angle =
        2 * pi * (steep ? static_cast<long double>(n) / 4 - place : place) / static_cast<long double>(n);
    long double c = steep ? std::sin(angle) : std::cos(angle), s = steep ? std::cos(angle) : std::sin(angle);
    return {left ? -c : c, upper ? s : -s};
}

namespace {

/// unit_root of many k: of a large n a product of two, which adds nothing to what is rounded.
class UnitRoots {
  public:
    explicit UnitRoots(std::int64_t n) : n_(n) {
        if (n <= 4 * block) return;
        for (std::int64_t k = 0; k < block; ++k) fine_.push_back(unit_root(k, n));
        for (std::int64_t k = 0; k < n; k += block) coarse_.push_back(unit_root(k, n));
    }
    std::complex<long double> operator()(std::int64_t k) const {
        if (fine_.empty()) return unit_root(k, n_);
        auto a = coarse_[static_cast<std::size_t>(k / block)], b = fine_[static_cast<std::size_t>(k % block)];
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }

  private:
    static constexpr std::int64_t block = 1024;
    std::int64_t n_;
    std::vector<std::complex<long double>> fine_, coarse_;
};

template <class R>
void append(std::vector<R>& list, std::complex<long double> number) {
    list.push_back(static_cast<R>(number.real())), list.push_back(static_cast<R>(number.imag()));
}

/// What passes take away from n, the last first; empty where a large prime is left.
std::vector<std::int64_t> fourier_radices(std::int64_t n) {
    std::vector<std::int64_t> radices;
    auto take = [&](std::int64_t radix) {
        for (; n % radix == 0; n /= radix) radices.push_back(radix);
    };
    int twos = 0;
    for (; n % 2 == 0; n /= 2) ++twos;
    for (; twos >= 5 || twos == 3; twos -= 3) radices.push_back(8);
    for (; twos >= 2; twos -= 2) radices.push_back(4);
    if (twos == 1) radices.push_back(2);
    for (std::int64_t radix = 5; radix >= 3; radix -= 2) take(radix);
    for (std::int64_t radix = 7; radix <= FourierPasses<float>::largest_radix; radix += 2) take(radix);
    std::reverse(radices.begin(), radices.end());
    return n == 1 ? radices : std::vector<std::int64_t>{};
}

}  // namespace

template <class R>
bool FourierLanes<R>::takes(std::int64_t n) {
    return n == 1 || !fourier_radices(n).empty();
}
template <class R>
std::int64_t FourierLanes<R>::passes_of(std::int64_t n) {
    return static_cast<std::int64_t>(fourier_radices(n).size());
}

template <class R>
FourierLanes<R>::FourierLanes(std::int64_t n) : n_(n), radices_(fourier_radices(n)) {
    std::int64_t rest = n;
    for (std::int64_t radix : radices_) {
        UnitRoots roots(rest);
        rest /= radix;
        for (std::int64_t p = 0; p < rest; ++p)
            for (std::int64_t k = 1; k < radix; ++k) append(factors_, roots(p * k));
        if (radix > 5 && radix % 2 == 1)
            for (std::int64_t k = 0; k < radix; ++k) append(roots_, unit_root(k, radix));
    }
}

template <class R>
FourierTransform<R>::FourierTransform(std::int64_t n, bool inverse, R factor)
    : n_(n), row_points_(n), inverse_(inverse), factor_(factor), kernels_(fourier_kernels<R>()) {
    if (FourierLanes<R>::takes(n))
        make_matrix();
    else
        make_convolution();
}

/// Columns and rows such that few passes over few lanes that are empty remain. Lanes are counted as the widest set's, so that all sets do the same.
template <class R>
void FourierTransform<R>::make_matrix() {
    constexpr std::int64_t lanes = 64 / sizeof(R);
    auto groups = [](std::int64_t count) { return (count + lanes - 1) / lanes; };
    std::int64_t least = 0;
    for (std::int64_t columns = 2; columns < n_; ++columns) {
        if (columns > 65536 || columns > 64 * (n_ / columns)) break;
        if (n_ % columns != 0) continue;
        std::int64_t rows = n_ / columns;
        std::int64_t cost = groups(rows) * columns * (1 + FourierLanes<R>::passes_of(columns)) +
                            groups(columns) * rows * (2 + FourierLanes<R>::passes_of(rows));
        if (least == 0 || cost < least) least = cost, column_points_ = columns;
    }
    row_points_ = n_ / column_points_;
    // First what takes the most memory: where there is not so much, it is said before minutes were spent on roots.
    if (column_points_ > 1) turns_.assign(static_cast<std::size_t>(column_points_ * middle_row()), 0);
    rows_ = std::make_unique<FourierLanes<R>>(row_points_);
    if (column_points_ == 1) return;
    columns_ = std::make_unique<FourierLanes<R>>(column_points_);
    UnitRoots roots(n_);
    for (std::int64_t k = 0; k < column_points_; ++k) {
        for (std::int64_t j = 0; j < row_points_; ++j) {
            R* turn = turns_.data() + k * middle_row() + j / kernels_.lanes * 2 * kernels_.lanes + j % kernels_.lanes;
            std::complex<long double> root = roots(j * k);
            turn[0] = static_cast<R>(root.real()), turn[kernels_.lanes] = static_cast<R>(root.imag());
        }
    }
}

template <class R>
std::int64_t FourierTransform<R>::work_numbers() const {
    return fourier_work(std::max(column_points_, row_points_), kernels_.lanes) / 2;
}
template <class R>
std::int64_t FourierTransform<R>::scratch() const {
    if (convolution_) return convolution_->n_ + convolution_->scratch();
    return middle_numbers() + work_numbers();
}

template <class R>
void FourierTransform<R>::run(const C* from, C* to, C* work) const {
    if (convolution_) return convolve(from, to, work);
    R *middle = reinterpret_cast<R*>(work), *working = middle + 2 * middle_numbers();
    if (columns_) {
        for (std::int64_t group = 0; group < column_groups(); ++group) run_columns(group, from, middle, working);
        for (std::int64_t group = 0; group < row_groups(); ++group) run_rows(group, middle, to, working);
        return;
    }
    auto* in = const_cast<R*>(reinterpret_cast<const R*>(from));  // only read
    kernels_.transform(rows_->passes(), {in, 2, 0, FourierOrder::along, inverse_},
                       {reinterpret_cast<R*>(to), 2, 0, FourierOrder::along, inverse_, nullptr, factor_}, 1, working);
}

template <class R>
void FourierTransform<R>::run_columns(std::int64_t group, const C* from, R* middle, R* work) const {
    std::int64_t lanes = kernels_.lanes, first = group * lanes;
    auto* in = const_cast<R*>(reinterpret_cast<const R*>(from + first));
    kernels_.transform(columns_->passes(), {in, 2 * row_points_, 2, FourierOrder::beside, inverse_},
                       {middle + 2 * first, middle_row(), 0, FourierOrder::parts, false, turns_.data() + 2 * first},
                       std::min(lanes, row_points_ - first), work);
}

template <class R>
void FourierTransform<R>::run_rows(std::int64_t group, const R* middle, C* to, R* work) const {
    std::int64_t lanes = kernels_.lanes, first = group * lanes;
    auto* in = const_cast<R*>(middle + first * middle_row());
    kernels_.transform(
        rows_->passes(), {in, 0, middle_row(), FourierOrder::parts},
        {reinterpret_cast<R*>(to + first), 2 * column_points_, 2, FourierOrder::beside, inverse_, nullptr, factor_},
        std::min(lanes, column_points_ - first), work);
}

// X_k = c_k sum over j of (x_j c_j) conj(c_(k - j)), c_k = exp(sign pi i k^2 / n): a convolution, of a power of two numbers.
template <class R>
void FourierTransform<R>::make_convolution() {
    std::int64_t size = 1;
    while (size < 2 * n_ - 1) size *= 2;
    convolution_ = std::make_unique<FourierTransform>(size, false);
    UnitRoots roots(2 * n_);
    std::vector<C> work(static_cast<std::size_t>(convolution_->scratch()));
    kernel_.assign(static_cast<std::size_t>(size), C(0));
    for (std::int64_t k = 0, square = 0; k < n_; square = (square + 2 * k + 1) % (2 * n_), ++k) {
        C root = C(roots(square));
        chirp_.push_back(inverse_ ? std::conj(root) : root);
        C conjugate = std::conj(chirp_.back()) / static_cast<R>(size);
        kernel_[static_cast<std::size_t>(k)] = kernel_[static_cast<std::size_t>((size - k) % size)] = conjugate;
    }
    convolution_->run(kernel_.data(), work.data());
}
// Conjugated in between, so that another forward transform is the inverse's conjugate.
template <class R>
void FourierTransform<R>::convolve(const C* from, C* to, C* work) const {
    std::int64_t size = convolution_->n_;
    auto times = [&](C* result, const C* a, const C* b, std::int64_t count, bool conjugate) {
        kernels_.multiply(reinterpret_cast<R*>(result), reinterpret_cast<const R*>(a), reinterpret_cast<const R*>(b),
                          count, conjugate);
    };
    times(work, from, chirp_.data(), n_, false);
    std::fill(work + n_, work + size, C(0));
    convolution_->run(work, work + size);
    times(work, work, kernel_.data(), size, true);
    convolution_->run(work, work + size);
    for (std::int64_t k = 0; k < n_; ++k) work[k] = std::conj(work[k]);
    times(to, work, chirp_.data(), n_, false);
    if (factor_ != 1)
        for (std::int64_t k = 0; k < n_; ++k) to[k] *= factor_;
}

template class FourierLanes<float>;
template class FourierLanes<double>;
template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace weft::cpu
