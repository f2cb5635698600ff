#include "weft/backend/cpu/made_load.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "weft/backend/cpu/isa/random_kernels.h"
#include "weft/compile/device.h"
#include "weft/core/philox.h"

namespace weft::cpu {
namespace {

static_assert(std::endian::native == std::endian::little, "a number of uint64 is two words, the lower one first");

constexpr std::int64_t drawn_at_once = 4 * random_blocks_at_once, worth_lanes = 8;  // words
constexpr std::int64_t numbers_apart = 4;  // a step from which on no two share a block
constexpr std::int64_t worth_apart = 4;    // numbers

struct RandomKernels {
    RandomBlocks blocks;
    RandomApart apart;
};
RandomKernels best_random() { return {WEFT_OF_BEST_ISA(random_blocks), WEFT_OF_BEST_ISA(random_apart)}; }

/// Words [first, first + count) of a stream.
void draw_words(const PhiloxKey& key, std::uint32_t stream, std::int64_t first, std::int64_t count, std::uint32_t* to) {
    RandomBlocks blocks = best_random().blocks;
    while (count > 0) {
        std::uint64_t block = static_cast<std::uint64_t>(first) / 4;
        std::int64_t into = first % 4, taken = std::min(count, drawn_at_once - into);
        if (taken == drawn_at_once) {
            blocks(to, block, key.data(), stream);
        } else if (count >= worth_lanes) {
            std::uint32_t drawn[drawn_at_once];
            blocks(drawn, block, key.data(), stream);
            std::copy_n(drawn + into, taken, to);
        } else {
            PhiloxCounter four =
                philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, stream}, key);
            taken = std::min(count, 4 - into);
            std::copy_n(four.data() + into, taken, to);
        }
        first += taken, to += taken, count -= taken;
    }
}

template <class T>
void draw(const PhiloxKey& key, std::uint32_t stream, std::int64_t number, std::int64_t step, std::int64_t count,
          T* to) {
    constexpr auto words = static_cast<std::int64_t>(sizeof(T) / sizeof(std::uint32_t));
    if constexpr (words == 1) {
        if (std::abs(step) >= numbers_apart && count >= worth_apart) {
            best_random().apart(to, static_cast<std::uint64_t>(number), step, count, key.data(), stream);
            return;
        }
    }
    std::int64_t together = step == 1 ? count : 1;
    for (std::int64_t i = 0; i < count; i += together, number += step, to += together) {
        std::uint32_t* place = reinterpret_cast<std::uint32_t*>(to);
        draw_words(key, stream, number * words, together * words, place);
        if (step == 0) {
            std::fill_n(to, count, *to);
            return;
        }
    }
}

}  // namespace

void make_values(const Access& load, const void* const* loads, std::int64_t number, std::int64_t step,
                 std::int64_t count, void* to) {
    if (load.source == Source::counting) {
        auto* out = static_cast<std::int64_t*>(to);
        for (std::int64_t i = 0; i < count; ++i) out[i] = number + i * step;
        return;
    }
    const auto* words = static_cast<const std::uint32_t*>(loads[load.drawn.key]);
    PhiloxKey key{words[0], words[load.drawn.stride]};
    if (load.dtype == DType::uint32)
        draw(key, load.drawn.stream, number, step, count, static_cast<std::uint32_t*>(to));
    else
        draw(key, load.drawn.stream, number, step, count, static_cast<std::uint64_t*>(to));
}

namespace {

constexpr std::size_t table_size = 8192;

const std::int64_t* count_table() {
    static const std::vector<std::int64_t> table = [] {
        std::vector<std::int64_t> numbers(table_size);
        std::iota(numbers.begin(), numbers.end(), 0);
        return numbers;
    }();
    return table.data();
}

}  // namespace

CountTable::CountTable(Loop& loop) : loads_(loop.loads.size()) {
    for (std::size_t i = 0; i < loads_; ++i) {
        Access& load = loop.loads[i];
        bool few = load.numbers > 0 && load.numbers <= static_cast<std::int64_t>(table_size);
        if (load.source != Source::counting || !few) continue;
        load.source = Source::memory;
        counted_.push_back(i);
    }
}

const void* const* CountTable::resolve(const void* const* loads, std::byte* scratch) const {
    auto** table = reinterpret_cast<const void**>(scratch);
    std::copy(loads, loads + loads_, table);
    for (std::size_t i : counted_) table[i] = count_table() + number_at(loads[i], DType::int64);
    return table;
}

namespace {

class MadeMap final : public PreparedLoop {
  public:
    MadeMap(const Loop& loop, std::size_t load)
        : access_(loop.loads[load]), load_(load), count_(element_count(loop.dims)) {}
    std::size_t scratch_bytes() const override { return 0; }
    std::string_view by() const override { return access_.source == Source::counting ? "counting" : "philox"; }
    void run(const void* const* loads, void* const* stores, std::byte*) const override {
        auto width = static_cast<std::int64_t>(size_of(access_.dtype));
        std::int64_t number = number_at(loads[load_], access_.dtype);
        auto* to = static_cast<std::byte*>(stores[0]);
        for_each_task(divide_up(count_, at_once), slots_for(divide_up(count_, at_once)), [&](std::int64_t task, int) {
            std::int64_t first = task * at_once, count = std::min(at_once, count_ - first);
            make_values(access_, loads, number + first, 1, count, to + first * width);
        });
    }

  private:
    static constexpr std::int64_t at_once = task_elements / 2;
    Access access_;
    std::size_t load_;
    std::int64_t count_;
};

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_made_map(const Loop& loop) {
    if (loop.reduces() || loop.scatter || loop.program.outputs.size() != 1) return nullptr;
    const Instruction& value = loop.program.code[static_cast<std::size_t>(loop.program.outputs[0])];
    if (value.opcode != Opcode::input) return nullptr;
    const Access& load = loop.loads[static_cast<std::size_t>(value.a)];
    auto lies_dense = [&](const Access& access) {
        return Layout{access.dtype, loop.dims, access.strides}.contiguous();
    };
    if (load.source == Source::memory || !lies_dense(load) || !lies_dense(loop.stores[0])) return nullptr;
    return std::make_unique<MadeMap>(loop, static_cast<std::size_t>(value.a));
}

}  // namespace weft::cpu
