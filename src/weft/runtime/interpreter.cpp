#include "weft/runtime/interpreter.h"

#include <cmath>

#include "weft/kernel/interpreter.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/scatter.h"
#include "weft/ops/sort.h"
#include "weft/ops/window.h"
#include "weft/runtime/interpreter_factorization.h"
#include "weft/runtime/interpreter_windows.h"

namespace weft {
namespace {

using oracle::Elements;
using oracle::for_each_index;
using oracle::Sum;

class LoopOracle final : public Kernel {
  public:
    explicit LoopOracle(Loop loop) : loop_(std::move(loop)) { verify(loop_); }
    std::string_view by() const override { return "interpreter"; }
    void run(void* const* operands, std::byte*) const override {
        interpret(loop_, const_cast<const void* const*>(operands), operands + loop_.loads.size());
    }

  private:
    Loop loop_;
};

template <class T>
const T* attributes_if(const Node& node) {
    auto* found = dynamic_cast<const AttributesOf<T>*>(node.attributes.get());
    return found ? &found->value : nullptr;
}

void run_constant(const Node& node, const Elements& to) {
    for_each_index(to.dims(), [&](const Dims& at) {
        auto* size = attributes_if<SizeAttributes>(node);
        Literal number = size ? Literal(size->size.value()) : attributes_if<ConstantAttributes>(node)->value;
        with_dtype(to.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::Type;
            to.at<T>(at) = number.as<T>();
        });
    });
}

template <class T>
void run_join(const Node& node, std::span<const Elements> from, const Elements& to) {
    for_each_index(to.dims(), [&](const Dims& at) {
        Dims inside = at;
        if (auto* joined = attributes_if<ConcatenateAttributes>(node)) {
            auto axis = static_cast<std::size_t>(joined->axis), piece = std::size_t{0};
            while (inside[axis] >= from[piece].dims()[axis]) inside[axis] -= from[piece++].dims()[axis];
            to.at<T>(at) = from[piece].at<T>(inside);
            return;
        }
        auto& pad = *attributes_if<PadAttributes>(node);
        bool covered = true;
        for (std::size_t i = 0; i < at.size(); ++i) {
            std::int64_t place = at[i] - pad.before[i].value.value(), step = pad.between[i] + 1;
            covered &= place >= 0 && place % step == 0 && place / step < from[0].dims()[i];
            inside[i] = place / step;
        }
        to.at<T>(at) = covered ? from[0].at<T>(inside) : pad.value.as<T>();
    });
}

std::int64_t wrapped(const Node& node, std::int64_t index, std::int64_t axis, std::int64_t size) {
    if (index < -size || index >= size)
        throw IndexError(
            text(node.operation->name, ": index ", index, " is out of bounds for axis ", axis, " of size ", size));
    return index < 0 ? index + size : index;
}

// Of a place `at` in the gathered shape: where it points to in an array of sizes `dims`.
Dims pointed(const Node& node, const Dims& at, const Dims& dims, std::int64_t axis, bool along,
             std::span<const Elements> indices) {
    auto first = static_cast<std::size_t>(axis);
    Dims result;
    if (along) {
        result = at;
        result[first] = wrapped(node, indices[0].at<std::int64_t>(at), axis, dims[first]);
        return result;
    }
    std::size_t wide = indices[0].dims().size();
    for (std::size_t i = 0; i < first; ++i) result.push_back(at[i]);
    Dims place(at.begin() + first, at.begin() + first + wide);
    for (const Elements& index : indices) {
        auto here = static_cast<std::int64_t>(result.size());
        result.push_back(wrapped(node, index.at<std::int64_t>(place), here, dims[result.size()]));
    }
    for (std::size_t i = first + wide; i < at.size(); ++i) result.push_back(at[i]);
    return result;
}

void check_all(const Node& node, const Dims& dims, std::int64_t axis, std::span<const Elements> indices) {
    for (const Elements& index : indices) {
        for_each_index(index.dims(), [&](const Dims& at) {
            (void)wrapped(node, index.at<std::int64_t>(at), axis, dims[static_cast<std::size_t>(axis)]);
        });
        ++axis;
    }
}

template <class T>
void run_gather(const Node& node, std::span<const Elements> from, const Elements& to) {
    auto& a = *attributes_if<GatherAttributes>(node);
    check_all(node, from[0].dims(), a.axis, from.subspan(1));
    for_each_index(to.dims(), [&](const Dims& at) {
        to.at<T>(at) = from[0].at<T>(pointed(node, at, from[0].dims(), a.axis, a.along, from.subspan(1)));
    });
}

template <class T>
void run_scatter(const Node& node, std::span<const Elements> from, const Elements& to) {
    auto& a = *attributes_if<ScatterAttributes>(node);
    check_all(node, to.dims(), a.axis, from.subspan(2));
    for_each_index(to.dims(), [&](const Dims& at) { to.at<T>(at) = from[0].at<T>(at); });
    for_each_index(from[1].dims(), [&](const Dims& at) {
        T update = from[1].at<T>(at);
        T& element = to.at<T>(pointed(node, at, to.dims(), a.axis, a.along, from.subspan(2)));
        if (a.mode == ScatterMode::set) element = update;
        if (a.mode == ScatterMode::add) element = joined_sum(element, update);
        if constexpr (!oracle::is_complex<T>) {
            bool nan = element != element;
            if (a.mode == ScatterMode::maximum && !nan && (update > element || update != update)) element = update;
            if (a.mode == ScatterMode::minimum && !nan && (update < element || update != update)) element = update;
        }
    });
}

template <class T>
bool is_nan(T x) {
    if constexpr (oracle::is_complex<T>)
        return is_nan(x.real()) || is_nan(x.imag());
    else
        return x != x;
}

// Whether a stands before b.
template <class T>
bool precedes(T a, T b, bool descending) {
    if constexpr (oracle::is_complex<T>) {
        if (precedes(a.real(), b.real(), descending)) return true;
        return !precedes(b.real(), a.real(), descending) && precedes(a.imag(), b.imag(), descending);
    } else {
        if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
        return descending ? a > b : a < b;
    }
}

/// put(at, position, value) for each place of the result along an axis, in order, the first of them being the `first` of all, where position is the place of the input.
template <class T, class Put>
void in_order(std::int64_t along, bool descending, const Elements& from, const Elements& to, Put&& put,
              std::int64_t first = 0) {
    auto axis = static_cast<std::size_t>(along);
    Dims lanes = to.dims();
    std::int64_t n = from.dims()[axis], wanted = lanes[axis];
    lanes[axis] = wanted == 0 ? 0 : 1;
    for_each_index(lanes, [&](Dims at) {
        auto element = [&](std::int64_t i) -> T { return at[axis] = i, from.at<T>(at); };
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < n; ++i) {  // insertion, behind equal ones
            auto place = order.end();
            while (place != order.begin() && precedes(element(i), element(*(place - 1)), descending)) --place;
            order.insert(place, i);
        }
        for (std::int64_t i = 0; i < wanted; ++i) {
            std::int64_t place = order[static_cast<std::size_t>(first + i)];
            T value = element(place);
            at[axis] = i, put(at, place, value);
        }
    });
}

