// Maps that read arrays across the order in which they lie (x.T + y): a tile at a time is turned in registers into a buffer that stays in
// the first-level cache, and read from there in the order of the results. Read where they lie, each element is a cache line of its own.
#include <algorithm>

#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/emit/emitted_kernel.h"
#include "weft/backend/cpu/emit/emitted_rows.h"
#include "weft/backend/cpu/emit/map_space.h"
#include "weft/backend/cpu/past_caches.h"

namespace weft::cpu::emit {
namespace {

constexpr std::int64_t tile_rows = 64, tile_bytes = 256;  // of a row; of fewer columns more rows
constexpr std::int64_t fewest_rows = 8, fewest_elements = 2048;

/// A load whose elements lie side by side along the rows' axis, the last but one.
struct Turned {
    std::size_t load, size;
    Dims strides;            // bytes, of the array
    std::size_t buffer = 0;  // in a thread's scratch
};

/// The axis along which a load lies side by side, where that is not the innermost; else the innermost.
std::size_t axis_of(const Stream& stream, const Dims& dims) {
    std::size_t inner = dims.size() - 1;
    auto size = static_cast<std::int64_t>(size_of(stream.memory));
    if (stream.strides[inner] == 0 || stream.strides[inner] == size) return inner;
    for (std::size_t axis = inner; axis-- > 0;)
        if (stream.strides[axis] == size && dims[axis] >= fewest_rows) return axis;
    return inner;
}

/// Whether a load may be such: asked of every map, before its arrays are laid out.
bool may_read_across(const Loop& loop) {
    if (loop.stores.empty() || element_count(loop.dims) < fewest_elements) return false;
    for (std::size_t axis = 0; axis < loop.dims.size(); ++axis) {
        if (loop.stores[0].strides[axis] != 1 || loop.dims[axis] == 1) continue;
        for (const Access& load : loop.loads)
            if (load.strides[axis] != 0 && load.strides[axis] != 1) return true;
    }
    return false;
}

class TurnedMap final : public PreparedLoop {
  public:
    TurnedMap(const Loop& loop, const EmitOptions* options)
        : space_(space_of(loop)), turn_(block_loops(best_isa()).move.turn) {
        if (!find_turned(loop)) return;
        std::size_t inner = space_.dims.size() - 1;
        height_ = space_.dims[inner - 1], width_ = space_.dims[inner];
        std::size_t widest = 1;
        for (const Turned& turned : turned_) widest = std::max(widest, turned.size);
        std::int64_t most_columns = tile_bytes / static_cast<std::int64_t>(widest);
        columns_ = std::min(width_, most_columns);
        flat_ = width_ <= most_columns && merges();
        rows_in_tile_ = flat_ ? std::min(height_, tile_rows * most_columns / width_) : tile_rows;
        std::vector<Stream> streams = space_.loads, stores = space_.stores;
        for (const Turned& turned : turned_) {
            Dims& strides = streams[turned.load].strides;
            auto size = static_cast<std::int64_t>(turned.size);
            std::fill(strides.begin(), strides.end(), 0);
            strides[inner] = size, strides[inner - 1] = columns_ * size;
        }
        Dims dims = space_.dims;
        if (flat_) merge(dims, streams, stores);
        rows_ = EmittedRows(loop.program, dims, streams, stores, options);
        if (rows_ && !flat_ && stores_much(loop, space_))
            past_ = EmittedRows(loop.program, dims, streams, stores, options, true);
        lay_out(inner);
    }
    explicit operator bool() const { return static_cast<bool>(rows_); }

