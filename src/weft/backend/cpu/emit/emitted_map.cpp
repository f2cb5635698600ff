// Maps by machine code: stretches of the box, each by itself.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "weft/backend/cpu/emit/emitted_kernel.h"
#include "weft/backend/cpu/emit/emitted_rows.h"
#include "weft/backend/cpu/emit/emitted_source.h"
#include "weft/backend/cpu/emit/map_space.h"
#include "weft/backend/cpu/past_caches.h"

namespace weft::cpu::emit {
namespace {

constexpr std::int64_t short_row = 128;           // rows shorter than that are repeated where they can be
constexpr std::int64_t repeated_elements = 2048;  // that repeated rows fill, about
// The longest row, in elements and bytes, that loads which do not run along with it are written out for (times a number, of 8 doubles: 1.2 so).
constexpr std::int64_t spread_row = 8, spread_bytes = 32;
// The block evaluator runs an instruction over so many in a third of the time that its code takes to make (1.2 us).
constexpr std::int64_t few_elements = 1024;

/// Whether results lie one row after another.
bool stores_run_on(const MapSpace& space) {
    return std::all_of(space.stores.begin(), space.stores.end(),
                       [&](const Stream& stream) { return stream.contiguous(space.dims); });
}

/// Short rows that lie one after another, beside arrays that are the same in every row: one long row, if the latter are written
/// out a few times.
void repeat_short_rows(MapSpace& space) {
    if (space.dims.size() < 2 || space.row < 2 || space.row >= short_row) return;
    if (!stores_run_on(space)) return;
    auto contiguous = [&](const Stream& stream) { return stream.contiguous(space.dims); };
    std::vector<Repeat> repeats;
    for (std::size_t i = 0; i < space.loads.size(); ++i) {
        const Stream& stream = space.loads[i];
        if (stream.uniform() || contiguous(stream)) continue;
        if (!stream.innermost_alone()) return;
        repeats.push_back({i, size_of(stream.memory), stream.strides.back(), stream.counted});
        space.loads[i].ahead = false;
    }
    for (const Repeat& repeat : repeats) space.loads[repeat.load].counted = false;  // written out, they are memory
    space.repeats = std::move(repeats);
    for (auto* streams : {&space.loads, &space.stores}) {
        for (Stream& stream : *streams)
            stream.strides = {stream.uniform() ? 0 : static_cast<std::int64_t>(size_of(stream.memory))};
    }
    space.dims = {element_count(space.dims)};
}

class EmittedMap final : public PreparedLoop {
  public:
    EmittedMap(const Loop& loop, Program program) : space_(space_of(loop)) {
        cut_picked_rows(loop, space_);
        source_ = EmittedSource(loop, std::move(program), space_.dims, space_.loads);
        bool spread = stores_run_on(space_) && source_.spread(space_.dims, longest_spread(), true, repeated_elements);
        space_.loads = source_.streams();
        repeat_short_rows(space_);
        of_blocks_ = is_of_blocks(loop, space_);
        past_caches_ = !spread && stores_much(loop, space_) && space_.repeats.empty();
        elements_ = element_count(space_.dims);
        loads_ = space_.loads.size();
        plain_ = space_.repeats.empty() && !source_.filled();
        std::int64_t row = std::max<std::int64_t>(space_.row, 1);
        cut_ = row <= task_elements ? task_elements / row * row : task_elements;
        block_ = space_.repeats.empty() ? cut_ : std::min(repeated_elements / row * row, elements_);
        if (source_.filled())
            block_ = std::min(block_, row <= source_.block() ? source_.block() / row * row : source_.block());
        tasks_ = divide_up(elements_, cut_);
        slots_ = slots_for(tasks_);
        std::size_t streams = loads_ + space_.stores.size();
        thread_bytes_ = aligned(EmittedRows::scratch_bytes(streams, space_.dims.size()));
        for (Repeat& repeat : space_.repeats) {
            repeat.at = thread_bytes_;
            thread_bytes_ += aligned(static_cast<std::size_t>(block_) * repeat.size);
        }
        picked_at_ = thread_bytes_;
        thread_bytes_ += source_.bytes();
    }
    /// Makes the code, before anything runs; whether there is any.
    bool emit(const EmitOptions* options = nullptr) {
        rows_ = EmittedRows(source_.program(), space_.dims, space_.loads, space_.stores, options);
        if (rows_ && !options && elements_ > few_elements && calls_mostly()) return false;
        if (rows_ && past_caches_)
            past_ = EmittedRows(source_.program(), space_.dims, space_.loads, space_.stores, options, true);
        return static_cast<bool>(rows_);
    }
    std::string_view by() const override { return "emitter"; }
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * thread_bytes_; }
    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override {
        bool past = past_ && may_go_past(space_, loads, stores);
        run_by(past ? past_ : rows_, loads, stores, scratch);
        if (past && !of_blocks_) finish_past_caches();
    }
    // To wait after each block for its last stores took a twentieth of a softmax of 4,096 x 1,024.
    void finish() const override {
        if (past_ && of_blocks_) finish_past_caches();
    }

