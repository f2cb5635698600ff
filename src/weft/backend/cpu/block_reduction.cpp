// How a reduction is prepared: its way, its space, what machine code does of it, its tasks and their memory.
#include <algorithm>
#include <cstdlib>

#include "weft/backend/cpu/isa/column_chunks.h"
#include "weft/backend/cpu/reduction_kernel.h"
#include "weft/base/error.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t short_row = 256;       // elements of the longest row that shares a block with others
constexpr std::int64_t shortest_folded = 32;  // elements of the shortest row that machine code joins by itself
// And of the longest row of numbers of which vectors of 64 bytes join many at once, as they lie (isa/short_rows.h).
constexpr std::int64_t most_joined_many = 64;
// Elements of the longest row, of few columns or joined, that loads which do not run along with it are written out for.
constexpr std::int64_t spread_columns = 31, spread_row = 8;
// Elements along the innermost of several axes from which on each run of them is joined by itself; by machine code, which takes 10 ns to begin.
constexpr std::int64_t shortest_run = 256, shortest_computed_run = 512;

/// Whether the innermost kept axis runs through memory more closely than the innermost reduced one, for most inputs.
bool prefers_columns(const LoopLayout& layout) {
    if (layout.kept.empty() || layout.reduced.empty()) return false;
    int votes = 0;
    for (const Dims& reach : layout.reach) {
        std::int64_t kept = std::abs(reach[layout.kept.size() - 1]), reduced = std::abs(reach.back());
        if (kept == 0 || reduced == 0) continue;
        votes += kept < reduced ? 1 : -1;
    }
    return votes > 0;
}

// From so many bytes on one array that is joined is asked for ahead of its turn. A Zen 4 reads what its third-level cache holds faster by itself
// (8 MB 100 GB/s, 82 when asked for; 16 MB 85 and 80; 64 MB 34 and 37).
std::size_t asked_from() { return is_zen4() ? std::size_t{24} << 20 : beyond_caches; }

/// Whether so many numbers, each read once, come from beyond the caches.
bool is_large(const Access& load, std::int64_t count) {
    bool once = std::all_of(load.strides.begin(), load.strides.end(), [](std::int64_t stride) { return stride != 0; });
    std::size_t bytes = once ? static_cast<std::size_t>(count) * size_of(load.dtype) : 0;
    return load.plain() && std::max(bytes, load.passes) >= asked_from();
}

/// Whether the library's loops join rows as they lie in less time than machine code, where vectors have 32 bytes: whole numbers and doubles, which
/// fill more registers than there are beside the code's own (a Zen 3: 1,333 x 300 0.5 of the time), and rows of 33 to 63 floats (0.5 to 0.8).
bool joined_by_loops(DType dtype, std::int64_t length) {
    if (best_isa() != Isa::avx2) return false;
    return is_integer(dtype) || dtype == DType::float64 || (dtype == DType::float32 && length < most_joined_many);
}

/// The innermost two axes as one, where every stream moves along both as along one: rows of few columns are computed as one long row.
bool merge_innermost(Dims& dims, std::vector<Stream>& streams) {
    if (dims.size() < 2) return false;
    std::size_t inner = dims.size() - 1, outer = inner - 1;
    for (const Stream& stream : streams)
        if (stream.counted || stream.strides[outer] != dims[inner] * stream.strides[inner]) return false;
    dims[outer] *= dims[inner];
    dims.pop_back();
    for (Stream& stream : streams) stream.strides.erase(outer);
    return true;
}

}  // namespace

// Short rows have too little to do to be taken block by block; the shortest would leave most lanes empty.
bool folds_rows(std::int64_t length) { return length >= shortest_folded && length <= row_chunk; }