    std::string_view by() const override { return "emitter"; }
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * thread_bytes_; }
    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override {
        bool past = past_ && may_go_past(space_, loads, stores);
        const EmittedRows& rows = past ? past_ : rows_;
        for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
            std::byte* mine = scratch + static_cast<std::size_t>(slot) * thread_bytes_;
            std::int64_t end = std::min(tiles_, (task + 1) * tiles_in_task_);
            for (std::int64_t tile = task * tiles_in_task_; tile < end; ++tile)
                run_tile(rows, tile, loads, stores, mine);
        });
        if (past) finish_past_caches();
    }

  private:
    /// The axis along which results lie side by side becomes the innermost. False where there is none.
    bool follow_results() {
        auto axis_of_result = [&](const Stream& stream) {
            auto size = static_cast<std::int64_t>(size_of(stream.memory));
            return std::find(stream.strides.begin(), stream.strides.end(), size) - stream.strides.begin();
        };
        std::ptrdiff_t axis = axis_of_result(space_.stores[0]);
        for (const Stream& store : space_.stores)
            if (axis_of_result(store) != axis) return false;
        if (axis == static_cast<std::ptrdiff_t>(space_.dims.size())) return false;
        for_all_axes(
            [&](Dims& of_axes) { std::rotate(of_axes.begin() + axis, of_axes.begin() + axis + 1, of_axes.end()); });
        return true;
    }
    template <class F>
    void for_all_axes(F&& f) {
        f(space_.dims);
        for (auto* streams : {&space_.loads, &space_.stores})
            for (Stream& stream : *streams) f(stream.strides);
    }

    /// Which loads are turned; their axis becomes the last but one.
    bool find_turned(const Loop& loop) {
        auto plain = [](const Access& access) { return access.plain(); };
        bool all = std::all_of(loop.loads.begin(), loop.loads.end(), plain) && plain(loop.stores[0]);
        std::size_t axes = space_.dims.size(), inner = axes - 1, turned_axis = inner;
        if (!all || axes < 2 || element_count(space_.dims) < fewest_elements || !follow_results()) return false;
        for (std::size_t i = 0; i < space_.loads.size(); ++i) {
            std::size_t axis = axis_of(space_.loads[i], space_.dims);
            if (axis == inner || (turned_axis != inner && axis != turned_axis)) continue;
            turned_axis = axis;
            turned_.push_back({i, size_of(space_.loads[i].memory), {}});
        }
        if (turned_.empty()) return false;
        for_all_axes([&](Dims& of_axes) {
            auto from = of_axes.begin() + static_cast<std::ptrdiff_t>(turned_axis);
            std::rotate(from, from + 1, of_axes.end() - 1);
        });
        for (Turned& turned : turned_) turned.strides = space_.loads[turned.load].strides;
        return true;
    }

    bool is_turned(std::size_t load) const {
        return std::any_of(turned_.begin(), turned_.end(), [&](const Turned& turned) { return turned.load == load; });
    }
    /// Whether whole rows follow one another in all that is not turned.
    bool merges() const {
        auto follows = [&](const Stream& stream) {
            return *(stream.strides.end() - 2) == width_ * stream.strides.back();
        };
        for (std::size_t i = 0; i < space_.loads.size(); ++i)
            if (!is_turned(i) && !follows(space_.loads[i])) return false;
        return std::all_of(space_.stores.begin(), space_.stores.end(), follows);
    }
    static void merge(Dims& dims, std::vector<Stream>& loads, std::vector<Stream>& stores) {
        std::size_t outer = dims.size() - 2;
        dims[outer] *= dims.back();
        dims.pop_back();
        for (auto* streams : {&loads, &stores})
            for (Stream& stream : *streams) stream.strides.erase(outer);
    }

    void lay_out(std::size_t inner) {
        down_ = divide_up(height_, rows_in_tile_), across_ = divide_up(width_, columns_);
        tiles_ = down_ * across_;
        for (std::size_t axis = 0; axis + 1 < inner; ++axis) tiles_ *= space_.dims[axis];
        tiles_in_task_ = std::max<std::int64_t>(1, task_elements / (rows_in_tile_ * columns_));
        tasks_ = divide_up(tiles_, tiles_in_task_);
        slots_ = slots_for(tasks_);
        thread_bytes_ = aligned(rows_.scratch_bytes()) + aligned(space_.dims.size() * sizeof(std::int64_t));
        for (Turned& turned : turned_) {
            turned.buffer = thread_bytes_;
            thread_bytes_ += aligned(static_cast<std::size_t>(rows_in_tile_ * columns_) * turned.size);
        }
    }

    void run_tile(const EmittedRows& rows, std::int64_t tile, const void* const* loads, void* const* stores,
                  std::byte* mine) const {
        std::size_t inner = space_.dims.size() - 1;
        auto* at = reinterpret_cast<std::int64_t*>(mine + aligned(rows_.scratch_bytes()));
        std::int64_t outer = tile / (down_ * across_), down = tile / across_ % down_, across = tile % across_;
        std::int64_t row = down * rows_in_tile_, column = across * columns_;
        unravel((outer * height_ + row) * width_ + column, space_.dims, at);
        std::int64_t height = std::min(rows_in_tile_, height_ - row), width = std::min(columns_, width_ - column);
        for (const Turned& turned : turned_) {
            std::int64_t offset = 0;
            for (std::size_t axis = 0; axis <= inner; ++axis) offset += at[axis] * turned.strides[axis];
            turn_(mine + turned.buffer, static_cast<const std::byte*>(loads[turned.load]) + offset,
                  turned.strides[inner], height, width, columns_, turned.size);
        }
        std::int64_t flat = (outer * height_ + row) * width_ + column;
        auto base = [&](std::size_t i) -> const void* {
            if (i >= space_.loads.size()) return stores[i - space_.loads.size()];
            for (const Turned& turned :
                 turned_)  // as if the buffer were the tile's place in an array of the whole space
                if (turned.load == i)
                    return mine + turned.buffer - (row * columns_ + column) * static_cast<std::int64_t>(turned.size);
            return loads[i];
        };
        if (flat_)
            rows.run(flat, height * width, mine, base);
        else
            rows.run_tile(flat, height, width, mine, base);
    }

    MapSpace space_;
    decltype(MoveLoops::turn) turn_;
    std::vector<Turned> turned_;
    bool flat_ = false;  // tiles of few columns, each a stretch
    EmittedRows rows_, past_;
    std::int64_t height_ = 1, width_ = 1, rows_in_tile_ = 1, columns_ = 1;
    std::int64_t down_ = 1, across_ = 1, tiles_ = 0, tiles_in_task_ = 1, tasks_ = 0;
    int slots_ = 1;
    std::size_t thread_bytes_ = 0;
};

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_turned_map(const Loop& loop, const EmitOptions* options) {
    if (!may_read_across(loop)) return nullptr;
    auto map = std::make_unique<TurnedMap>(loop, options);
    if (!*map) return nullptr;
    return map;
}

}  // namespace weft::cpu::emit
