#include "weft/backend/cpu/emit/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <unordered_set>

#include "weft/backend/cpu/emit/code_pool.h"
#include "weft/backend/cpu/emit/lowering.h"
#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/integers.h"
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)
#include "weft/backend/cpu/emit/writer.h"
#endif

namespace weft::cpu::emit {
namespace {

constexpr std::int64_t short_vector = 32, lane_bytes = 8, most_together = 4;  // bytes, of the widest lanes; vectors
constexpr std::int64_t long_row = 256;    // sums in the frame (kernel_plan.cpp) are brought there and folded once a row
constexpr std::size_t long_program = 64;  // instructions from which on another size may compile again

bool has_emitter([[maybe_unused]] Isa isa) {
#if WEFT_HAVE_XBYAK && defined(__x86_64__)
    return isa != Isa::baseline;
#else
    return false;
#endif
}

Emission wanted() {
    auto choice = environment("WEFT_EMITTER");
    if (!choice || *choice == "on") return Emission::on;
    if (*choice == "off") return Emission::off;
    if (*choice == "always") return Emission::always;
    throw ValueError(text("WEFT_EMITTER is '", *choice, "'; it may be on, off or always"));
}

[[maybe_unused]] Isa widest() {
#if defined(__x86_64__)
    return Isa::avx512;
#else
    return Isa::baseline;
#endif
}

/// Joining is for lanes of the values' own width, in what an instruction set has.
[[maybe_unused]] bool joinable(std::span<const StreamKind> stores, Isa isa) {
    return std::all_of(stores.begin(), stores.end(), [&](const StreamKind& kind) {
        if (!in_lanes(kind.mode) && kind.mode != Mode::accumulated) return true;
        bool arithmetic = kind.reduction == Reduction::sum || kind.reduction == Reduction::product;
        bool extreme = kind.reduction == Reduction::maximum || kind.reduction == Reduction::minimum;
        bool wide_integer = kind.memory == DType::int64 || kind.memory == DType::uint64;
        if (wide_integer && kind.reduction != Reduction::sum && isa != widest()) return false;
        return (arithmetic || extreme) && size_of(kind.memory) >= 4 && !is_complex(kind.memory);
    });
}

std::atomic<Emission>& chosen() {
    static std::atomic<Emission> choice{wanted()};
    return choice;
}

class Cache {
  public:
    static Cache& instance() {
        static auto* cache = new Cache;
        return *cache;
    }
    /// The kernel of the key; make() is called without the lock, by one thread at a time: others who ask for the same wait for it.
    template <class Make>
    std::shared_ptr<const CompiledKernel> get(const Hash128& key, Make make) {
        std::unique_lock lock(mutex_);
        while (true) {
            if (auto found = kernels_.find(key); found != kernels_.end())
                if (auto kernel = found->second.lock()) return kernel;
            if (making_.insert(key).second) break;
            made_.wait(lock);
        }
        lock.unlock();
        std::shared_ptr<const CompiledKernel> fresh;
        std::exception_ptr failure;
        try {
            fresh = make();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        making_.erase(key);
        made_.notify_all();
        if (failure) std::rethrow_exception(failure);
        if (!fresh) return nullptr;
        kernels_[key] = fresh;
        ++compiled_;
        forget_dead();
        return fresh;
    }
    std::size_t compiled() {
        std::lock_guard lock(mutex_);
        return compiled_;
    }
    std::size_t alive() {
        std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(
            std::count_if(kernels_.begin(), kernels_.end(), [](const auto& entry) { return !entry.second.expired(); }));
    }

  private:
    /// Whenever there are twice as many entries as were alive last time.
    void forget_dead() {
        if (kernels_.size() < 2 * alive_ + 64) return;
        std::erase_if(kernels_, [](const auto& entry) { return entry.second.expired(); });
        alive_ = kernels_.size();
    }

    std::mutex mutex_;
    std::condition_variable made_;
    std::unordered_set<Hash128> making_;
    std::unordered_map<Hash128, std::weak_ptr<const CompiledKernel>> kernels_;
    std::size_t compiled_ = 0, alive_ = 0;
};

/// Whether vectors are longer than 32 bytes.
bool has_halves([[maybe_unused]] Isa isa) {
#if WEFT_HAVE_XBYAK && defined(__x86_64__)
    return isa == Isa::avx512;
#else
    return false;
#endif
}

/// How often the common path of a vector calls the block evaluator's loops.
[[maybe_unused]] std::size_t calls_of(const KernelPlan& plan) {
    auto calls = std::count_if(plan.body.tasks.begin(), plan.body.tasks.end(), [&](const Part::Task& task) {
        return plan.code.line(task.line).op == VectorOp::outside;
    });
    return static_cast<std::size_t>(calls / plan.unroll);
}

/// Bytes of an element in a vector.
std::int64_t lane_bytes_of(const Program& program) {
    bool wide = std::any_of(program.code.begin(), program.code.end(), [](const Instruction& at) {
        return static_cast<std::int64_t>(size_of(at.dtype)) == lane_bytes;
    });
    return wide ? lane_bytes : lane_bytes / 2;
}

Hash128 key_of(const Program& program, std::span<const StreamKind> loads, std::span<const StreamKind> stores, Isa isa,
               const EmitOptions& options) {
    Hasher hasher;
    hasher.add(static_cast<std::uint64_t>(processor()) << 48 | static_cast<std::uint64_t>(options.most) << 8 |
               static_cast<std::uint64_t>(options.long_rows) << 7 | static_cast<std::uint64_t>(options.unroll) << 1 |
               static_cast<std::uint64_t>(options.half));
    Hash128 content = hash_of(program);
    hasher.add(content.high);
    hasher.add(content.low);
    hasher.add(static_cast<std::uint64_t>(isa));
    for (auto kinds : {loads, stores}) {
        hasher.add(kinds.size());
        for (const StreamKind& kind : kinds)
            hasher.add(static_cast<std::uint64_t>(kind.replaced) << 26 | static_cast<std::uint64_t>(kind.near) << 25 |
                       static_cast<std::uint64_t>(kind.ahead) << 24 | static_cast<std::uint64_t>(kind.memory) << 16 |
                       static_cast<std::uint64_t>(kind.mode) << 8 | static_cast<std::uint64_t>(kind.reduction));
    }
    return hasher.result();
}

}  // namespace

Emission emission() { return chosen().load(std::memory_order_relaxed); }
void use_emission(Emission choice) { chosen().store(choice, std::memory_order_relaxed); }
bool emits() { return emission() != Emission::off && has_emitter(best_isa()); }

std::shared_ptr<const CompiledKernel> compile_kernel([[maybe_unused]] const Program& program,
                                                     [[maybe_unused]] std::span<const StreamKind> loads,
                                                     [[maybe_unused]] std::span<const StreamKind> stores,
                                                     [[maybe_unused]] Isa isa,
                                                     [[maybe_unused]] const EmitOptions& options) {
    if (!has_emitter(isa)) return nullptr;
#if WEFT_HAVE_XBYAK && defined(__x86_64__)
    if (!joinable(stores, isa)) return nullptr;
    auto code = lower(program, loads, stores, isa, options.masked);
    if (!code) return nullptr;
    PlanOptions how = options_for(isa);
    how.unroll = options.unroll, how.most = options.most, how.long_rows = options.long_rows;
    if (options.half && !code->joins() && !code->accumulates()) how.vector_bytes = 32;
    how.registers[0] = std::min(how.registers[0], options.registers);
    how.registers[1] = std::min(how.registers[1], std::max(3, options.registers / 2));
    auto planned = plan_kernel(std::move(*code), how);
    if (!planned) return nullptr;
    const KernelPlan& plan = *planned;
    std::vector<std::uint8_t> bytes = write_kernel(plan, isa);
    auto place = CodePool::instance().add(bytes);
    if (!place) return nullptr;
    return std::make_shared<CompiledKernel>(CompiledKernel{std::move(place), loads.size() + stores.size(), bytes.size(),
                                                           plan.lanes, plan.unroll, plan.body.allocation.spills,
                                                           calls_of(plan)});
#else
    return nullptr;
#endif
}

namespace {
std::shared_ptr<const CompiledKernel> kept_kernel(const Program& program, std::span<const StreamKind> loads,
                                                  std::span<const StreamKind> stores, Isa isa,
                                                  const EmitOptions& options) {
    return Cache::instance().get(key_of(program, loads, stores, isa, options),
                                 [&] { return compile_kernel(program, loads, stores, isa, options); });
}
}  // namespace

std::shared_ptr<const CompiledKernel> kernel_for(const Program& program, std::span<const StreamKind> loads,
                                                 std::span<const StreamKind> stores, Isa isa, std::int64_t elements) {
    if (emission() == Emission::off || !has_emitter(isa)) return nullptr;
    EmitOptions options;
    if (program.code.size() > long_program && elements < std::numeric_limits<std::int64_t>::max() / lane_bytes) {
        std::int64_t bytes = elements * lane_bytes_of(program);
        options.half = has_halves(isa) && bytes <= short_vector;
        std::int64_t vector = has_halves(isa) && !options.half ? 2 * short_vector : short_vector;
        options.most = static_cast<int>(std::clamp<std::int64_t>(bytes / vector, 1, most_together));
    }
    return kept_kernel(program, loads, stores, isa, options);
}

std::shared_ptr<const CompiledKernel> kernel_for_rows(const Program& program, std::span<const StreamKind> loads,
                                                      std::span<const StreamKind> stores, Isa isa,
                                                      std::int64_t length) {
    if (emission() == Emission::off || !has_emitter(isa)) return nullptr;
    EmitOptions options;
    options.long_rows = length >= long_row;
    return kept_kernel(program, loads, stores, isa, options);
}

std::shared_ptr<const CompiledKernel> kernel_for_columns(const Program& program, std::span<const StreamKind> loads,
                                                         std::span<const StreamKind> stores, Isa isa,
                                                         std::int64_t columns) {
    if (emission() == Emission::off || !has_emitter(isa)) return nullptr;
    EmitOptions options;
    if (has_halves(isa)) {
        std::int64_t vectors = std::max<std::int64_t>(1, columns * lane_bytes_of(program) / (2 * short_vector));
        options.most = static_cast<int>(vectors / divide_up(vectors, most_together));
    }
    return kept_kernel(program, loads, stores, isa, options);
}

std::size_t compiled_count() { return Cache::instance().compiled(); }
std::size_t alive_count() { return Cache::instance().alive(); }

}  // namespace weft::cpu::emit