template <class T>
void run_search(const SearchAttributes& a, const Elements& row, const Elements& values, const Elements& to) {
    for_each_index(to.dims(), [&](const Dims& at) {
        std::int64_t place = 0;
        T value = values.at<T>(at);
        for (; place < row.dims()[0]; ++place) {
            T there = row.at<T>({place});
            if (a.right ? precedes(value, there, false) : !precedes(there, value, false)) break;
        }
        to.at<std::int64_t>(at) = place;
    });
}

/// NaN to all of a lane of the result whose elements hold one.
template <class T>
void spread_nan(std::int64_t axis, const Elements& from, const Elements& to) {
    if constexpr (!oracle::is_complex<T> && !std::is_integral_v<T>) {
        for_each_index(from.dims(), [&](Dims at) {
            if (!is_nan(from.at<T>(at))) return;
            for (std::int64_t i = 0; i < to.dims()[static_cast<std::size_t>(axis)]; ++i)
                at[static_cast<std::size_t>(axis)] = i,
                to.at<T>(at) = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
        });
    }
}

template <class T>
void run_sort(const Node& node, std::span<const Elements> from, const Elements& to) {
    if (auto* sort = attributes_if<SortAttributes>(node)) {
        in_order<T>(
            sort->axis, sort->descending, from[0], to,
            [&](const Dims& at, std::int64_t, T value) { to.at<T>(at) = value; }, sort->first);
        if (sort->nan_spreads) spread_nan<T>(sort->axis, from[0], to);
        return;
    }
    if (auto* order = attributes_if<ArgsortAttributes>(node);
        order && wanted_positions(*order, from[0].dims()[static_cast<std::size_t>(order->axis)]) >= 0)
        in_order<T>(order->axis, order->descending, from[0], to,
                    [&](const Dims& at, std::int64_t place, T) { to.at<std::int64_t>(at) = place; });
    else
        run_search<T>(*attributes_if<SearchAttributes>(node), from[0], from[1], to);
}

