#include "weft/runtime/executor.h"

#include <chrono>
#include <limits>

#include "weft/base/error.h"
#include "weft/core/pages.h"
#include "weft/runtime/profile.h"

namespace weft {
namespace {

constexpr std::size_t worth_touching = std::size_t{1} << 19;  // bytes that are worth the waking of threads

// One arena a thread, as large as its largest binding needs: a run uses it alone, from beginning to end.
std::byte* thread_arena(std::size_t bytes) {
    thread_local BufferHandle arena;
    if (!arena || arena->bytes() < bytes) {
        arena.reset();  // first give back, then take: the two need not lie in memory together
        arena = Buffer::allocate(bytes);
        if (bytes >= worth_touching) touch_pages(arena->data(), bytes);
    }
    return arena->data();
}

}  // namespace

Runner::Runner(std::shared_ptr<const Binding> binding) : binding_(std::move(binding)) {
    std::map<std::string, std::size_t> formats;
    for (const BoundStep& step : binding_->steps) {
        first_.push_back(static_cast<std::uint32_t>(table_.size()));
        for (const View& view : step.operands) {
            Patch patch{static_cast<std::uint32_t>(table_.size()), view.base, view.offset};
            // What is made has no memory: the offset is what stands for its first number (kernel/loop.h).
            bool made = view.base.kind == Base::made;
            if (!made) (view.base.kind == Base::arena ? inside_ : outside_).push_back(patch);
            table_.push_back(made ? reinterpret_cast<void*>(view.offset) : nullptr);
        }
        if (step.kernel->shared_bytes() == 0) continue;
        kept_by(step, formats).positions.push_back(static_cast<std::uint32_t>(table_.size()));
        table_.push_back(nullptr);
    }
}

// That of the step, which stands last in first_, or of one before it that makes the same.
Runner::Kept& Runner::kept_by(const BoundStep& step, std::map<std::string, std::size_t>& formats) {
    std::string format = step.kernel->shared_format();
    if (!format.empty()) {
        for (const BoundStep::KeptOf& of : step.kept_of) format += text("of ", of.leaf, " from ", of.offset, "; ");
        auto [known, fresh] = formats.emplace(std::move(format), kept_.size());
        if (!fresh) return kept_[known->second];
    }
    kept_.push_back({first_.size() - 1, {}, nullptr, std::vector<std::uint64_t>(step.kept_of.size())});
    return kept_.back();
}

std::byte* Runner::place_operands(std::span<void* const> leaves, std::span<void* const> outputs) {
    std::byte* arena = binding_->arena_bytes > 0 ? thread_arena(binding_->arena_bytes) : nullptr;
    if (arena != arena_) {
        for (const Patch& patch : inside_) table_[patch.position] = arena + patch.offset;
        arena_ = arena;
    }
    for (const Patch& patch : outside_) {
        auto index = static_cast<std::size_t>(patch.base.index);
        void* base = patch.base.kind == Base::leaf ? leaves[index] : outputs[index];
        table_[patch.position] = static_cast<std::byte*>(base) + patch.offset;
    }
    return arena + binding_->scratch_offset;
}

// Made anew where a leaf that it is made of holds other numbers than it did, or nobody knows.
void Runner::keep(Kept& kept, std::span<const std::uint64_t> contents) {
    const BoundStep& step = binding_->steps[kept.step];
    bool same = true;
    for (std::size_t i = 0; i < step.kept_of.size(); ++i) {
        std::uint64_t now = contents.empty() ? 0 : contents[static_cast<std::size_t>(step.kept_of[i].leaf)];
        same = same && now != 0 && now == kept.contents[i];
        kept.contents[i] = now;
    }
    if (same) return;
    if (!kept.memory) {
        kept.memory = Buffer::allocate(step.kernel->shared_bytes());
        for (std::uint32_t position : kept.positions) table_[position] = kept.memory->data();
    }
    step.kernel->share(table_.data() + first_[kept.step], kept.memory->data());
}

double Runner::time_step(std::size_t s, std::byte* scratch) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point start = Clock::now();
    run_step(s, scratch);
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<double> Runner::time(std::span<void* const> leaves, std::span<void* const> outputs, int runs) {
    std::byte* scratch = place_operands(leaves, outputs);
    for (Kept& kept : kept_) keep(kept, {});
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
    for (Kept& kept : kept_) keep(kept, contents);
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
