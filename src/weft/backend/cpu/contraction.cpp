#include "weft/ops/contraction.h"

#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/gemm.h"
#include "weft/backend/cpu/strided.h"
#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

ProductType product_type(const Node& node, const Layout& output) { return {output.dtype, precision_of(node).parts()}; }

// matmul of (batch..., m, k) and (batch..., k, n). gemm wants C's columns side by side: a result that lies the other way is
// computed transposed, one that lies otherwise in scratch, and copied. So is one that takes less time transposed.
class Matmul final : public Kernel {
  public:
    Matmul(const Node& node, std::span<const Layout> inputs, const Layout& result, const KernelUse& use)
        : type_(product_type(node, result)) {
        std::size_t batch = result.dims.size() - 2;
        Layout a = inputs[0], output = result;
        const Layout& b = inputs[1];
        if (batch > 0) take_longer_rows(a, b, output);
        m_ = output.dims[batch], n_ = output.dims[batch + 1], k_ = a.dims[batch + 1];
        batches_ = Box<3>(part(output.dims, 0, batch),
                          {part(output.strides, 0, batch), part(a.strides, 0, batch), part(b.strides, 0, batch)});
        a_ = {nullptr, a.strides[batch], a.strides[batch + 1]};
        b_ = {nullptr, b.strides[batch], b.strides[batch + 1]};
        row_ = output.strides[batch], column_ = output.strides[batch + 1];
        bool turned = column_ != 1 && n_ != 1 && (row_ == 1 || m_ == 1);
        // A vector from the left reads the rows of a transposed matrix side by side.
        bool from_left = n_ == 1 && m_ != 1 && row_ == 1 && a_.row_stride == 1 && a_.column_stride != 1;
        bool other_way = column_ == 1 && !use.block && !use.kept && batches_.size == 1 &&
                         gemm_better_turned(type_, m_, n_, k_, a_, b_);
        if (turned || from_left || other_way) {
            a_ = {nullptr, b.strides[batch + 1], b.strides[batch]};
            b_ = {nullptr, a.strides[batch + 1], a.strides[batch]};
            swapped_ = true;
            std::swap(m_, n_), std::swap(row_, column_);
        }
        plain_ = column_ == 1 || n_ == 1;
        run_ = items_ = plain_ ? batches_.dims.back() : 1;
        join_rows();
        empty_ = output.size() == 0;
        bool one_b = use.block || (use.kept && batches_.still(2));
        if (one_b && plain_ && !swapped_ && !empty_)
            shared_bytes_ = gemm_packed_bytes(type_, m_ * items_, n_, k_, a_, b_, use.kept);
        bool whole = items_ == 1 && shared_bytes_ == 0 && gemm_as_a_whole(type_, m_, n_, k_, a_, b_);
        gemm_bytes_ =
            whole ? 0 : gemm_scratch_bytes(type_, m_, shared_bytes_ > 0 ? 0 : n_, k_, items_, use.block ? 1 : 0);
        gemm_bytes_ = (gemm_bytes_ + 63) / 64 * 64;
        for (std::size_t i = 0; i < std::min<std::size_t>(use.ahead.size(), most_read_next); ++i)
            next_bytes_[next_++] = static_cast<std::int64_t>(use.ahead[i]);
        if (batches_.size == 1 && plain_ && !empty_ && shared_bytes_ == 0)
            prepared_ = small_gemm(type_, m_, n_, k_, a_, b_, row_);
    }
    std::size_t shared_bytes() const override { return shared_bytes_; }
    void share(void* const* operands, std::byte* shared) const override {
        Matrix b = b_;
        b.data = operands[1];
        gemm_pack(type_, n_, k_, b, shared);
    }
    std::string shared_format() const override {
        return text("gemm ", type_.dtype, " ", type_.parts, " parts ", n_, " x ", k_, " by ", b_.row_stride, ", ",
                    b_.column_stride);
    }
    std::size_t scratch_bytes() const override {
        return gemm_bytes_ + (plain_ ? 0 : static_cast<std::size_t>(m_ * n_) * size_of(type_.dtype));
    }
    std::string_view by() const override { return type_.parts > 0 ? "gemm bfloat16" : "gemm"; }

    void run(void* const* operands, std::byte* scratch) const override {
        if (empty_) return;
        auto at = [size = static_cast<std::int64_t>(size_of(type_.dtype))](void* operand, std::int64_t element) {
            return static_cast<std::byte*>(operand) + element * size;
        };
        std::array<ReadNext, most_read_next> next;
        for (std::size_t i = 0; i < next_; ++i) next[i] = {operands[4 + i], next_bytes_[i]};
        if (prepared_)
            return prepared_->run(operands[swapped_], operands[!swapped_], operands[2], {next.data(), next_});
        for (std::int64_t first = 0; first < batches_.size; first += run_) {
            Epilogue end{.next = {next.data(), first == 0 ? next_ : 0}};
            batches_.walk(first, first + run_, [&](const std::array<std::int64_t, 3>& from, std::int64_t) {
                multiply(at(operands[2], from[0]), at(operands[0], from[1]), at(operands[1], from[2]),
                         shared_bytes_ > 0 ? operands[3] : nullptr, end, scratch);
            });
        }
    }

