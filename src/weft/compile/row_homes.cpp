#include "weft/compile/row_homes.h"

#include <algorithm>

#include "weft/compile/in_place.h"
#include "weft/compile/step_kernels.h"

namespace weft {
namespace {

/// A product, or a loop with exponentials or the like.
bool computes_much(const Step& part) { return part.kind == Step::library || part.program.computes_much(); }

class Homes {
  public:
    Homes(const Plan& plan, const Graph& graph, const Views& views, const Step& step)
        : plan_(plan), graph_(graph), views_(views), step_(step) {}

    /// The part that makes `guest`, if what part p stores may be its home; else nothing.
    const Step* maker(std::size_t p, std::int32_t home, std::int32_t guest) const {
        const Step& part = step_.parts[p];
        if (!contains(step_.inside, guest) || !fits(guest, home)) return nullptr;
        if (!may_write_over(plan_, graph_, views_, part, home, {Base::arena, guest})) return nullptr;
        const Step* made = nullptr;
        for (std::size_t other = 0; other < step_.parts.size(); ++other) {
            const Step& at = step_.parts[other];
            if (other > p && reads(at, guest)) return nullptr;
            if (other < p && reads(at, home)) return nullptr;
            if (other != p && contains(at.stores, home)) return nullptr;
            if (!contains(at.stores, guest)) continue;
            if (made || other >= p || at.leading != step_.leading) return nullptr;
            made = &at;
        }
        return made;
    }

  private:
    /// The home has room for all of the guest, of which its reader may take less: the first columns of a row alone, or none at all.
    bool fits(std::int32_t guest, std::int32_t home) const {
        auto bytes = [&](std::int32_t slot) {
            Layout layout = slot_layout(plan_, graph_, views_, slot);
            return element_count(layout.dims) * static_cast<std::int64_t>(size_of(layout.dtype));
        };
        return bytes(guest) <= bytes(home);
    }
    bool reads(const Step& part, std::int32_t slot) const {
        return std::any_of(part.loads.begin(), part.loads.end(),
                           [&](std::int32_t load) { return slot_below(plan_, load) == slot; });
    }

    const Plan& plan_;
    const Graph& graph_;
    const Views& views_;
    const Step& step_;
};

}  // namespace

std::map<std::int32_t, std::int32_t> row_homes(const Plan& plan, const Graph& graph, const Views& views,
                                               const Step& step,
                                               const std::function<bool(std::int32_t slot, bool much)>& home) {
    std::map<std::int32_t, std::int32_t> homes;
    Homes of(plan, graph, views, step);
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
        const Step& part = step.parts[p];
        if (part.kind != Step::map || part.leading != step.leading) continue;
        for (std::int32_t slot : part.stores) {
            if (!contains(step.stores, slot)) continue;
            for (std::int32_t load : part.loads) {
                std::int32_t guest = slot_below(plan, load);
                const Step* maker = homes.contains(guest) ? nullptr : of.maker(p, slot, guest);
                if (!maker || !home(slot, computes_much(*maker))) continue;
                homes.emplace(guest, slot);
                break;
            }
        }
    }
    return homes;
}

}  // namespace weft
