// A vector of small matrices at a time.
#include "weft/backend/cpu/isa/small_matrices.h"

#include "weft/backend/cpu/isa/small_matrix.h"
#include "weft/backend/cpu/isa/vector_bytes.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class T>
constexpr SmallMatrices<T> table() {
    constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
    return {lanes, Small<T, lanes>::factor};
}

}  // namespace

const SmallMatrices<float> small_matrices_32 = table<float>();
const SmallMatrices<double> small_matrices_64 = table<double>();

}  // namespace weft::cpu::WEFT_ISA
