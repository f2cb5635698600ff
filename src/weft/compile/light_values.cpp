#include "weft/compile/light_values.h"

#include <algorithm>

namespace weft {
namespace {

constexpr std::ptrdiff_t most_instructions = 2;

class LightValues {
  public:
    LightValues(Step& rows, Plan& plan, const Graph& graph) : rows_(rows), plan_(plan), graph_(graph) {}

    void spread(StepMaker& maker) {
        for (std::size_t p = 0; p < rows_.parts.size();) {
            const Step& part = rows_.parts[p];
            if (!stays_inside(part) || !light(part) || !readers_can_make(part)) {
                ++p;
                continue;
            }
            std::int32_t entry = part.members[0];
            rows_.parts.erase(rows_.parts.begin() + static_cast<std::ptrdiff_t>(p));
            for (Step& reader : rows_.parts)
                if (contains(reader.loads, entry)) maker.compute_within(reader, entry);
        }
    }

  private:
    const Shape& space(const Step& part) const { return graph_.node(part.space).shape; }

    bool stays_inside(const Step& part) const {
        return part.kind == Step::map && part.leading == rows_.leading && part.stores.size() == 1 &&
               contains(rows_.inside, part.stores[0]);
    }

    bool light(const Step& part) const {
        if (part.members.size() != 1 || !part.indexed.empty()) return false;
        std::size_t arrays = 0;
        for (std::int32_t load : part.loads) {
            if (graph_.node(load).shape != space(part)) continue;
            if (size_of(graph_.node(load).dtype) > size_of(graph_.node(part.space).dtype)) return false;
            ++arrays;
        }
        std::ptrdiff_t instructions = 0;
        for (const Instruction& at : part.program.code) {
            bool slow = at.opcode == Opcode::call || at.opcode == Opcode::divide || at.opcode == Opcode::square_root;
            if (slow) return false;
            instructions += at.opcode != Opcode::input && at.opcode != Opcode::constant;
        }
        return arrays == 1 && instructions <= most_instructions;
    }

    // Whether all parts that read what `made` stores are loops over the same points that read it as it is.
    bool readers_can_make(const Step& made) const {
        for (const Step& part : rows_.parts) {
            for (std::int32_t load : part.loads) {
                if (slot_below(plan_, load) != made.stores[0]) continue;
                bool loop = part.kind == Step::map || part.kind == Step::reduce;
                bool as_it_is = load == made.members[0] && part.indexed.empty() && space(part) == space(made);
                if (!loop || !as_it_is) return false;
            }
        }
        return true;
    }

    Step& rows_;
    Plan& plan_;
    const Graph& graph_;
};

}  // namespace

void spread_light_values(Step& rows, Plan& plan, const Graph& graph, StepMaker& maker) {
    LightValues(rows, plan, graph).spread(maker);
}

}  // namespace weft
