#include "weft/compile/access_facts.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/integers.h"
#include "weft/compile/step_kernels.h"

namespace weft {
namespace {

constexpr std::size_t place_alignment = aligned(1);  // of slots in the arena, and of what buffers allocate

}  // namespace

std::size_t alignment_after(std::size_t from, std::int64_t moved, DType dtype) {
    auto bits = static_cast<std::uint64_t>(moved);
    std::size_t lowest = bits & (0 - bits), left = lowest == 0 ? from : std::min<std::size_t>(from, lowest);
    return left > size_of(dtype) ? left : 0;
}

AccessFacts::Place AccessFacts::place_of(const View& view) const {
    const Base& base = view.base;
    bool ours =
        base.kind == Base::arena || (base.kind == Base::output && allocated_ && outputs_[at(base.index)].donor < 0);
    std::size_t alignment = ours ? alignment_after(place_alignment, view.offset, view.layout.dtype) : 0;
    if (base.kind == Base::leaf) {  // it lies as its owner has it: its own elements are the place
        const Layout& leaf = views_[at(graph_.leaves[at(base.index)])].layout;
        Extent extent = extent_of({leaf.dtype, leaf.strides}, leaf.dims);
        auto element = static_cast<std::int64_t>(size_of(leaf.dtype));
        return {alignment, extent.first * element - view.offset, (extent.last + 1) * element - view.offset};
    }
    std::size_t bytes = 0;
    if (base.kind == Base::output) {
        bytes = outputs_[at(base.index)].bytes;
    } else {
        Layout slot = slot_layout(plan_, graph_, base.index);
        bytes = static_cast<std::size_t>(slot.size()) * size_of(slot.dtype);
    }
    return {alignment, -view.offset, static_cast<std::int64_t>(bytes) - view.offset};
}

void AccessFacts::add(Access& access, const Dims& dims, const Place& place, std::string_view what,
                      std::size_t number) const {
    access.alignment = place.alignment;
    Extent extent = extent_of(access, dims);
    auto element = static_cast<std::int64_t>(size_of(access.dtype));
    if (extent.empty() || (extent.first * element >= place.first && (extent.last + 1) * element <= place.end)) return;
    throw InternalError(text(what, number, " touches bytes ", extent.first * element, " to ",
                             (extent.last + 1) * element, " of a place that has those from ", place.first, " to ",
                             place.end, ". Please report this."));
}

void AccessFacts::add(const Step& step, Loop& loop, std::size_t first) const {
    std::string name(step.members.empty() ? "copy" : graph_.node(step.members.back()).operation->name);
    std::vector<bool> read = loads_read(loop);
    for (std::size_t i = 0; i < step.loads.size(); ++i) {
        Access& load = loop.loads[first + i];
        if (load.source != Source::memory || !read[first + i]) continue;
        add(load, loop.dims, place_of(views_[at(step.loads[i])]), name + ": load ", first + i);
    }
    for (std::size_t i = 0; i < loop.stores.size(); ++i)
        add(loop.stores[i], loop.dims, place_of(whole(step.stores[i], loop.stores[i].dtype)), name + ": store ", i);
}

View AccessFacts::whole(std::int32_t slot, DType dtype) const {
    if (const View* view = slot_view(plan_, views_, slot)) return {view->base, view->offset, {dtype, {}, {}}};
    std::int32_t output = output_of_[at(slot)];
    return {output < 0 ? Base{Base::arena, slot} : Base{Base::output, output}, 0, {dtype, {}, {}}};
}

void AccessFacts::move(Access& access, const Dims& strides) {
    for (std::int64_t stride : strides) access.alignment = alignment_after(access.alignment, stride, access.dtype);
}

}  // namespace weft
