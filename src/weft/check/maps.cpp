#include "weft/check/maps.h"

#include <bit>

#include "weft/autodiff/vmap.h"
#include "weft/check/cases.h"
#include "weft/check/compare.h"
#include "weft/check/derivatives.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;
using Map = std::function<Tensors(std::span<const Tensor>)>;
constexpr std::int64_t examples = 3;

bool chosen(unsigned mask, std::size_t i) { return (mask >> i & 1) != 0; }

std::vector<ExampleAxis> axes_of(unsigned mask, std::size_t count) {
    std::vector<ExampleAxis> axes(count);
    for (std::size_t i = 0; i < count; ++i)
        if (chosen(mask, i)) axes[i] = 0;
    return axes;
}

Map mapped(const Map& f, unsigned mask) {
    return [f, mask](std::span<const Tensor> x) {
        KeepPending keep;
        Vmap map(x, axes_of(mask, x.size()));
        Tensors of_one = f(map.examples());
        return map.results(of_one, std::vector<ExampleAxis>(of_one.size(), 0));
    };
}

Tensor example(const Tensor& x, std::int64_t k) {
    Shape start(x.ndim(), 0), length = x.shape();
    start[0] = k, length[0] = 1;
    return reshape(slice(x, start, length), Shape(x.shape().begin() + 1, x.shape().end()));
}

// What vmap means.
Map looped(const Map& f, unsigned mask) {
    return [f, mask](std::span<const Tensor> x) {
        std::vector<Tensors> found;
        for (std::int64_t k = 0; k < examples; ++k) {
            Tensors inputs;
            for (std::size_t i = 0; i < x.size(); ++i) inputs.push_back(chosen(mask, i) ? example(x[i], k) : x[i]);
            found.push_back(f(inputs));
        }
        Tensors results;
        for (std::size_t r = 0; r < found[0].size(); ++r) {
            Tensors pieces;
            for (const Tensors& one : found) pieces.push_back(one[r]);
            results.push_back(stack(pieces));
        }
        return results;
    };
}

// A sample's inputs, those of `mask` for all examples.
Sample batched(const Sample& sample, unsigned mask) {
    Sample wide = sample;
    for (std::size_t i = 0; i < wide.inputs.size(); ++i)
        if (chosen(mask, i)) wide.inputs[i].insert(0, examples);
    return wide;
}

bool moves(DType dtype) { return dtype == DType::float64 || dtype == DType::complex128; }

Tensors moving_of(std::span<const Tensor> x) {
    Tensors moving;
    for (const Tensor& tensor : x)
        if (moves(tensor.dtype())) moving.push_back(tensor);
    return moving;
}

Tensors fresh_inputs(std::span<const Tensor> x) {
    Tensors inputs;
    for (const Tensor& tensor : x) inputs.push_back(moves(tensor.dtype()) ? fresh(tensor) : tensor);
    return inputs;
}

// Weights that differ between elements, so that cotangents and tangents are of no special form.
Tensor weights(const Tensor& like) {
    Tensor angle = real(like) * 0.5 + 0.25;
    return is_complex(like.dtype()) ? make_complex(cos(angle), sin(angle)) : cos(angle);
}

Map reverse(const Map& f) {
    return [f](std::span<const Tensor> x) {
        KeepPending keep;
        Tensors inputs = fresh_inputs(x), outputs = f(inputs), cotangents;
        for (const Tensor& output : outputs) cotangents.push_back(stop_gradient(weights(output)));
        return pullback(outputs, cotangents, moving_of(inputs));
    };
}
Map forward(const Map& f) {
    return [f](std::span<const Tensor> x) {
        KeepPending keep;
        Tensors inputs = fresh_inputs(x), tangents;
        for (const Tensor& input : moving_of(inputs)) tangents.push_back(stop_gradient(weights(input)));
        return pushforward(f(inputs), moving_of(inputs), tangents);
    };
}

struct Case {
    std::string_view what;
    Map found, expected;
    bool exact;
};

std::string compare(const Case& c, const std::vector<Array>& arrays) {
    Tensors x = tensors_of(arrays), found = c.found(x), expected = c.expected(x);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        Array right = expected[i].array();
        // Sums are joined in another order, in derivatives one behind the other.
        double error = c.exact ? 0 : 16 * joined_error(arrays, right);
        std::string wrong =
            c.exact ? difference(right, found[i].array()) : difference(right, found[i].array(), error, error);
        if (!wrong.empty()) return text(c.what, ": ", wrong);
    }
    return "";
}

// The derivative of a mapped call is the mapped derivative, summed over the examples for what they share.
Map summed_over_shared(const Map& f, unsigned mask) {
    return [f, mask](std::span<const Tensor> x) {
        Tensors each = looped(reverse(f), mask)(x);
        for (std::size_t i = 0, k = 0; i < x.size(); ++i) {
            if (!moves(x[i].dtype())) continue;
            if (!chosen(mask, i)) each[k] = sum(each[k], 0);
            ++k;
        }
        return each;
    };
}

