// Maps: one block of the box after another, each by itself.
#include "weft/backend/cpu/block_kernel.h"

namespace weft::cpu {
namespace {

class Map : public PreparedLoop {
  public:
    explicit Map(const Loop& loop);
    std::size_t scratch_bytes() const override {
        return static_cast<std::size_t>(slots_) * aligned(runner_.scratch_bytes());
    }
    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override;

  private:
    struct Store {
        Stream stream;
        bool direct;  // the step that makes the value may write it where it belongs
    };
    void run_task(std::int64_t task, BlockRunner::Context& context, const void* const* loads,
                  void* const* stores) const;
    void run_block(BlockRunner::Context& context, const void* const* loads, void* const* stores, std::int64_t flat,
                   std::int64_t count) const;
    static bool read_later(const BlockProgram::Output& output, const void* memory, const void* const* loads);

    BlockRunner runner_;
    std::vector<Store> stores_;
    std::int64_t rows_, length_;        // the box as rows, each cut into blocks
    std::int64_t cut_, blocks_in_row_;  // elements a block, blocks a row
    std::int64_t tasks_, blocks_in_task_;
    int slots_;
};

Map::Map(const Loop& loop) {
    LoopLayout layout = layout_of(loop);
    std::int64_t all = element_count(layout.kept);
    std::vector<Stream> streams;
    bool even = true;  // nothing but contiguous and uniform arrays
    for (std::size_t i = 0; i < layout.loads.size(); ++i) {
        streams.push_back({loop.loads[i].dtype, layout.loads[i]});
        even = even && (streams[i].uniform() || streams[i].contiguous(layout.kept));
    }
    for (std::size_t i = 0; i < layout.stores.size(); ++i) {
        stores_.push_back({{loop.stores[i].dtype, layout.stores[i]}, false});
        even = even && stores_[i].stream.contiguous(layout.kept);
    }
    std::int64_t inner = layout.kept.empty() ? 1 : layout.kept.back();
    // Rows of their own where the innermost axis is long; else blocks run over the ends of rows.
    bool by_rows = !even && inner >= row_threshold;
    length_ = by_rows ? inner : all;
    rows_ = by_rows ? all / std::max<std::int64_t>(inner, 1) : 1;
    std::vector<Feed> feeds;
    std::size_t moving = layout.stores.size();
    auto in_place = [&](const Stream& stream, DType value) {
        auto width = static_cast<std::int64_t>(size_of(value));
        bool steady = by_rows ? stream.strides.back() == width : stream.contiguous(layout.kept);
        return stream.memory == value && steady;
    };
    for (std::size_t i = 0; i < streams.size(); ++i) {
        bool indexed = !loop.loads[i].plain();
        bool direct = !indexed && in_place(streams[i], loop.program.inputs[i]);
        feeds.push_back(indexed                                                              ? Feed::copied
                        : streams[i].uniform()                                               ? Feed::uniform
                        : direct                                                             ? Feed::direct
                        : !by_rows && streams[i].innermost_alone() && layout.kept.size() > 1 ? Feed::stationary
                                                                                             : Feed::copied);
        moving += direct;
    }
    runner_ = BlockRunner(loop.program, layout.kept, streams, feeds, block_loops(best_isa()), moving, true,
                          IndexedBlocks(loop, layout.kept, streams).loads());
    for (std::size_t i = 0; i < stores_.size(); ++i) {
        const auto& output = runner_.program().outputs[i];
        bool first = true;
        for (std::size_t k = 0; k < i; ++k) first = first && runner_.program().outputs[k].slot != output.slot;
        stores_[i].direct = first && output.made_by >= 0 && in_place(stores_[i].stream, output.dtype);
    }
    cut_ = runner_.block();
    if (by_rows) {
        cut_ = std::min(cut_, divide_up(divide_up(length_, divide_up(length_, cut_)), 64) * 64);
    } else if (inner > 1 && inner < row_threshold) {
        cut_ = cut_ / inner * inner;  // whole rows, so that stationary inputs are the same in every block
    }
    blocks_in_row_ = divide_up(length_, cut_);
    blocks_in_task_ = std::max<std::int64_t>(1, task_elements / cut_);
    tasks_ = divide_up(rows_ * blocks_in_row_, blocks_in_task_);
    slots_ = slots_for(tasks_);
}

void Map::run(const void* const* loads, void* const* stores, std::byte* scratch) const {
    std::size_t bytes = aligned(runner_.scratch_bytes());
    for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
        auto context = runner_.context(scratch + static_cast<std::size_t>(slot) * bytes);
        run_task(task, context, loads, stores);
    });
}

void Map::run_task(std::int64_t task, BlockRunner::Context& context, const void* const* loads,
                   void* const* stores) const {
    runner_.begin(context, loads);
    std::int64_t block = task * blocks_in_task_, end = std::min(block + blocks_in_task_, rows_ * blocks_in_row_);
    for (; block < end; ++block) {
        std::int64_t row = rows_ == 1 ? 0 : block / blocks_in_row_, start = (block - row * blocks_in_row_) * cut_;
        run_block(context, loads, stores, row * length_ + start, std::min(cut_, length_ - start));
    }
}

void Map::run_block(BlockRunner::Context& context, const void* const* loads, void* const* stores, std::int64_t flat,
                    std::int64_t count) const {
    const auto& outputs = runner_.program().outputs;
    runner_.seek(context, flat);
    runner_.feed(context, loads, count);
    for (std::size_t i = 0; i < stores_.size(); ++i) {
        if (!stores_[i].direct) continue;
        bool later = read_later(outputs[i], stores[i], loads);
        context.value[outputs[i].slot] =
            later ? runner_.home(context, outputs[i].slot)
                  : static_cast<std::byte*>(stores[i]) + stores_[i].stream.offset(context.at);
    }
    runner_.step(context, count);
    for (std::size_t i = 0; i < stores_.size(); ++i) {
        if (stores_[i].direct && !read_later(outputs[i], stores[i], loads)) continue;
        runner_.store(context, stores_[i].stream, runner_.dims(), context.at, stores[i], context.value[outputs[i].slot],
                      outputs[i].dtype, count);
    }
}

/// Whether the output lies where a step still reads an input after the output is made: then it must wait in its register.
bool Map::read_later(const BlockProgram::Output& output, const void* memory, const void* const* loads) {
    return std::any_of(output.read_later.begin(), output.read_later.end(),
                       [&](std::int32_t load) { return loads[load] == memory; });
}

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_map(const Loop& loop) { return std::make_unique<Map>(loop); }

}  // namespace weft::cpu
