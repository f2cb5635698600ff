// Small matrices, a vector of them at a time: one by one a library's call takes ten times as long as the arithmetic of 4 x 4. Which way a matrix goes
// follows from its size alone, and a lane knows nothing of the others: so its result is the same in any batch, on any thread.
#include "weft/backend/cpu/factorization_operands.h"
#include "weft/backend/cpu/isa/small_matrix.h"
#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t most_rows = 16, most_columns = 32;  // beyond, a library's blocks are as quick

bool takes(const FactorizationOperands& o) {
    if (o.dtype != DType::float32 && o.dtype != DType::float64) return false;
    if (o.problem.n > most_rows || o.result.size() == 0) return false;
    switch (o.problem.kind) {
        case Factorization::cholesky:
        case Factorization::lu:
        case Factorization::det:
        case Factorization::slogdet:
            return true;
        case Factorization::lu_solve:
        case Factorization::triangular_solve:
            return o.problem.k <= most_columns;
        default:
            return false;
    }
}

template <class T>
const SmallMatrices<T>& best_small_matrices() {
    if constexpr (std::is_same_v<T, float>)
        return WEFT_OF_BEST_ISA(small_matrices_32);
    else
        return WEFT_OF_BEST_ISA(small_matrices_64);
}

template <class T>
class SmallFactorizationKernel final : public Kernel {
  public:
    explicit SmallFactorizationKernel(const FactorizationOperands& operands)
        : o_(operands), loops_(best_small_matrices<T>()) {
        const matrix::Problem& p = o_.problem;
        problem_ = {p.kind, static_cast<int>(p.n), static_cast<int>(p.k), p.lower, p.transposed, p.unit_diagonal};
        for (std::size_t i = 0; i < o_.count; ++i) places_[i] = places_of(o_.cores[i]);
        result_places_ = places_of(o_.result);
        std::int64_t work = p.n * p.n * std::max<std::int64_t>(p.n, p.k) + 8 * p.n * p.n;
        vectors_a_block_ = std::max<std::int64_t>(1, block_elements / 4 / std::max<std::int64_t>(1, work));
        slots_ = static_cast<int>(
            std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), ThreadPool::instance().threads())));
    }

    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * slot_bytes(); }
    std::string_view by() const override { return "own factorization"; }

    void run(void* const* operands, std::byte* scratch) const override {
        parallel_for(
            blocks(),
            [&](std::int64_t block, int slot) {
                std::int64_t a_block = vectors_a_block_ * loops_.lanes;
                run_block(operands, block * a_block, std::min(o_.batch.size, (block + 1) * a_block),
                          reinterpret_cast<T*>(scratch + static_cast<std::size_t>(slot) * slot_bytes()));
            },
            slots_);
    }

  private:
    static constexpr int most_lanes = 64 / static_cast<int>(sizeof(T));

    /// Of each element, column-major.
    static std::vector<std::int64_t> places_of(const Core& core) {
        std::vector<std::int64_t> places;
        for (std::int64_t j = 0; j < core.columns; ++j)
            for (std::int64_t i = 0; i < core.rows; ++i) places.push_back(i * core.row + j * core.column);
        return places;
    }
    std::int64_t blocks() const {
        std::int64_t a_block = vectors_a_block_ * loops_.lanes;
        return (o_.batch.size + a_block - 1) / a_block;
    }
    std::size_t slot_bytes() const {
        std::size_t elements = result_places_.size();
        for (std::size_t i = 0; i < o_.count; ++i) elements += places_[i].size();
        return elements * lanes() * sizeof(T);  // of whole vectors
    }

    using Group =
        std::array<std::array<T*, most_lanes>, 4>;  // of each lane the result's matrix, then those that are read

    void run_block(void* const* operands, std::int64_t first, std::int64_t last, T* scratch) const {
        Group group;
        std::size_t lane = 0;
        o_.batch.walk(first, last, [&](std::array<std::int64_t, 4> at, std::int64_t count) {
            for (; count > 0; --count) {
                group[0][lane] = static_cast<T*>(operands[o_.result_operand()]) + at[0];
                for (std::size_t i = 0; i < o_.count; ++i)
                    group[i + 1][lane] = static_cast<T*>(operands[o_.reads[i]]) + at[i + 1];
                for (std::size_t k = 0; k < 4; ++k) at[k] += o_.batch.inner(k);
                ++first;
                if (++lane < lanes() && first < last) continue;
                run_group(group, lane, first - static_cast<std::int64_t>(lane), scratch);
                lane = 0;
            }
        });
    }

    // A few are quicker one by one than as a vector that is nearly empty.
    void run_group(const Group& group, std::size_t count, std::int64_t number, T* scratch) const {
        if (4 * count > lanes()) return run_lanes(group, 0, count, lanes(), loops_.factor, number, scratch);
        for (std::size_t l = 0; l < count; ++l)
            run_lanes(group, l, 1, 1, Small<T, 1>::factor, number + static_cast<std::int64_t>(l), scratch);
    }

    // Of the group `count` from one on, in so many lanes: those that are left hold the last matrix once more.
    void run_lanes(const Group& group, std::size_t first, std::size_t count, std::size_t lanes,
                   decltype(SmallMatrices<T>::factor) factor, std::int64_t number, T* scratch) const {
        std::array<T*, 3> in{};
        for (std::size_t i = 0; i < o_.count; ++i) {
            in[i] = scratch;
            scratch += places_[i].size() * lanes;
            for (std::size_t l = 0; l < lanes; ++l) {
                const T* from = group[i + 1][first + std::min(l, count - 1)];
                T* to = in[i] + l;
                for (std::int64_t place : places_[i]) *to = from[place], to += lanes;
            }
        }
        bool bad[most_lanes];
        factor(problem_, in[0], in[o_.count - 1], scratch, bad);
        for (std::size_t l = 0; l < count; ++l) {
            if (bad[l]) o_.refuse(refused(), number + static_cast<std::int64_t>(l));
            T* to = group[0][first + l];
            const T* from = scratch + l;
            for (std::int64_t place : result_places_) to[place] = *from, from += lanes;
        }
    }
    matrix::Outcome refused() const {
        return problem_.kind == Factorization::cholesky ? matrix::Outcome::indefinite : matrix::Outcome::singular;
    }
    std::size_t lanes() const { return static_cast<std::size_t>(loops_.lanes); }

    FactorizationOperands o_;
    const SmallMatrices<T>& loops_;
    SmallProblem problem_;
    std::array<std::vector<std::int64_t>, 3> places_;
    std::vector<std::int64_t> result_places_;
    std::int64_t vectors_a_block_ = 1;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> small_factorization_kernel(const FactorizationOperands& operands) {
    if (!takes(operands)) return nullptr;
    if (operands.dtype == DType::float32) return std::make_unique<SmallFactorizationKernel<float>>(operands);
    return std::make_unique<SmallFactorizationKernel<double>>(operands);
}

}  // namespace weft::cpu