std::vector<Case> cases_of(const Operation& operation, const Map& f, unsigned mask, bool derivatives, bool all) {
    bool same_bits = exact(operation, DType::float64);
    if (!derivatives) return {{"mapped", mapped(f, mask), looped(f, mask), same_bits}};
    std::vector<Case> cases{{"mapped reverse derivative", mapped(reverse(f), mask), looped(reverse(f), mask), false},
                            {"mapped forward derivative", mapped(forward(f), mask), looped(forward(f), mask), false},
                            {"derivative of the map", reverse(mapped(f, mask)), summed_over_shared(f, mask), false}};
    if (all) {
        cases.push_back(
            {"mapped second derivative", mapped(reverse(reverse(f)), mask), looped(reverse(reverse(f)), mask), false});
        cases.push_back({"mapped forward over reverse", mapped(forward(reverse(f)), mask),
                         looped(forward(reverse(f)), mask), false});
    }
    return cases;
}

// The message of what fails; a derivative that is refused by name is none.
std::string run(const Case& c, const std::vector<Array>& arrays) {
    try {
        return compare(c, arrays);
    } catch (const NotDifferentiable&) {
        return "";
    } catch (const std::exception& error) {
        return text(c.what, ": threw ", error.what());
    }
}

// Of what is defined for these types, and asks for no numbers.
std::optional<DType> result_dtype(const Map& f, const Sample& sample, const std::vector<DType>& dtypes) {
    try {
        Tensors x;
        for (std::size_t i = 0; i < sample.inputs.size(); ++i) x.push_back(input("x", sample.inputs[i], dtypes[i]));
        return f(x)[0].dtype();
    } catch (const DTypeError&) {
        return {};
    } catch (const ValueError&) {
        return {};
    }
}

class MapChecker {
  public:
    explicit MapChecker(const Operation& operation) : operation_(operation), draw_(text(operation.name, " maps")) {}

    void check(const Sample& sample, const std::vector<DType>& dtypes) {
        Map f = [&](std::span<const Tensor> x) { return Tensors{sample.call(x)}; };
        std::optional<DType> result = result_dtype(f, sample, dtypes);
        if (!result) return;
        bool derivatives = has_derivative(operation_) && moves(*result) && &operation_ != &stop_gradient_operation &&
                           std::any_of(dtypes.begin(), dtypes.end(), moves);
        unsigned all = (1u << sample.inputs.size()) - 1;
        for (unsigned mask = 1; mask <= all; ++mask) {
            if (!is_tried(mask, all)) continue;
            try_all(cases_of(operation_, f, mask, false, false), batched(sample, mask), dtypes, mask);
            Case nested{"map of a map", mapped(mapped(f, mask), all), looped(looped(f, mask), all),
                        exact(operation_, DType::float64)};
            try_all({nested}, batched(batched(sample, mask), all), dtypes, mask);
            if (derivatives)
                try_all(cases_of(operation_, f, mask, true, mask == all), batched(sample, mask), dtypes, mask);
        }
    }
    Failures failures;

  private:
    // Of many inputs those alone, all but one, and all.
    static bool is_tried(unsigned mask, unsigned all) {
        constexpr int many = 5;
        int inputs = std::popcount(all), mapped = std::popcount(mask);
        return inputs < many || mapped == 1 || mapped >= inputs - 1;
    }
    void try_all(const std::vector<Case>& cases, const Sample& wide, const std::vector<DType>& dtypes, unsigned mask) {
        std::vector<Array> arrays = inputs_of(operation_, wide, dtypes, draw_);
        for (const Case& c : cases) {
            std::string wrong = run(c, arrays);
            if (!wrong.empty()) failures.push_back(text(described(operation_, arrays), ", inputs ", mask, ": ", wrong));
        }
    }
    const Operation& operation_;
    Draw draw_;
};

}  // namespace

bool can_be_mapped(const Operation& operation) {
    std::vector<Sample> samples = samples_of(operation, Shapes::few);
    return std::any_of(samples.begin(), samples.end(), [](const Sample& s) { return !s.inputs.empty(); });
}

Failures check_maps(const Operation& operation) {
    MapChecker checker(operation);
    for (const Sample& sample : samples_of(operation, Shapes::layouts)) {
        if (sample.inputs.empty()) continue;
        for (const std::vector<DType>& dtypes : dtypes_of(operation, sample)) {
            constexpr DType kinds[] = {DType::bool_, DType::int32, DType::float64,
                                       DType::complex128};  // one of each kind
            bool one_of_a_kind = sample.dtypes.empty() || is_inexact(dtypes[0]);
            if (one_of_a_kind && std::find(std::begin(kinds), std::end(kinds), dtypes[0]) == std::end(kinds)) continue;
            checker.check(sample, dtypes);
        }
    }
    return checker.failures;
}

}  // namespace weft
