// What the debug modes do (runtime/debug.h).
#include "weft/runtime/debug.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>

#include "weft/check/compare.h"
#include "weft/check/rewrites.h"
#include "weft/compile/binding.h"
#include "weft/graph/graph.h"
#include "weft/runtime/executor.h"

namespace weft {
namespace {

std::optional<std::size_t> first_not_finite(const Array& array) {
    if (!is_inexact(array.dtype)) return std::nullopt;
    std::vector<double> values = as_doubles(array);
    auto at = std::find_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
    if (at == values.end()) return std::nullopt;
    return static_cast<std::size_t>(at - values.begin()) / (is_complex(array.dtype) ? 2 : 1);
}

// A program with the value of every entry, computed an operation at a time, as it was written.
class Unfolded {
  public:
    explicit Unfolded(std::span<const Tensor> tensors) {
        std::vector<Node*> outputs;
        for (const Tensor& tensor : tensors) outputs.push_back(tensor.node());
        Graph first = gather(outputs);
        std::vector<Node*> all;
        for (const Graph::Entry& entry : first.entries) all.push_back(entry.node);
        graph_ = gather(all);
        auto plan = std::make_shared<const Plan>(make_plan(graph_, {.fuse = false}));
        values_ = run_once(weft::bind(plan, graph_, cpu_compiler()), graph_);
        of_entry_.resize(graph_.entries.size());
        for (std::size_t i = 0; i < graph_.outputs.size(); ++i)
            of_entry_[static_cast<std::size_t>(graph_.outputs[i])] = i;
    }

    void name_what_is_not_finite() const {
        for (std::size_t e = 0; e < graph_.entries.size(); ++e) {
            std::optional<std::size_t> at = first_not_finite(value(e));
            if (!at) continue;
            const Node& node = *graph_.entries[e].node;
            bool inherited = false;
            for (std::int32_t input : graph_.inputs(static_cast<std::int32_t>(e)))
                inherited |= first_not_finite(value(static_cast<std::size_t>(input))).has_value();
            if (inherited) continue;
            double made = as_doubles(value(e))[*at * (is_complex(node.dtype) ? 2 : 1)];
            if (graph_.entries[e].leaf)
                throw ValueError(text("debug mode nan: ", node.operation->name, " ", node.dtype, " ", node.shape,
                                      " holds ", made, " at element ", *at, ", and a result does so too",
                                      place(node.where)));
            throw ValueError(text("debug mode nan: ", node.operation->name, " ", node.dtype, " ", node.shape, " gives ",
                                  made, " at element ", *at, operands_at(e, *at), place(node.where)));
        }
    }

    void print() const {
        std::ostringstream out;
        for (std::size_t e = 0; e < graph_.entries.size(); ++e) {
            const Node& node = *graph_.entries[e].node;
            out << "%" << e << " = " << node.operation->name;
            for (std::int32_t input : graph_.inputs(static_cast<std::int32_t>(e))) out << " %" << input;
            out << "  " << node.dtype << " " << node.shape << range_of(value(e));
            if (node.where.line()) out << "  " << node.where.file_name() << ":" << node.where.line();
            out << '\n';
        }
        std::cerr << out.str();
    }

  private:
    const Array& value(std::size_t entry) const { return values_[of_entry_[entry]]; }

    // The operands' numbers at an element of an elementwise result; of others, how many there are.
    std::string operands_at(std::size_t entry, std::size_t element) const {
        std::string out = ", from finite numbers";
        if (graph_.entries[entry].node->operation->family != Family::elementwise) return out;
        const char* before = ": ";
        for (std::int32_t input : graph_.inputs(static_cast<std::int32_t>(entry))) {
            const Array& from = value(static_cast<std::size_t>(input));
            Array spread = broadcast(from, value(entry).dims);
            if (is_complex(spread.dtype)) return out;
            out += text(before, as_doubles(spread)[element]), before = ", ";
        }
        return out;
    }

    static Array broadcast(const Array& from, const Dims& dims) {
        Array spread = from;
        spread.dims = dims;
        spread.strides = Dims(dims.size(), 0);
        for (std::size_t i = 0; i < from.dims.size(); ++i) {
            std::size_t axis = dims.size() - from.dims.size() + i;
            if (from.dims[i] != 1) spread.strides[axis] = from.strides[i];
        }
        return spread;
    }

    static std::string range_of(const Array& array) {
        if (is_complex(array.dtype) || array.size() == 0) return "";
        std::vector<double> values = as_doubles(array);
        double low = values[0], high = values[0], sum = 0;
        for (double x : values) low = std::min(low, x), high = std::max(high, x), sum += x;
        if (values.size() == 1) return text("  = ", low);
        return text("  ", low, " .. ", high, ", mean ", sum / static_cast<double>(values.size()));
    }

    Graph graph_;
    std::vector<Array> values_;
    std::vector<std::size_t> of_entry_;
};

}  // namespace

void debug_run(std::span<const Tensor> tensors, std::span<const Array> results) {
    if (debug_modes().trace) Unfolded(tensors).print();
    if (debug_modes().rewrites) {
        std::vector<std::string> wrong = check_rewrites(tensors);
        if (!wrong.empty()) throw InternalError("debug mode rewrites: " + wrong[0]);
    }
    bool finite =
        std::none_of(results.begin(), results.end(), [](const Array& a) { return first_not_finite(a).has_value(); });
    if (debug_modes().nan && !finite) Unfolded(tensors).name_what_is_not_finite();
}

}  // namespace weft