    std::size_t cursor_bytes(std::int64_t rows, std::int64_t step) const override {
        return plain_ ? rows_.cursor_bytes(rows, step) : 0;
    }
    void start_rows(std::int64_t rows, std::int64_t first, const void* const* loads, void* const* stores,
                    std::byte* cursor) const override {
        bool past = past_ && may_go_past(space_, loads, stores);
        std::size_t many = loads_;
        auto base = [=](std::size_t i) -> const void* { return i < many ? loads[i] : stores[i - many]; };
        (past ? past_ : rows_).start_rows(rows, cursor, base, [=](std::size_t) { return first; });
    }

  private:
    void run_by(const EmittedRows& rows, const void* const* loads, void* const* stores, std::byte* scratch) const {
        if (tasks_ == 1 && plain_) return run_part(rows, 0, elements_, loads, stores, scratch);
        for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
            std::byte* mine = scratch + static_cast<std::size_t>(slot) * thread_bytes_;
            for (const Repeat& repeat : space_.repeats)
                write_out(repeat, source_.base(repeat.load, loads, 0, mine), mine + repeat.at);
            std::int64_t end = std::min(elements_, (task + 1) * cut_);
            if (plain_) return run_part(rows, task * cut_, end - task * cut_, loads, stores, mine);
            for (std::int64_t start = task * cut_; start < end; start += block_) {
                std::int64_t count = std::min(block_, end - start);
                source_.fill(loads, start, count, mine + picked_at_);
                rows.run(start, count, mine, [&](std::size_t i) { return base(i, start, loads, stores, mine); });
            }
        });
    }

    std::int64_t longest_spread() const {
        std::int64_t most = spread_row;
        for (const Stream& store : space_.stores)
            most = std::min(most, spread_bytes / static_cast<std::int64_t>(size_of(store.memory)));
        return most;
    }
    /// Whether the block evaluator is faster: for one vector a call of its loops takes as long as some eight operations (1,000,000 // 7 of int64:
    /// 1,250 us, and 730 in blocks; with six further operations 1,490 and 1,310, with twelve 1,750 and 1,830).
    bool calls_mostly() const {
        constexpr std::size_t worth_a_call = 6;
        if (rows_.calls() == 0) return false;
        const std::vector<Instruction>& code = source_.program().code;
        auto operations = std::count_if(code.begin(), code.end(), [](const Instruction& at) {
            return at.opcode != Opcode::input && at.opcode != Opcode::constant;
        });
        return static_cast<std::size_t>(operations) <= (1 + worth_a_call) * rows_.calls();
    }
    /// Of a plain map. What is small is run often, so this path is short.
    void run_part(const EmittedRows& rows, std::int64_t start, std::int64_t count, const void* const* loads,
                  void* const* stores, std::byte* mine) const {
        std::size_t many = loads_;
        if (rows.one_axis() && count == elements_) return rows.run_all(loads, many, stores, mine);
        rows.run(start, count, mine, [=](std::size_t i) { return i < many ? loads[i] : stores[i - many]; });
    }
    void write_out(const Repeat& repeat, const void* from, std::byte* to) const {
        for (std::int64_t i = 0; i < space_.row; ++i) {
            std::int64_t number = repeat.counted ? number_at(from, DType::int64) + i : 0;
            const void* element = static_cast<const std::byte*>(from) + i * repeat.stride;
            if (repeat.counted) element = &number;
            std::memcpy(to + static_cast<std::size_t>(i) * repeat.size, element, repeat.size);
        }
        std::size_t all = static_cast<std::size_t>(block_) * repeat.size;
        for (std::size_t done = static_cast<std::size_t>(space_.row) * repeat.size; done < all; done *= 2)
            std::memcpy(to + done, to, std::min(done, all - done));
    }
    const void* base(std::size_t i, std::int64_t start, const void* const* loads, void* const* stores,
                     const std::byte* mine) const {
        if (i >= space_.loads.size()) return stores[i - space_.loads.size()];
        for (const Repeat& repeat : space_.repeats)
            if (repeat.load == i) return mine + repeat.at - start * static_cast<std::int64_t>(repeat.size);
        return source_.base(i, loads, start, mine + picked_at_);
    }

    MapSpace space_;
    EmittedSource source_;
    bool past_caches_ = false;  // it is a large map
    bool of_blocks_ = false;
    EmittedRows rows_, past_;  // past_: of large maps, or empty
    std::size_t loads_ = 0;
    bool plain_ = false;  // every stream is the loop's own array
    std::int64_t elements_ = 0, cut_ = 1, block_ = 1, tasks_ = 0;
    int slots_ = 1;
    std::size_t thread_bytes_ = 0, picked_at_ = 0;
};

