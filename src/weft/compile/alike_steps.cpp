#include "weft/compile/alike_steps.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/base/small_vector.h"
#include "weft/compile/step_kernels.h"

namespace weft {

/// Of one step: its entries, slots and places of memory go by the order in which they are met.
class AlikeSteps::Key {
  public:
    Key(const AlikeSteps& of, const std::function<bool(std::int32_t slot)>& owns) : of_(of), owns_(owns) {}

    std::optional<Hash128> of(const Step& step) {
        if (!add(step)) return {};
        return hasher_.result();
    }

  private:
    template <class T>
    void word(T value) {
        hasher_.add(static_cast<std::uint64_t>(value));
    }
    template <class List>
    void words(const List& list) {
        word(list.size());
        for (auto value : list) word(value);
    }
    void content(const Hash128& hash) { word(hash.high), word(hash.low); }
    void operation(const Node& node) { word(reinterpret_cast<std::uintptr_t>(node.operation)); }

    bool add(const Step& step) {
        bool loop = step.kind == Step::map || step.kind == Step::reduce || step.kind == Step::copy;
        if (!loop && step.kind != Step::rows && !(step.kind == Step::library && library(step))) return false;
        if (!step.indexed.empty()) return false;
        word(step.kind), word(step.leading);
        words(step.axes), words(step.reductions);
        if (loop) content(hash_of(step.program));
        word(step.loads.size()), word(step.stores.size()), word(step.inside.size()), word(step.parts.size());
        const Node& space = of_.graph_.node(step.space);
        operation(space), shape(space);
        for (std::int32_t load : step.loads)
            if (!entry(load)) return false;
        for (std::int32_t stored : step.stores) {
            slot(stored);
            if (step.kind == Step::rows) word(owns_(stored));
        }
        for (std::int32_t inner : step.inside) slot(inner);
        for (const Step& part : step.parts)
            if (!add(part)) return false;
        return true;
    }

    /// Products and windows: what they do is said by operation, attributes and how their operands lie.
    bool library(const Step& step) {
        const Node& node = of_.graph_.node(step.members[0]);
        if (node.operation->family != Family::contraction && node.operation->family != Family::window) return false;
        operation(node), word(node.dtype), shape(node);
        if (!node.attributes) return true;
        KeyParts parts;
        node.attributes->key(parts);
        words(parts.words);
        for (Size size : parts.sizes) word(size.code());
        for (Offset offset : parts.offsets) word(offset.value.code());
        return true;
    }

    void shape(const Node& node) {
        word(node.shape.size());
        for (Size size : node.shape) word(size.code());
    }
    void layout(const Layout& layout) { word(layout.dtype), words(layout.dims), words(layout.strides); }

    /// Whether it has been met; its number is said.
    static constexpr std::uint64_t of_entry = 0, of_slot = 1, of_base = 2;  // the last of its kind
    bool met(std::uint64_t kind, std::int32_t index) {
        std::uint64_t name = kind << 32 | static_cast<std::uint32_t>(index);
        auto known = std::find(met_.begin(), met_.end(), name);
        word(known - met_.begin());
        if (known != met_.end()) return true;
        met_.push_back(name);
        return false;
    }

    // Which memory it is, and what is known of where that begins; the arena's places are slots, as long as it is not planned.
    void base(const Base& base) {
        word(base.kind);
        if (met(of_base + base.kind, base.index) || base.kind != Base::output) return;
        word(of_.outputs_[at(base.index)].donor < 0);
    }

    bool entry(std::int32_t e) {
        if (met(of_entry, e)) return true;
        const Node& node = of_.graph_.node(e);
        std::int32_t below = memory_below(of_.plan_, e);
        Place::Kind kind = of_.plan_.places[at(below)].kind;
        if (kind != Place::leaf && kind != Place::slot) return false;
        const View& view = of_.views_[at(e)];
        operation(node), word(kind);
        base(view.base), word(view.offset), layout(view.layout);
        bool kept = view.base.kind == Base::leaf && at(view.base.index) < of_.steady_.size() &&
                    of_.steady_[at(view.base.index)];
        word(kept);
        if (kind == Place::slot) slot(of_.plan_.places[at(below)].index);
        return true;
    }

    void slot(std::int32_t s) {
        if (met(of_slot, s)) return;
        const Slot& slot = of_.plan_.slots[at(s)];
        words(slot.order);
        const View* view = slot_view(of_.plan_, of_.views_, s);
        layout(view ? view->layout : slot_layout(of_.plan_, of_.graph_, s));
        std::int32_t output = of_.output_of_[at(s)];
        base(view ? view->base : output < 0 ? Base{Base::arena, s} : Base{Base::output, output});
        word(view ? view->offset : 0);
    }

    const AlikeSteps& of_;
    const std::function<bool(std::int32_t slot)>& owns_;
    Hasher hasher_;
    SmallVector<std::uint64_t, 32> met_;
};

std::optional<Hash128> AlikeSteps::key(const Step& step, const std::function<bool(std::int32_t slot)>& owns) const {
    return Key(*this, owns).of(step);
}

}  // namespace weft
