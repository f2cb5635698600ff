#include "weft/compile/row_numbers.h"

#include <algorithm>

#include "weft/kernel/splice.h"

namespace weft {
namespace {

// Elements of a row that is worth it, of arrays that come from far, whose turns are short (compile/row_turns.h), and of others. Layer norms of 8 to 16 MB
// of rows of 100 to 400 on an Intel of 480 MB of third-level cache took 0.87 to 0.92 of the time, of 64 1.0; of 200 x 128 and 400 x 256 1.05 to 1.15.
// Logarithms of softmaxes of rows of 100 to 256 from far took 1.01 to 1.18 on a Zen 4, of 1,024 0.97: a logarithm a row.
constexpr std::int64_t least_far_row = 100, least_row = 512, far = 1'000'000;
constexpr std::size_t most_repeated = 24;  // instructions, by each reader

class RowNumbers {
  public:
    RowNumbers(const Plan& plan, const Graph& graph, const Step& rows) : plan_(plan), graph_(graph), rows_(rows) {}

    std::optional<Step> spread() {
        std::optional<Step> found;
        for (std::size_t p = 0; p < parts().size();) {
            const Step& part = parts()[p];
            if (!makes_numbers(part) || !readers_can_make(part)) {
                ++p;
                continue;
            }
            if (!found) found = rows_, changed_ = &*found;
            Step maker = std::move(found->parts[p]);
            found->parts.erase(found->parts.begin() + static_cast<std::ptrdiff_t>(p));
            for (Step& reader : found->parts)
                if (reads(reader, maker)) make_within(reader, maker);
        }
        return found;
    }

  private:
    const std::vector<Step>& parts() const { return changed_ ? changed_->parts : rows_.parts; }
    const Shape& space(const Step& part) const { return graph_.node(part.space).shape; }
    std::int64_t length(const Step& part) const {
        const Shape& all = space(part);
        return element_count(dims_of(Shape(all.begin() + static_cast<std::ptrdiff_t>(rows_.leading), all.end())));
    }
    /// Which of the maker's numbers a load of another part is; -1: none.
    std::ptrdiff_t made(const Step& maker, std::int32_t load) const {
        auto store = std::find(maker.stores.begin(), maker.stores.end(), slot_below(plan_, load));
        return store == maker.stores.end() ? -1 : store - maker.stores.begin();
    }
    bool reads(const Step& part, const Step& maker) const {
        return std::any_of(part.loads.begin(), part.loads.end(),
                           [&](std::int32_t load) { return made(maker, load) >= 0; });
    }

    bool long_enough(const Step& part, const Step& maker) const {
        std::int64_t row = length(part), all = element_count(dims_of(space(part)));
        return row == 1 || row >= (all >= far && !maker.program.computes_much() ? least_far_row : least_row);
    }

    /// A number a row, few of them, which nobody outside reads.
    bool makes_numbers(const Step& part) const {
        if (part.kind != Step::map || part.leading != rows_.leading || !part.indexed.empty() || length(part) != 1)
            return false;
        if (part.program.code.size() > most_repeated) return false;
        return std::all_of(part.stores.begin(), part.stores.end(),
                           [&](std::int32_t slot) { return contains(rows_.inside, slot); });
    }

    /// Whether all are loops over the same rows and axes: then what the maker reads stands for the same in them. Of short rows they would make
    /// numbers about as often as elements.
    bool readers_can_make(const Step& maker) const {
        bool any = false;
        for (const Step& part : parts()) {
            if (!reads(part, maker)) continue;
            bool loop = part.kind == Step::map || (part.kind == Step::reduce && !joins_rows(part, rows_.leading));
            bool alike =
                part.leading == rows_.leading && part.indexed.empty() && space(part).size() == space(maker).size();
            if (!loop || !alike || !long_enough(part, maker)) return false;
            any = true;
        }
        return any;
    }

    void make_within(Step& reader, const Step& maker) const {
        std::vector<std::int32_t> loads;
        ProgramBuilder builder;
        std::vector<Scalar> values;  // of the loads
        auto value = [&](std::int32_t load, DType dtype) {
            auto known = std::find(loads.begin(), loads.end(), load);
            if (known != loads.end()) return values[static_cast<std::size_t>(known - loads.begin())];
            loads.push_back(load), values.push_back(builder.input(dtype));
            return values.back();
        };
        std::vector<Scalar> of_maker, of_reader;
        for (std::size_t i = 0; i < maker.loads.size(); ++i)
            of_maker.push_back(value(maker.loads[i], maker.program.inputs[i]));
        std::vector<Scalar> numbers = splice(builder, maker.program, of_maker);
        for (std::size_t i = 0; i < reader.loads.size(); ++i) {
            std::ptrdiff_t number = made(maker, reader.loads[i]);
            of_reader.push_back(number >= 0 ? numbers[static_cast<std::size_t>(number)]
                                            : value(reader.loads[i], reader.program.inputs[i]));
        }
        for (const Scalar& output : splice(builder, reader.program, of_reader)) builder.output(output);
        reader.program = builder.take(), reader.loads = std::move(loads);
        reader.members.insert(reader.members.begin(), maker.members.begin(), maker.members.end());
    }

    const Plan& plan_;
    const Graph& graph_;
    const Step& rows_;
    const Step* changed_ = nullptr;
};

}  // namespace

std::optional<Step> numbers_in_readers(const Plan& plan, const Graph& graph, const Step& rows) {
    return RowNumbers(plan, graph, rows).spread();
}

}  // namespace weft