/// The block evaluator's the first time, machine code from the second on: what runs once is not worth the making of code.
class MapOfFew final : public PreparedLoop {
  public:
    explicit MapOfFew(Loop&& loop) : first_(prepare_map(loop)), emitted_(loop, std::move(loop.program)) {}
    std::string_view by() const override { return state_ == State::emitted ? emitted_.by() : first_->by(); }
    std::size_t scratch_bytes() const override { return std::max(first_->scratch_bytes(), emitted_.scratch_bytes()); }
    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override {
        if (state_.load(std::memory_order_acquire) == State::emitted || emits_now())
            emitted_.run(loads, stores, scratch);
        else
            first_->run(loads, stores, scratch);
    }

  private:
    enum class State : std::uint8_t { fresh, ran, emitted, never };
    /// Whether this run, or one before, has made the code. Others who run it meanwhile wait.
    bool emits_now() const {
        State before = State::fresh;
        if (state_.compare_exchange_strong(before, State::ran)) return false;
        std::lock_guard lock(making_);
        if (state_ == State::ran) state_ = emitted_.emit() ? State::emitted : State::never;
        return state_ == State::emitted;
    }

    std::unique_ptr<const PreparedLoop> first_;
    mutable EmittedMap emitted_;  // nobody runs it before its code is there
    mutable std::atomic<State> state_ = State::fresh;
    mutable std::mutex making_;
};

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_emitted_map(const Loop& loop, const EmitOptions* options) {
    if (auto turned = prepare_turned_map(loop, options)) return turned;
    auto map = std::make_unique<EmittedMap>(loop, loop.program);
    if (!map->emit(options)) return nullptr;
    return map;
}

std::unique_ptr<const PreparedLoop> prepare_map_of_few(Loop&& loop) {
    if (emission() != Emission::on || element_count(loop.dims) > few_elements) return nullptr;
    return std::make_unique<MapOfFew>(std::move(loop));
}

}  // namespace weft::cpu::emit