template <class T>
void run_matmul(const Node& node, const Elements& a, const Elements& b, const Elements& to) {
    auto read = [rounded = precision_of(node) == MatmulPrecision::bfloat16](const Elements& from, const Dims& at) {
        if constexpr (std::is_same_v<T, float>)
            if (rounded) return static_cast<float>(BFloat16(from.at<T>(at)));
        return from.at<T>(at);
    };
    std::size_t row = to.dims().size() - 2, column = row + 1;
    for_each_index(to.dims(), [&](const Dims& at) {
        Sum<T> sum;
        Dims left = at, right = at;
        for (std::int64_t k = 0; k < a.dims()[column]; ++k) {
            left[column] = right[row] = k;
            sum.add_product(read(a, left), read(b, right));
        }
        to.at<T>(at) = sum.result();
    });
}

class LibraryOracle final : public Kernel {
  public:
    LibraryOracle(const Node& node, std::span<const Layout> inputs, const Layout& output)
        : family_(node.operation->family), inputs_(inputs.begin(), inputs.end()), output_(output) {
        node_.operation = node.operation;
        node_.attributes = node.attributes;
    }
    std::string_view by() const override { return "interpreter"; }

    void run(void* const* operands, std::byte*) const override {
        std::vector<Elements> from;
        for (std::size_t i = 0; i < inputs_.size(); ++i) from.emplace_back(inputs_[i], operands[i]);
        Elements to(output_, operands[inputs_.size()]);
        if (family_ == Family::constant) return run_constant(node_, to);
        if (family_ == Family::factorization) return oracle::run_factorization(node_, from, to);
        if (family_ == Family::fourier) return oracle::run_fourier(node_, from[0], to);
        with_dtype(family_ == Family::sort ? inputs_[0].dtype : output_.dtype, [&](auto tag) {
            using T = typename decltype(tag)::Type;
            switch (family_) {
                case Family::join:
                    return run_join<T>(node_, from, to);
                case Family::gather:
                    return run_gather<T>(node_, from, to);
                case Family::scatter:
                    return run_scatter<T>(node_, from, to);
                case Family::sort:
                    return run_sort<T>(node_, from, to);
                case Family::contraction:
                    return run_matmul<T>(node_, from[0], from[1], to);
                case Family::window:
                    return oracle::run_window<T>(*attributes_if<WindowAttributes>(node_), from, to);
                default:
                    throw InternalError(text(node_.operation->name, ": the interpreter has no kernel for the family ",
                                             name_of(family_)));
            }
        });
    }

  private:
    Family family_;
    Node node_{Room::none};
    std::vector<Layout> inputs_;
    Layout output_;
};

}  // namespace

std::unique_ptr<Kernel> InterpreterCompiler::loop(Loop loop, bool) const {
    return std::make_unique<LoopOracle>(std::move(loop));
}

std::unique_ptr<Kernel> InterpreterCompiler::library(const Node& node, std::span<const Layout> inputs,
                                                     const Layout& output, const KernelUse&) const {
    return std::make_unique<LibraryOracle>(node, inputs, output);
}

}  // namespace weft
