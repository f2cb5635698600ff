// Plans as text: what each step computes, reads and writes, and why neighbours are not one.
#include <sstream>

#include "weft/base/integers.h"
#include "weft/compile/plan.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

std::string_view name_of(Step::Kind kind) {
    switch (kind) {
        case Step::map:
            return "map";
        case Step::reduce:
            return "reduction";
        case Step::scan:
            return "scan";
        case Step::scatter:
            return "scatter";
        case Step::copy:
            return "copy";
        case Step::library:
            return "library";
        case Step::loop:
            return "loop";
        case Step::rows:
            return "row blocks";
    }
    __builtin_unreachable();
}

class PlanPrinter {
  public:
    PlanPrinter(const Plan& plan, const Graph& graph) : plan_(plan), graph_(graph), step_of_(graph.entries.size(), -1) {
        for (std::size_t s = 0; s < plan.steps.size(); ++s)
            for (std::int32_t e : plan.steps[s].members)
                if (step_of_[at(e)] < 0)
                    step_of_[at(e)] = static_cast<std::int32_t>(s);  // the first: others make it again
    }

    std::string print() {
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) print_step(s, plan_.steps[s]);
        return out_.str();
    }

    std::string why_apart(std::int32_t input, std::int32_t e) const {
        if (plan_.places[at(memory_below(plan_, input))].kind == Place::made) return "it is made where it is read";
        if (step_of_[at(input)] < 0 || step_of_[at(e)] < 0) return "it is read where it lies: nothing computes it";
        if (step_of_[at(input)] == step_of_[at(e)]) return "they are one";
        for (std::int32_t one : {input, e}) {
            Family family = node(one).operation->family;
            if (family == Family::contraction && one == input)
                return text(node(one).operation->name, " is a library's kernel, and they share no rows");
            if (family == Family::scatter && plan_.steps[at(step_of_[at(one)])].kind == Step::scatter)
                return text(node(one).operation->name,
                            one == input ? " is joined where indices say: its loop gives no points to others"
                                         : " finds it in memory: it is what is changed, or says where");
            if (family != Family::elementwise && family != Family::reduce && family != Family::scan)
                return text(node(one).operation->name, " is a library's kernel");
        }
        if (node(input).operation->family == Family::scan)
            return text(node(input).operation->name, " is stored as it runs: its loop gives no points to others");
        if (node(input).operation->family == Family::reduce)
            return text(node(input).operation->name, " ends only when all of it is read, and they share no rows");
        if (!(node(input).shape == space_of(e)))
            return text(node(input).operation->name, " is computed once for each of ", node(input).shape,
                        ", not for each of ", space_of(e));
        if (node(e).operation->family == Family::reduce || node(e).operation->family == Family::scan)
            return "others read the value too, so it is written to memory";
        if (plan_.steps[at(step_of_[at(e)])].members.size() >= PartitionOptions{}.longest)
            return "the kernel is long enough";
        return "another value between them passes through memory first";
    }

  private:
    const Node& node(std::int32_t e) const { return graph_.node(e); }
    const Shape& space_of(std::int32_t e) const {
        return node(e).operation->family == Family::reduce ? node(graph_.inputs(e)[0]).shape : node(e).shape;
    }

    bool makes_first(std::int32_t e, std::size_t s) const { return step_of_[at(e)] == static_cast<std::int32_t>(s); }

    void print_step(std::size_t s, const Step& step) {
        out_ << s << ": ";
        print_members(step);
        if (step.kind == Step::copy) out_ << " of %" << step.space;
        if (step.kind == Step::rows) out_ << ", in " << step.parts.size() << " parts over " << rows_of(step);
        for (const Step& part : step.parts) out_ << "\n   | ", print_members(part);
        print_loads(step);
        bool again = !step.members.empty() && !makes_first(step.members.back(), s);
        out_ << "; writes";
        for (std::int32_t slot : step.stores) out_ << " %" << plan_.slots[at(slot)].entry;
        out_ << (again ? ", made again\n" : "\n");
        for (std::int32_t e : step.members) {
            if (!makes_first(e, s)) continue;
            for (std::int32_t input : graph_.inputs(e)) {
                if (step_of_[at(input)] < 0 || step_of_[at(input)] == static_cast<std::int32_t>(s)) continue;
                out_ << "   apart from step " << step_of_[at(input)] << " (%" << input << "): " << why_apart(input, e)
                     << '\n';
            }
        }
    }

    void print_loads(const Step& step) {
        std::string read, made;
        for (std::int32_t load : step.loads) {
            std::int32_t base = memory_below(plan_, load);
            if (plan_.places[at(base)].kind == Place::made)
                made += text(made.empty() ? "; makes " : ", ", node(base).operation->name, " %", load);
            else
                read += text(" %", load);
        }
        out_ << "\n   reads" << (read.empty() ? " nothing" : read) << made;
    }

    void print_members(const Step& step) {
        out_ << (step.kind == Step::loop ? node(step.space).operation->name : name_of(step.kind));
        for (std::int32_t e : step.members)
            out_ << (e == step.members[0] ? " of " : ", ") << node(e).operation->name << " %" << e;
    }

    Shape rows_of(const Step& step) const {
        const Shape& shape = node(step.space).shape;
        return Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(step.leading));
    }

    const Plan& plan_;
    const Graph& graph_;
    std::vector<std::int32_t> step_of_;
    std::ostringstream out_;
};

}  // namespace

std::string str(const Plan& plan, const Graph& graph) { return PlanPrinter(plan, graph).print(); }

std::string why_apart(const Plan& plan, const Graph& graph, std::int32_t input, std::int32_t reader) {
    return PlanPrinter(plan, graph).why_apart(input, reader);
}

}  // namespace weft
