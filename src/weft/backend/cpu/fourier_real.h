// Fourier transforms of real numbers to half of their points, the others being conjugates, and back; along one axis, by all threads. An even
// number n of points is a transform of n / 2 complex ones, each made of two that follow each other, which is folded with itself (Press et al.,
// Numerical Recipes, 12.3); an odd one a complex transform. Callers: backend/cpu/fourier.cpp.
#pragma once

#include "weft/backend/cpu/fourier_transform.h"
#include "weft/backend/cpu/strided.h"
#include "weft/ops/fft.h"

namespace weft::cpu {

template <class R>
class RealFourierRows {
  public:
    using C = std::complex<R>;
    /// `back`: from half of the points to real numbers.
    RealFourierRows(const FourierAttributes& a, const Layout& input, const Layout& output, bool back)
        : n_(a.points),
          points_(n_ % 2 == 0 ? n_ / 2 : n_),
          back_(back),
          conjugate_(a.inverse != back),
          factor_(static_cast<R>(a.factor)),
          given_(side_of(input, a.axis, back)),
          made_(side_of(output, a.axis, !back)),
          kernels_(fourier_kernels<R>()) {
        auto axis = static_cast<std::size_t>(a.axis);
        Dims dims = input.dims;
        dims.erase(axis);
        rows_ = Box<2>(dims, {made_.rows, given_.rows});
        if (rows_.size == 0) return;
        make_transform(a);
        together_ = lanes_ ? kernels_.lanes : given_.along && made_.along ? 1 : 8;
        rows_a_block_ = together_ * std::max<std::int64_t>(1, block_elements / 8 / (together_ * n_));
        slots_ = static_cast<int>(
            std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), ThreadPool::instance().threads())));
    }
    std::size_t scratch_bytes() const { return static_cast<std::size_t>(slots_) * slot_bytes(); }

    void run(const void* from, void* to, std::byte* scratch) const {
        if (rows_.size == 0) return;
        parallel_for(
            blocks(),
            [&](std::int64_t block, int slot) {
                auto* work = reinterpret_cast<R*>(scratch + static_cast<std::size_t>(slot) * slot_bytes());
                std::int64_t first = block * rows_a_block_, last = std::min(rows_.size, first + rows_a_block_);
                rows_.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t rows) {
                    for (std::int64_t i = 0; i < rows; i += together_)
                        transform_rows(static_cast<const R*>(from) + at[1] + i * rows_.inner(1),
                                       static_cast<R*>(to) + at[0] + i * rows_.inner(0), std::min(together_, rows - i),
                                       work);
                });
            },
            slots_);
    }

  private:
    /// What is given or made: real numbers, or half of the complex points. Strides in real numbers.
    struct Side {
        std::int64_t count, parts, stride;
        bool along;
        Dims rows;
        std::int64_t numbers() const { return count * parts; }
    };
    static Side side_of(const Layout& layout, std::int64_t axis, bool halved) {
        auto at = static_cast<std::size_t>(axis);
        Side side{layout.dims[at], halved ? 2 : 1, 0, layout.strides[at] == 1 || layout.dims[at] == 1, layout.strides};
        for (std::int64_t& stride : side.rows) stride *= side.parts;
        side.stride = side.rows[at];
        side.rows.erase(at);
        return side;
    }

    static constexpr std::int64_t most_in_lanes = 128;  // as of complex numbers
    void make_transform(const FourierAttributes& a) {
        bool even = n_ % 2 == 0, inverse = even ? back_ : a.inverse;
        // What folding halves, and what an odd transform leaves to itself.
        R factor = even ? R(1) : factor_;
        inverse_ = inverse;
        if (FourierLanes<R>::takes(points_) && points_ <= most_in_lanes &&
            rows_.dims.back() >= 32 / std::int64_t{sizeof(R)})
            lanes_ = std::make_unique<FourierLanes<R>>(points_);
        else
            transform_ = std::make_unique<FourierTransform<R>>(points_, inverse, factor);
        if (!even) return;
        for (std::int64_t k = 0; k < points_; ++k) {  // exp(-2 pi i k / n) times -i
            std::complex<long double> root = unit_root(k, n_);
            turns_.push_back(static_cast<R>(root.imag())), turns_.push_back(static_cast<R>(-root.real()));
        }
    }

    void transform_rows(const R* from, R* to, std::int64_t rows, R* work) const {
        R *given = work, *half = given + (given_.along ? 0 : together_ * given_.numbers());
        R *made = half + together_ * 2 * points_, *working = made + (made_.along ? 0 : together_ * made_.numbers());
        std::int64_t from_row = rows_.inner(1), to_row = rows_.inner(0);
        const R* in = from;
        if (!given_.along) {
            copy_rows(given_, given, given_.parts, given_.numbers(), from, given_.stride, from_row, rows);
            in = given, from_row = given_.numbers();
        }
        R* out = made_.along ? to : made;
        std::int64_t out_row = made_.along ? to_row : made_.numbers();
        if (back_)
            to_real(in, from_row, out, out_row, rows, half, working);
        else
            to_half(in, from_row, out, out_row, rows, half, working);
        if (!made_.along) copy_rows(made_, to, made_.stride, to_row, made, made_.parts, out_row, rows);
    }

    void to_half(const R* in, std::int64_t in_row, R* out, std::int64_t out_row, std::int64_t rows, R* half,
                 R* working) const {
        if (n_ % 2 == 0) {
            transform(in, in_row, half, rows, 2 * points_, working);
            for (std::int64_t j = 0; j < rows; ++j)
                kernels_.fold(out + j * out_row, half + j * 2 * points_, turns_.data(), points_, factor_, false,
                              conjugate_);
            return;
        }
        for (std::int64_t j = 0; j < rows; ++j)
            for (std::int64_t k = 0; k < n_; ++k) {
                half[2 * (j * n_ + k)] = in[j * in_row + k], half[2 * (j * n_ + k) + 1] = 0;
            }
        transform(half, 2 * n_, half, rows, 2 * n_, working);
        for (std::int64_t j = 0; j < rows; ++j) copy_run(out + j * out_row, 1, half + 2 * j * n_, 1, made_.numbers());
    }

    void to_real(const R* in, std::int64_t in_row, R* out, std::int64_t out_row, std::int64_t rows, R* half,
                 R* working) const {
        if (n_ % 2 == 0) {
            for (std::int64_t j = 0; j < rows; ++j)
                kernels_.fold(half + j * 2 * points_, in + j * in_row, turns_.data(), points_, factor_, true,
                              conjugate_);
            return transform(half, 2 * points_, out, rows, out_row, working);
        }
        for (std::int64_t j = 0; j < rows; ++j) {
            const R* row = in + j * in_row;
            R* whole = half + 2 * j * n_;
            whole[0] = row[0], whole[1] = 0;
            for (std::int64_t k = 1; k <= n_ / 2; ++k) {
                whole[2 * k] = whole[2 * (n_ - k)] = row[2 * k];
                whole[2 * k + 1] = row[2 * k + 1], whole[2 * (n_ - k) + 1] = -row[2 * k + 1];
            }
        }
        transform(half, 2 * n_, half, rows, 2 * n_, working);
        for (std::int64_t j = 0; j < rows; ++j) copy_run(out + j * out_row, 1, half + 2 * j * n_, 2, n_);
    }

    /// Of complex numbers side by side, rows in real numbers apart.
    void transform(const R* from, std::int64_t from_row, R* to, std::int64_t rows, std::int64_t to_row,
                   R* working) const {
        if (lanes_) {
            auto* in = const_cast<R*>(from);  // only read
            R factor = n_ % 2 == 0 ? R(1) : factor_;
            return kernels_.transform(lanes_->passes(), {in, 2, from_row, FourierOrder::along, inverse_},
                                      {to, 2, to_row, FourierOrder::along, inverse_, nullptr, factor}, rows, working);
        }
        for (std::int64_t j = 0; j < rows; ++j)
            transform_->run(reinterpret_cast<const C*>(from + j * from_row), reinterpret_cast<C*>(to + j * to_row),
                            reinterpret_cast<C*>(working));
    }

    static void copy_rows(const Side& side, R* to, std::int64_t to_step, std::int64_t to_row, const R* from,
                          std::int64_t from_step, std::int64_t from_row, std::int64_t rows) {
        for (std::int64_t k = 0; k < side.count; ++k)
            for (std::int64_t j = 0; j < rows; ++j)
                for (std::int64_t part = 0; part < side.parts; ++part)
                    to[k * to_step + j * to_row + part] = from[k * from_step + j * from_row + part];
    }

    std::int64_t blocks() const { return (rows_.size + rows_a_block_ - 1) / rows_a_block_; }
    std::size_t slot_bytes() const {
        std::int64_t working = lanes_       ? fourier_work(points_, kernels_.lanes)
                               : transform_ ? 2 * transform_->scratch()
                                            : 0;
        std::int64_t each = 2 * points_ + (given_.along ? 0 : given_.numbers()) + (made_.along ? 0 : made_.numbers());
        return (static_cast<std::size_t>(together_ * each + working) * sizeof(R) + 63) / 64 * 64;
    }

    std::int64_t n_, points_, together_ = 1, rows_a_block_ = 1;
    bool back_, conjugate_, inverse_ = false;
    R factor_;
    Side given_, made_;
    const FourierKernels<R>& kernels_;
    std::unique_ptr<FourierLanes<R>> lanes_;
    std::unique_ptr<FourierTransform<R>> transform_;
    std::vector<R> turns_;
    Box<2> rows_;
    int slots_ = 1;
};

}  // namespace weft::cpu