  private:
    // Rows that do not follow each other evenly, as of sequences that were turned to (time, sequence, numbers): of one B for all, the few rows of
    // many products are as well the many rows of few.
    static void take_longer_rows(Layout& a, const Layout& b, Layout& output) {
        constexpr std::int64_t few = 16;
        const std::size_t row = output.dims.size() - 2, outer = row - 1;
        const std::int64_t m = output.dims[row], times = output.dims[outer];
        const bool even = a.strides[outer] == m * a.strides[row] && output.strides[outer] == m * output.strides[row];
        if (b.strides[outer] != 0 || m >= few || times <= m || m == 1 || even || output.strides.back() != 1) return;
        for (Layout* layout : {&a, &output}) {
            std::swap(layout->dims[row], layout->dims[outer]);
            std::swap(layout->strides[row], layout->strides[outer]);
        }
    }

    // One B for all of a run, and the rows of A and of C go on evenly from item to item: that is one product.
    void join_rows() {
        if (run_ <= 1 || swapped_ || batches_.inner(2) != 0) return;
        std::int64_t of_a = batches_.inner(1), of_c = batches_.inner(0);
        if (m_ != 1 && (of_a != m_ * a_.row_stride || of_c != m_ * row_)) return;
        if (m_ == 1) a_.row_stride = of_a, row_ = of_c;
        m_ *= run_;
        items_ = 1;
    }

    void multiply(void* c, const void* a, const void* b, const void* packed, const Epilogue& end,
                  std::byte* scratch) const {
        Matrix left = a_, right = b_;
        right.packed = packed;
        left.data = swapped_ ? b : a, right.data = swapped_ ? a : b;
        Scratch room{scratch, gemm_bytes_};
        if (plain_ && items_ > 1) {
            Batch batch{items_, batches_.inner(swapped_ ? 2 : 1), batches_.inner(swapped_ ? 1 : 2), batches_.inner(0)};
            return batched_gemm(type_, batch, m_, n_, k_, left, right, c, row_, false, {}, room);
        }
        if (plain_) return gemm(type_, m_, n_, k_, left, right, c, row_, false, end, room);
        std::byte* dense = scratch + gemm_bytes_;
        gemm(type_, m_, n_, k_, left, right, dense, n_, false, {}, room);
        if (row_ == 1)
            turn(c, dense);
        else
            copy_box(Box<2>({m_, n_}, {Dims{row_, column_}, Dims{n_, 1}}), type_.dtype, c, dense);
    }

    // Rows, side by side in `dense`, become columns of c: some of a few rows of c at a time, so that lines of it are written whole.
    void turn(void* c, const std::byte* dense) const {
        constexpr std::int64_t columns = 128, rows = 8;
        auto size = static_cast<std::int64_t>(size_of(type_.dtype));
        auto some = [&, turn = block_loops(best_isa()).move.turn](std::int64_t i) {
            std::int64_t first = i * columns, here = std::min(columns, m_ - first);
            for (std::int64_t row = 0; row < n_; row += rows) {
                turn(static_cast<std::byte*>(c) + (first + row * column_) * size, dense + (first * n_ + row) * size,
                     n_ * size, std::min(rows, n_ - row), here, column_, size_of(type_.dtype));
            }
        };
        parallel_for(divide_up(m_, columns), some, m_ * n_ < block_elements ? 1 : 0);
    }

    ProductType type_;
    std::int64_t m_, n_, k_, row_, column_;
    std::int64_t run_, items_;  // of the batch handed to gemm at a time: as steps of the walk, as products
    Matrix a_, b_;
    Box<3> batches_;
    std::size_t gemm_bytes_, shared_bytes_ = 0;
    bool swapped_ = false, plain_, empty_;
    std::unique_ptr<SmallGemm> prepared_;  // null: gemm decides
    std::size_t next_ = 0;                 // stretches that are read behind the product
    std::array<std::int64_t, most_read_next> next_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> contraction_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                           const KernelUse& use) {
    return std::make_unique<Matmul>(node, inputs, output, use);
}

std::int64_t contraction_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    std::size_t row = output.dims.size() - 2, column = row + 1;
    const Layout &a = inputs[0], &b = inputs[1];
    return gemm_block_rows(product_type(node, output), output.dims[row], output.dims[column], a.dims[column],
                           {nullptr, a.strides[row], a.strides[column]}, {nullptr, b.strides[row], b.strides[column]});
}

std::int64_t contraction_fewest_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    std::size_t row = output.dims.size() - 2, column = row + 1;
    return gemm_fewest_rows(product_type(node, output), output.dims[row], output.dims[column], inputs[0].dims[column]);
}

bool contraction_rows_alike(const Node& node, std::int64_t rows, std::int64_t fewer) {
    ProductType type{node.dtype, precision_of(node).parts()};
    std::int64_t n = node.shape.back().value(), k = node.inputs[0]->shape.back().value();
    // One product, if b is the same for all.
    std::int64_t m = element_count(dims_of(node.shape)) / std::max<std::int64_t>(n, 1);
    // The axis that is cut may become the rows (take_longer_rows).
    const std::int64_t least = node.shape.size() > 2 ? fewer : m / rows * fewer;
    return !gemm_maybe_by_library(type, m, n, k) && least >= gemm_fewest_rows(type, m, n, k);
}

}  // namespace weft::cpu