// What functions compute of a row, some 60 instructions each 16 numbers, fills the window in which a processor looks ahead: it waits for the
// row's joins, where it would compute the next. A softmax of 400 rows of 48, joined with its exponentials: 90 cycles a row, 67 apart. Where 16 registers
// are to hold what is joined, too, longer ones: a Zen 3, rows of 33, 50, 65, 100, 128, 200: 0.7, 0.65, 0.88, 0.87, 0.87, 0.9, of sums of exponentials 0.5,
// 0.5, 0.88, 0.85, 0.9, 0.92; of 300 and 500 stored ones 0.92, others 1.3, 1.2.
bool folds_rows(const Program& computed, std::int64_t length, bool stored) {
    auto calls = [](const Instruction& at) { return at.opcode == Opcode::call; };
    std::int64_t longest = best_isa() == Isa::avx512 ? most_joined_many : stored ? 600 : 256;
    bool joined_many = length <= longest;
    return folds_rows(length) && !(joined_many && std::any_of(computed.code.begin(), computed.code.end(), calls));
}

ReductionKernel::ReductionKernel(const Loop& loop, bool emitted) {
    BlockLoops loops = block_loops(best_isa());
    LoopLayout layout = layout_of(loop);
    kept_ = layout.kept;
    kept_count_ = element_count(layout.kept);
    length_ = element_count(layout.reduced);
    for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
        DType dtype = loop.program.dtype(loop.program.outputs[i]);
        Reduction reduction = loop.reductions[i];
        bool position = reduction == Reduction::argmax || reduction == Reduction::argmin;
        Output output{loops.reduce(reduction, dtype),           reduction, dtype,
                      {loop.stores[i].dtype, layout.stores[i]}, position,  {}};
        if (!position || length_ == 0) output.identity = identity_of(reduction, dtype);
        promise(output.loops != nullptr, "every verified reduction has its loops");
        outputs_.push_back(output);
    }
    way_ = prefers_columns(layout) ? Way::columns : length_ <= short_row ? Way::short_rows : Way::long_rows;
    choose_space(loop, layout, emitted);
    choose_tasks();
    chunks_beside_ = joins_chunks_together();
    if (chunks_beside_) units_in_task_ = divide_up(units_in_task_, chunks_together) * chunks_together;
    tasks_ = divide_up(units_, units_in_task_);
    where_stored_ = joins_where_stored(layout.reduced.size());
    lay_out_scratch();
}

void ReductionKernel::choose_space(const Loop& loop, const LoopLayout& layout, bool emitted) {
    std::size_t kept = layout.kept.size(), reduced = layout.reduced.size();
    std::vector<std::size_t>
        order;  // axes of the layout, outermost first: [kept, reduced] or [kept outer, reduced, kept inner]
    std::size_t outer = way_ == Way::columns ? kept - 1 : kept;
    for (std::size_t axis = 0; axis < outer; ++axis) order.push_back(axis);
    for (std::size_t axis = 0; axis < reduced; ++axis) order.push_back(kept + axis);
    if (way_ == Way::columns) order.push_back(kept - 1);
    Dims dims;
    for (std::size_t axis : order) dims.push_back(axis < kept ? layout.kept[axis] : layout.reduced[axis - kept]);
    std::vector<Stream> streams;
    std::vector<Feed> feeds;
    std::size_t moving = 0;
    inner_ = dims.empty() ? 1 : dims.back();
    for (std::size_t i = 0; i < layout.loads.size(); ++i) {
        bool alone = layout.loads.size() == 1;
        bool ahead = alone ? is_large(loop.loads[i], element_count(dims)) : fetched_ahead(loop.loads[i]);
        Stream stream{loop.loads[i].dtype, {}, ahead, false, loop.loads[i].next};
        for (std::size_t axis : order) stream.strides.push_back(layout.loads[i][axis]);
        bool indexed = !loop.loads[i].plain();
        bool direct = !indexed && stream.memory == loop.program.inputs[i] && stream.contiguous(dims);
        bool whole_rows = (way_ == Way::short_rows && reduced > 0) || (way_ == Way::columns && inner_ <= 128);
        feeds.push_back(indexed                                                     ? Feed::copied
                        : stream.uniform()                                          ? Feed::uniform
                        : direct                                                    ? Feed::direct
                        : whole_rows && stream.innermost_alone() && dims.size() > 1 ? Feed::stationary
                                                                                    : Feed::copied);
        moving += direct;
        streams.push_back(std::move(stream));
    }
    IndexedBlocks indexed(loop, dims, streams);
    runner_ = BlockRunner(loop.program, dims, streams, feeds, block_loops(best_isa()), moving, false, indexed.loads());
    bool runs = way_ == Way::long_rows && reduced > 1 && inner_ >= shortest_run &&
                std::none_of(outputs_.begin(), outputs_.end(), [](const Output& output) { return output.position; });
    straight_ = ((way_ == Way::columns && reduced == 1) || runs) && find_straight(loop, streams);
    if (runs && straight_) run_ = inner_;
    bool direct = std::all_of(loop.program.outputs.begin(), loop.program.outputs.end(), [&](std::int32_t output) {
        const Instruction& at = loop.program.code[static_cast<std::size_t>(output)];
        return at.opcode == Opcode::input && feeds[static_cast<std::size_t>(at.a)] == Feed::direct;
    });
    auto all_outputs = [&](auto&& are) { return std::all_of(outputs_.begin(), outputs_.end(), are); };
    bool many_rows = length_ <= most_joined_many && best_isa() == Isa::avx512 &&
                     all_outputs([](const Output& output) { return output.number(); });
    auto by_loops = [&](const Output& output) { return joined_by_loops(output.dtype, length_) && !output.position; };
    bool not_folded = (way_ == Way::short_rows && (many_rows || !folds_rows(length_))) ||
                      (length_ <= row_chunk && all_outputs(by_loops));
    in_place_ = way_ != Way::columns && direct &&
                (not_folded || all_outputs([](const Output& output) { return output.position; }));
    if (in_place_ && length_ <= row_chunk) way_ = Way::short_rows;
    if (!emitted || joins_without_code() || run_ > 0) return;
    source_ = emit::EmittedSource(loop, loop.program, dims, streams);
    choose_code(loop, dims, reduced);
}

