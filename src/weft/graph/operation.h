// The operation record: one declaration from which an operation's shape rule, value, derivative, documentation and tests follow.
// Records are constants with static lifetime; a node points to its record. Devices know families, never operations.
// Callers: ops/ (and users' programs) declare them, everything else reads them.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "weft/graph/attributes.h"
#include "weft/graph/tensor.h"
#include "weft/kernel/scalar.h"

namespace weft {

/// How an operation moves numbers: what the compiler and the devices go by.
enum class Family : std::uint8_t {
    leaf,         // an array in memory, a declared input
    constant,     // one number, known when the program is written; or positions along an axis (iota)
    elementwise,  // a Program at every point, inputs broadcast
    reduce,       // joined along axes (kernel/loop.h's Reduction)
    view,         // the same numbers, addressed otherwise
    join,         // pieces laid into one array: concatenate, pad
    scan,         // running joins along one axis
    gather,
    scatter,
    contraction,
    window,
    sort,
    random,
    factorization,  // matrices taken apart, and what is solved with them
    fourier,
    region,    // holds a program of its own that it runs: loops
    composite  // a function of other operations: has a record (documentation, tests), never a node
};
std::string_view name_of(Family family);

/// What a result is before it is computed.
struct Meta {
    Shape shape;
    DType dtype;
};

/// A range from which the test matrix draws arguments.
struct Domain {
    double low = -3, high = 3;
};

/// A call that shows an operation and tests it: how inputs look, the call, and the same in NumPy's words over x0, x1, ...
struct Sample {
    std::vector<Shape> inputs;
    std::function<Tensor(std::span<const Tensor>)> call;
    std::string_view numpy = "";     // e.g. "np.sum(x0, axis=1)"
    std::vector<DType> dtypes = {};  // of single inputs where they are not the matrix's choice: one an input
    std::int64_t index_below = 0;    // integer inputs that are indices are drawn from [0, index_below)
};

/// What vmap makes of a node's inputs (ops/batch.h).
struct Batch;

struct Operation {
    std::string_view name;
    Family family = Family::elementwise;
    int arity = 1;  // -1: any number
    std::string_view doc = "", numpy = "", torch = "";

    /// Shape and dtype from the inputs; throws a typed error that names the operation, the rule and the values.
    std::function<Meta(const Operation&, std::span<const Tensor>, const Attributes*)> infer = {};

    /// Elementwise: the value at one point.
    std::function<Scalar(std::span<const Scalar>, const Attributes*)> body = {};

    // The derivative, by exactly one of these (none: not differentiable, or only integers come out); or by jvp and transpose, where the
    // operation is linear in some inputs alone: forward mode takes jvp, reverse mode transpose, which then gives the cotangents of all.
    // Of complex numbers partials are d result / d z, which exist where the operation is holomorphic; elsewhere jvp or transpose beside
    // them hold for these. A cotangent c of z stands for the change Re(c dz), so no rule conjugates what it transposes (JAX's convention).
    /// Elementwise: d result / d input i at one point, from the inputs and the result (given last).
    std::vector<std::function<Scalar(std::span<const Scalar>)>> partials = {};
    /// Linear in input i, the others held: the cotangent of input i. `result` is the node, for its inputs and attributes.
    std::function<Tensor(const Tensor& result, std::size_t i, const Tensor& cotangent)> transpose = {};
    /// Anything else: the tangent of the result, in graph operations linear in the tangents (null: zero).
    std::function<Tensor(const Tensor& result, std::span<const Tensor> tangents)> jvp = {};
    /// transpose only: linear in all inputs together (concatenate), not in each with the others held (matmul).
    bool jointly_linear = false;

    /// vmap: what `result`, a node of one example, becomes for a whole batch of them, its new axis in front; an empty Tensor: no rule for
    /// this case. Without a rule its family's holds, and without that it is computed example by example (autodiff/batching.cpp).
    std::function<Tensor(const Tensor& result, const Batch& batch)> batch = {};
    /// Its value is its first input's: the others are there for derivatives alone, and programs know nothing of it.
    bool alias = false;

    /// Elementwise: the type in which operands meet, from their promoted type (null: that type itself).
    DType (*meet)(DType) = nullptr;
    /// Elementwise: the first operand is a condition: converted to bool, it takes no part in promotion.
    bool condition = false;
    /// Elementwise: the result's type by operand type, found once by running the body (255: not yet).
    struct Known {
        mutable std::atomic<std::uint8_t> code{255};
        Known() = default;
        Known(const Known& other) : code(other.code.load()) {}
    };
    std::array<Known, dtype_count> results = {};

    // Tests and documentation
    bool composite = false;  // the derivative follows from the body's own operations
    bool differentiable = true;
    std::vector<Domain> domain = {};  // elementwise: one an input
    /// Elementwise: of an operand above it the value may be anything, on each instruction set another.
    double defined_to = std::numeric_limits<double>::infinity();
    std::function<long double(std::span<const long double>)> oracle = {};
    double ulp = 0.5;                       // greatest error of the value, in units in the last place
    std::function<bool(DType)> takes = {};  // elementwise: input types it is defined for
    std::vector<Sample> samples = {};
};

/// Every operation of this program: weft's own, and the user's from the moment their program starts.
std::span<const Operation* const> all_operations();
const Operation* find_operation(std::string_view name);
/// Called once by each record's definition; returns true so that it can initialise a constant.
bool register_operation(const Operation& operation);
/// The same before main() begins, for a record with a name.
#define WEFT_REGISTER(record) \
    [[maybe_unused]] static const bool record##_registered = ::weft::register_operation(record)

}  // namespace weft
