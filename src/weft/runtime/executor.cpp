#include "weft/runtime/executor.h"

#include <chrono>
#include <limits>

#include "weft/base/error.h"
#include "weft/core/pages.h"
#include "weft/runtime/profile.h"

namespace weft {
namespace {

constexpr std::size_t worth_touching = std::size_t{1} << 19;  // bytes that are worth the waking of threads
constexpr std::size_t worth_returning = std::size_t{1} << 24;
constexpr std::uint32_t runs_between_looks = 1 << 14;

/// One arena a thread, as large as its largest binding needs: a run uses it alone, from beginning to end. None where the thread's objects are
/// being destroyed, which may evaluate what is left.
class ThreadArena {
  public:
    static std::byte* of(std::size_t bytes) {
        // One comparison: who needs more than there is, and who needs much less, goes the long way.
        return mine.bytes - bytes < worth_returning ? mine.data : other(bytes);
    }

  private:
    struct Owner {
        BufferHandle buffer;
        ~Owner() { mine = {.ended = true}; }
    };
    struct Mine {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        std::size_t most = 0;    // that one of those runs needed which need much less than there is
        std::uint32_t runs = 0;  // of these, since the last look
        bool ended = false;
    };
    static thread_local constinit Mine
        mine;  // apart from its owner: read in passing, with nothing to be begun or ended

    // After many runs that left most of the arena alone, its pages go back; their addresses stay, so that who needs them again pays for pages
    // alone. What ran once and was large would else keep its memory for the life of the thread. Runs that are large are not counted, nor do
    // they begin the count anew: then each run would have something to write down, 15 ns of one that takes 600. A look every so many small
    // runs costs large ones between them less than one part of a hundred.
    [[gnu::noinline]] static std::byte* other(std::size_t bytes) {
        if (mine.bytes < bytes) return mine.ended ? nullptr : grow(bytes);
        mine.most = std::max(mine.most, bytes);
        if (++mine.runs < runs_between_looks) return mine.data;
        return_pages(mine.data + mine.most, mine.bytes - mine.most);
        mine = {.data = mine.data, .bytes = mine.most};
        return mine.data;
    }

    static std::byte* grow(std::size_t bytes) {
        thread_local Owner owner;
        if (!owner.buffer || owner.buffer->bytes() < bytes) {
            mine = {};
            owner.buffer.reset();  // first give back, then take: the two need not lie in memory together
            owner.buffer = with_room(bytes);
        }
        std::size_t there = mine.bytes;
        if (bytes - there >= worth_touching) touch_pages(owner.buffer->data() + there, bytes - there);
        mine = {.data = owner.buffer->data(), .bytes = bytes};
        return mine.data;
    }