/// Machine code that computes and joins; or computes alone.
void ReductionKernel::choose_code(const Loop& loop, const Dims& dims, std::size_t reduced) {
    bool stores_values = std::all_of(outputs_.begin(), outputs_.end(),
                                     [](const Output& output) { return output.stream.memory == output.dtype; });
    bool whole_rows = reduced == 1 && folds_rows(loop.program, length_) &&
                      (way_ == Way::long_rows || (way_ == Way::short_rows && !in_place_));
    if (whole_rows && stores_values && !source_.indexed()) {
        std::vector<Stream> stores;
        for (const Output& output : outputs_) stores.push_back(output.stream);
        folded_ = emit::EmittedRows(source_.program(), dims, source_.streams(), loop.reductions, stores);
        if (folded_) way_ = Way::long_rows;
        if (folded_) return;
    }
    // Rows of few columns are computed some at a time as one row, and then joined: machine code takes 5 ns to begin one.
    std::vector<Stream> streams = source_.streams();
    Dims space = dims;
    bool columns = way_ == Way::columns && !source_.indexed(), joins_values = true;
    for (const Output& output : outputs_) joins_values &= !output.position;
    bool few = columns && reduced == 1 && joins_values && inner_ * widest_output() < 128;
    bool short_rows = way_ == Way::short_rows && reduced > 0 && !in_place_ && !source_.indexed();
    if (few || short_rows) {
        source_.spread(dims, few ? spread_columns : spread_row, false, runner_.block());
        streams = source_.streams();
        few = merge_innermost(space, streams) && few;
    }
    // Along several axes machine code joins one run of the innermost after the other, each from the lane that the last one ended at.
    bool runs = reduced > 1 && inner_ >= shortest_computed_run && joins_values && !source_.indexed();
    if (!few && (columns || (way_ == Way::long_rows && (reduced == 1 || runs)))) {
        std::vector<std::pair<Reduction, DType>> joined;
        for (std::size_t i = 0; i < outputs_.size(); ++i) joined.emplace_back(loop.reductions[i], outputs_[i].dtype);
        auto how = way_ == Way::columns ? emit::Mode::accumulated : emit::Mode::joined;
        joined_ = emit::EmittedRows(source_.program(), dims, source_.streams(), joined, how);
        if (joined_ && runs && way_ == Way::long_rows) run_ = inner_;
    }
    if (joined_ || straight_ || runner_.program().steps.empty()) return;  // or nothing is computed, only moved
    std::vector<Stream> made;  // a row of values each, as the runner would leave them
    for (const Output& output : outputs_) {
        Stream stream{output.dtype, Dims(space.size())};
        auto step = static_cast<std::int64_t>(output.width());
        for (std::size_t axis = space.size(); axis-- > 0; step *= space[axis]) stream.strides[axis] = step;
        made.push_back(std::move(stream));
    }
    rows_ = emit::EmittedRows(source_.program(), space, streams, made);
}

