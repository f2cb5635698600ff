// Fourier transforms of all rows of an array along one axis, by all threads. How is decided by sizes and strides alone: several rows at once, one
// a lane of a vector, where they lie beside each other or are short; else row after row; of long rows each by all threads.
// Callers: backend/cpu/fourier.cpp.
#pragma once

#include "weft/backend/cpu/fourier_transform.h"
#include "weft/backend/cpu/strided.h"
#include "weft/ops/fft.h"

namespace weft::cpu {

template <class R>
class FourierRows {
  public:
    using C = std::complex<R>;
    FourierRows(const FourierAttributes& a, const Layout& input, const Layout& output, std::int64_t count)
        : count_(count),
          stride_(input.strides[static_cast<std::size_t>(a.axis)]),
          result_stride_(output.strides[static_cast<std::size_t>(a.axis)]),
          inverse_(a.inverse),
          factor_(static_cast<R>(a.factor)),
          kernels_(fourier_kernels<R>()) {
        auto axis = static_cast<std::size_t>(a.axis);
        Dims dims = input.dims, to = output.strides, from = input.strides;
        dims.erase(axis), to.erase(axis), from.erase(axis);
        rows_ = Box<2>(dims, {to, from});
        if (count_ == 0 || rows_.size == 0) return;
        if (by_lanes())
            lanes_ = std::make_unique<FourierLanes<R>>(count_);
        else
            transform_ = std::make_unique<FourierTransform<R>>(count_, inverse_, factor_);
        together_ = lanes_ ? kernels_.lanes : lies_along() ? 1 : 8;  // rows beside each other share lines of a cache
        rows_a_block_ = together_ * std::max<std::int64_t>(1, block_elements / 8 / (together_ * count_));
        slots_ = static_cast<int>(
            std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), ThreadPool::instance().threads())));
        if (long_rows()) slots_ = ThreadPool::instance().threads();
    }
    std::size_t scratch_bytes() const {
        return static_cast<std::size_t>(slots_) * slot_bytes() + (long_rows() ? middle_bytes() : 0);
    }

    void run(const C* from, C* to, std::byte* scratch) const {
        if (count_ == 0 || rows_.size == 0) return;
        if (long_rows()) return run_long_rows(from, to, scratch);
        parallel_for(
            blocks(),
            [&](std::int64_t block, int slot) {
                auto* work = reinterpret_cast<C*>(scratch + static_cast<std::size_t>(slot) * slot_bytes());
                std::int64_t first = block * rows_a_block_, last = std::min(rows_.size, first + rows_a_block_);
                rows_.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t rows) {
                    for (std::int64_t i = 0; i < rows; i += together_)
                        transform_rows(from + at[1] + i * rows_.inner(1), to + at[0] + i * rows_.inner(0),
                                       std::min(together_, rows - i), work);
                });
            },
            slots_);
    }

  private:
    // In numbers. Lanes side by side pay while a group of them stays in the second-level cache; those that are turned, for rows that alone would
    // leave lanes empty.
    static constexpr std::int64_t long_row = 1 << 15, most_beside = 1 << 13, most_along = 128, most_ragged = 1 << 11;
    static constexpr std::int64_t widest = 64 / sizeof(R);  // lanes of the widest set, so that all sets do the same

    bool lies_along() const { return stride_ == 1 && result_stride_ == 1; }
    bool long_rows() const { return transform_ && count_ >= long_row && transform_->parted() && lies_along(); }
    bool by_lanes() const {
        if (!FourierLanes<R>::takes(count_) || rows_.dims.back() < widest / 2) return false;
        if (!lies_along()) return count_ <= most_beside;
        return count_ <= (count_ % (widest * widest) == 0 ? most_along : most_ragged);
    }

    void transform_rows(const C* from, C* to, std::int64_t rows, C* work) const {
        if (lanes_) return transform_lanes(from, to, rows, work);
        if (lies_along()) return transform_->run(from, to, work);
        C* buffer = work + transform_->scratch();
        copy_rows(buffer, 1, count_, from, stride_, rows_.inner(1), rows);
        for (std::int64_t j = 0; j < rows; ++j) transform_->run(buffer + j * count_, work);
        copy_rows(to, result_stride_, rows_.inner(0), buffer, 1, count_, rows);
    }
    void transform_lanes(const C* from, C* to, std::int64_t rows, C* work) const {
        auto order = [](std::int64_t point, std::int64_t lane) {
            return lane == 1 ? FourierOrder::beside : point == 1 ? FourierOrder::along : FourierOrder::anyhow;
        };
        std::int64_t lane = rows_.inner(1), result_lane = rows_.inner(0);
        auto* in = const_cast<R*>(reinterpret_cast<const R*>(from));  // only read
        kernels_.transform(lanes_->passes(), {in, 2 * stride_, 2 * lane, order(stride_, lane), inverse_},
                           {reinterpret_cast<R*>(to), 2 * result_stride_, 2 * result_lane,
                            order(result_stride_, result_lane), inverse_, nullptr, factor_},
                           rows, reinterpret_cast<R*>(work));
    }
    void run_long_rows(const C* from, C* to, std::byte* scratch) const {
        auto* middle = reinterpret_cast<R*>(scratch + static_cast<std::size_t>(slots_) * slot_bytes());
        auto work = [&](int slot) {
            return reinterpret_cast<R*>(scratch + static_cast<std::size_t>(slot) * slot_bytes());
        };
        auto transform = [&](const C* row, C* result) {
            parallel_for(
                transform_->column_groups(),
                [&](std::int64_t group, int slot) { transform_->run_columns(group, row, middle, work(slot)); }, slots_);
            parallel_for(
                transform_->row_groups(),
                [&](std::int64_t group, int slot) { transform_->run_rows(group, middle, result, work(slot)); }, slots_);
        };
        rows_.walk([&](const std::array<std::int64_t, 2>& at, std::int64_t rows) {
            for (std::int64_t i = 0; i < rows; ++i)
                transform(from + at[1] + i * rows_.inner(1), to + at[0] + i * rows_.inner(0));
        });
    }
    void copy_rows(C* to, std::int64_t step_to, std::int64_t row_to, const C* from, std::int64_t step_from,
                   std::int64_t row_from, std::int64_t rows) const {
        if (rows == 1) return copy_run(to, step_to, from, step_from, count_);
        for (std::int64_t k = 0; k < count_; ++k)
            for (std::int64_t j = 0; j < rows; ++j) to[k * step_to + j * row_to] = from[k * step_from + j * row_from];
    }

    std::int64_t blocks() const { return (rows_.size + rows_a_block_ - 1) / rows_a_block_; }
    static std::size_t whole_lines(std::int64_t numbers) {
        return (static_cast<std::size_t>(numbers) * sizeof(C) + 63) / 64 * 64;
    }
    std::size_t middle_bytes() const { return whole_lines(transform_->middle_numbers()); }
    std::size_t slot_bytes() const {
        if (lanes_) return whole_lines(fourier_work(count_, kernels_.lanes) / 2);
        if (!transform_) return 0;
        if (long_rows()) return whole_lines(transform_->work_numbers());
        return whole_lines(transform_->scratch() + (lies_along() ? 0 : together_ * count_));
    }

    std::int64_t count_, stride_, result_stride_, together_ = 1, rows_a_block_ = 1;
    bool inverse_;
    R factor_;
    const FourierKernels<R>& kernels_;
    std::unique_ptr<FourierLanes<R>> lanes_;
    std::unique_ptr<FourierTransform<R>> transform_;
    Box<2> rows_;
    int slots_ = 1;
};

}  // namespace weft::cpu