    // Half as much again, of which nothing is in memory before it is needed: the next binding often takes a little more, of a batch of another
    // size or of a plan for any size, and pages that are there are most of what its first run costs.
    static BufferHandle with_room(std::size_t bytes) {
        if (bytes > std::numeric_limits<std::size_t>::max() / 2) return Buffer::allocate(bytes);  // which is refused
        try {
            return Buffer::allocate(bytes + bytes / 2);
        } catch (const OutOfMemory&) {
            return Buffer::allocate(bytes);
        }
    }
};
thread_local constinit ThreadArena::Mine ThreadArena::mine;

}  // namespace

Runner::Runner(std::shared_ptr<const Binding> binding)
    : binding_(std::move(binding)), operands_(*binding_), table_(operands_.empty()), kept_(operands_.shared().size()) {
    for (std::size_t i = 0; i < kept_.size(); ++i)
        kept_[i].contents.resize(binding_->steps[operands_.shared()[i].step].kept_of.size());
}

std::byte* Runner::place_operands(std::span<void* const> leaves, std::span<void* const> outputs) {
    std::byte* arena = binding_->arena_bytes > 0 ? ThreadArena::of(binding_->arena_bytes) : nullptr;
    if (!arena && binding_->arena_bytes > 0) {
        if (!own_arena_) own_arena_ = Buffer::allocate(binding_->arena_bytes);
        arena = own_arena_->data();
    }
    if (arena != arena_) operands_.place_arena(table_.data(), arena_ = arena);
    operands_.place_outside(table_.data(), leaves, outputs);
    return arena + binding_->scratch_offset;
}

// Made anew where a leaf that it is made of holds other numbers than it did, or nobody knows.
void Runner::keep(std::size_t i, std::span<const std::uint64_t> contents) {
    const OperandTable::Shared& shared = operands_.shared()[i];
    Kept& kept = kept_[i];
    const BoundStep& step = binding_->steps[shared.step];
    bool same = true;
    for (std::size_t k = 0; k < step.kept_of.size(); ++k) {
        std::uint64_t now = contents.empty() ? 0 : contents[static_cast<std::size_t>(step.kept_of[k].leaf)];
        same = same && now != 0 && now == kept.contents[k];
        kept.contents[k] = now;
    }
    if (same) return;
    if (!kept.memory) {
        kept.memory = Buffer::allocate(shared.bytes);
        for (std::uint32_t position : shared.positions) table_[position] = kept.memory->data();
    }
    step.kernel->share(table_.data() + operands_.first(shared.step), kept.memory->data());
}

double Runner::time_step(std::size_t s, std::byte* scratch) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point start = Clock::now();
    run_step(s, scratch);
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<double> Runner::time(std::span<void* const> leaves, std::span<void* const> outputs, int runs) {
    std::byte* scratch = place_operands(leaves, outputs);
    for (std::size_t i = 0; i < kept_.size(); ++i) keep(i, {});
    std::vector<double> seconds(binding_->steps.size(), std::numeric_limits<double>::infinity());
    for (int run = 0; run < runs; ++run) {
        for (std::size_t s = 0; s < seconds.size(); ++s) {
            seconds[s] = std::min(seconds[s], time_step(s, scratch));
        }
    }
    return seconds;
}

void Runner::run(std::span<void* const> leaves, std::span<void* const> outputs,
                 std::span<const std::uint64_t> contents) {
    std::byte* scratch = place_operands(leaves, outputs);
    for (std::size_t i = 0; i < kept_.size(); ++i) keep(i, contents);
    std::size_t s = 0;
    try {
        if (detail::profiling.load(std::memory_order_relaxed)) {
            for (; s < binding_->steps.size(); ++s) detail::record(binding_->steps[s], time_step(s, scratch));
        } else {
            for (; s < binding_->steps.size(); ++s) run_step(s, scratch);
        }
    } catch (Error& error) {
        error.add(place(error.where.line() ? error.where : binding_->steps[s].fails_at));
        throw;
    }
}

Array result_array(const View& view, BufferHandle buffer, std::int64_t first_byte) {
    auto element = static_cast<std::int64_t>(size_of(view.layout.dtype));
    return {view.layout.dtype, view.layout.dims, view.layout.strides, (first_byte + view.offset) / element,
            std::move(buffer)};
}

std::vector<Array> run_once(std::shared_ptr<const Binding> binding, const Graph& graph) {
    Runner runner(std::move(binding));
    std::vector<void*> leaves, addresses;
    std::vector<BufferHandle> outputs;
    for (std::int32_t leaf : graph.leaves) leaves.push_back(const_cast<void*>(graph.node(leaf).value().address()));
    for (const BoundOutput& output : runner.binding().outputs) {
        outputs.push_back(Buffer::allocate(output.bytes));
        addresses.push_back(outputs.back()->data());
    }
    runner.run(leaves, addresses);
    std::vector<Array> results;
    for (const View& view : runner.binding().results) {
        auto index = static_cast<std::size_t>(view.base.index);
        if (view.base.kind == Base::output) {
            results.push_back(result_array(view, outputs[index], 0));  // several may lie in one
            continue;
        }
        const Array& leaf = graph.node(graph.leaves[index]).value();
        results.push_back(
            result_array(view, leaf.buffer, leaf.offset * static_cast<std::int64_t>(size_of(leaf.dtype))));
    }
    return results;
}

}  // namespace weft