void ReductionKernel::choose_tasks() {
    std::int64_t block = runner_.block(), elements = 1;  // elements of a unit of work
    switch (way_) {
        case Way::short_rows:
            rows_in_block_ = (in_place_ ? task_elements : block) / std::max<std::int64_t>(length_, 1);
            rows_in_block_ = std::clamp<std::int64_t>(rows_in_block_, 1, block);
            units_ = divide_up(kept_count_, rows_in_block_);
            elements = rows_in_block_ * length_;
            break;
        case Way::long_rows:
            chunk_ = row_chunk;
            chunks_ = divide_up(length_, chunk_);
            units_ = kept_count_ * chunks_;
            elements = std::min(length_, chunk_);
            break;
        case Way::columns:
            tiles_ = ColumnTiles(inner_ == 0 ? 0 : kept_count_ / inner_, length_, inner_, widest_segment());
            rows_in_block_ = tiles_.segment() == inner_ ? std::max<std::int64_t>(1, block / tiles_.segment()) : 1;
            chunks_ = tiles_.chunks();
            units_ = tiles_.count();
            elements = tiles_.elements();
            break;
    }
    units_in_task_ = std::max<std::int64_t>(1, task_elements / std::max<std::int64_t>(elements, 1));
    if (way_ == Way::columns && straight_ && !joined_) {
        at_once_ = tiles_at_once();
        units_in_task_ = divide_up(units_in_task_, at_once_) * at_once_;
    }
    tasks_ = divide_up(units_, units_in_task_);
    std::int64_t joins = chunks_ > 1 ? divide_up(kept_count_, block) : 1;
    slots_ = slots_for(std::max(tasks_, joins));
}

void ReductionKernel::lay_out_scratch() {
    std::size_t bytes = aligned(runner_.scratch_bytes());
    auto block = static_cast<std::size_t>(std::max(runner_.block(), at_once_ * tiles_.segment()));
    for (Output& output : outputs_) {
        output.lanes_at = bytes;
        bytes += aligned(lanes_bytes);
        output.values_at = bytes;
        bytes += aligned(block * output.width()) + 64;
        output.places_at = bytes;
        if (output.position) bytes += aligned(block * sizeof(std::int64_t));
    }
    rows_at_ = bytes;
    bytes += aligned(std::max({rows_.scratch_bytes(), joined_.scratch_bytes(), folded_.scratch_bytes()}));
    picked_at_ = bytes;
    if (rows_ || joined_) bytes += source_.bytes();
    if (rows_) {
        for (Output& output : outputs_) {
            output.made_at = bytes;
            bytes += aligned(block * output.width()) + 64;
        }
    }
    thread_bytes_ = bytes;
    if (chunks_ <= 1) return;
    auto partials = static_cast<std::size_t>(kept_count_ * chunks_);
    for (Output& output : outputs_) {
        output.partials_at = shared_bytes_;
        shared_bytes_ += aligned(partials * output.width());
        output.partial_places_at = shared_bytes_;
        if (output.position) shared_bytes_ += aligned(partials * sizeof(std::int64_t));
    }
}

std::unique_ptr<const PreparedLoop> prepare_reduction(const Loop& loop, bool emitted) {
    return std::make_unique<ReductionKernel>(loop, emitted);
}

}  // namespace weft::cpu
