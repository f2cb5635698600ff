#include "weft/data/batches.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "weft/base/error.h"
#include "weft/data/augment.h"
#include "weft/data/bucket_order.h"
#include "weft/data/counter_random.h"

namespace weft::data {
namespace {

/// Blocks of one size, used again when the last handle to a batch is gone. The lock orders the old reader before the
/// new writer.
class Pool : public std::enable_shared_from_this<Pool> {
  public:
    Pool(std::size_t bytes, std::size_t keep) : bytes_(bytes), keep_(keep) { free_.reserve(keep); }

    BufferHandle take() {
        BufferHandle block;
        {
            std::lock_guard lock(mutex_);
            if (!free_.empty()) {
                block = std::move(free_.back());
                free_.pop_back();
            }
        }
        if (!block) block = Buffer::allocate(bytes_);
        std::byte* data = block->data();
        return Buffer::wrap(data, bytes_, [pool = shared_from_this(), block = std::move(block)] { pool->give(block); });
    }

  private:
    void give(const BufferHandle& block) {
        std::lock_guard lock(mutex_);
        if (free_.size() < keep_) free_.push_back(block);
    }
    std::size_t bytes_, keep_;
    std::mutex mutex_;
    std::vector<BufferHandle> free_;
};

void widen(const std::uint8_t* from, float* to, std::size_t count, Affine affine) {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]) * affine.multiply + affine.add;
}

std::vector<std::int64_t> shuffled(std::int64_t count, const BatchOptions& options) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    CounterRandom random(*options.shuffle, static_cast<std::uint64_t>(options.epoch));
    auto window = static_cast<std::size_t>(options.window), held = order.size();
    if (window > 0 &&
        window < order.size()) {  // as if rows came one by one, and a random one of the last ones went out
        held = window;
        std::vector<std::int64_t> waiting(order.begin(), order.begin() + options.window);
        for (std::size_t i = window; i < order.size(); ++i) {
            auto coming = static_cast<std::int64_t>(i);
            order[i - window] = std::exchange(waiting[random.below(window)], coming);
        }
        std::copy(waiting.begin(), waiting.end(), order.end() - options.window);
    }
    std::int64_t* last = order.data() + (order.size() - held);
    for (std::size_t i = held; i > 1; --i) std::swap(last[i - 1], last[random.below(i)]);  // Fisher & Yates
    return order;
}

/// One array of a data set, row by row into batches.
class Column {
  public:
    /// `rows`: that a batch holds at most; `keep`: how many batches may be held at once.
    Column(Dataset set, std::size_t rows, std::size_t keep)
        : set_(std::move(set)),
          pool_(std::make_shared<Pool>(rows * elements(set_.x.dims) * size_of(set_.x_dtype()), keep)) {}

    /// `width`: how many places of axis 1 the batch has; 0: all.
    Array room(std::int64_t rows, std::int64_t width) const {
        Dims dims = set_.x.dims;
        dims[0] = rows;
        if (width) dims[1] = width;
        return Array{set_.x_dtype(), dims, contiguous_strides(dims), 0, pool_->take()};
    }
    static std::byte* row_at(Array& array, std::int64_t row) {
        return static_cast<std::byte*>(array.address()) +
               static_cast<std::size_t>(row) * elements(array.dims) * size_of(array.dtype);
    }
    /// The row's first numbers, as many as the room has. `scratch` holds a row that is read before it is cut or widened.
    void copy(std::int64_t row, Array& to, std::int64_t place, std::vector<std::uint8_t>& scratch) const {
        std::size_t whole = elements(set_.x.dims) * size_of(set_.x.dtype), wanted = elements(to.dims);
        std::byte* begin = row_at(to, place);
        if (set_.source && !set_.affine && wanted == elements(set_.x.dims)) return set_.read_row(row, begin);
        if (set_.source) scratch.resize(whole), set_.read_row(row, scratch.data());
        const auto* stored =
            set_.source ? scratch.data()
                        : static_cast<const std::uint8_t*>(set_.x.address()) + static_cast<std::size_t>(row) * whole;
        if (set_.affine)
            widen(stored, reinterpret_cast<float*>(begin), wanted, *set_.affine);
        else if (wanted)
            std::memcpy(begin, stored, wanted * size_of(set_.x.dtype));
    }
    const Array& values() const { return set_.x; }

  private:
    static std::size_t elements(const Dims& dims) {
        std::size_t count = 1;
        for (std::size_t axis = 1; axis < dims.size(); ++axis) count *= static_cast<std::size_t>(dims[axis]);
        return count;
    }
    Dataset set_;
    std::shared_ptr<Pool> pool_;
};

}  // namespace

/// Puts together batches: which rows, where from, where to. Immutable but for the pools, so any thread may ask.
class Gatherer {
  public:
    Gatherer(const Dataset& set, std::int64_t size, const BatchOptions& options)
        : set_(set), size_(size), options_(options) {
        check();
        if (options.shuffle) order_ = shuffled(set_.size(), options);
        if (!options.buckets.empty())
            buckets_ = bucket_order(set_, size, order_, options.buckets, options.last == Last::drop);
        if (options.first < 0 || options.first > count()) {
            throw ValueError(text("batches: cannot begin with batch ", options.first, " of ", count()));
        }
        // waiting or being gathered, and in the user's hands
        auto keep = static_cast<std::size_t>(std::max(options.prefetch, options.readers)) + 2;
        auto rows = static_cast<std::size_t>(std::min(size, set_.size()));
        if (options.last == Last::pad) rows = static_cast<std::size_t>(size);
        auto column = [&](const Dataset& values) { return Column(values, rows, keep); };
        auto of_array = [&](const Array& values) {
            Dataset alone;
            alone.x = values;
            return column(alone);
        };
        columns_.push_back(column(set_)), columns_.push_back(of_array(set_.y));
        for (const Field& field : set_.fields) columns_.push_back(column(field.data));
        if (set_.has_lengths()) columns_.push_back(of_array(set_.lengths));
    }

    std::int64_t count() const {
        if (buckets_) return static_cast<std::int64_t>(buckets_->batches.size());
        return options_.last == Last::drop ? set_.size() / size_ : set_.size() / size_ + (set_.size() % size_ != 0);
    }

    std::vector<std::int64_t> order() const {
        if (buckets_) return buckets_->order;
        if (options_.shuffle) return order_;
        std::vector<std::int64_t> order(static_cast<std::size_t>(set_.size()));
        std::iota(order.begin(), order.end(), 0);
        return order;
    }

    Batch gather(std::int64_t index) const {
        Batch batch;
        batch.index = index;
        Rows rows = rows_of_batch(index);
        batch.count = rows.count;
        std::vector<Array> arrays;
        std::vector<std::uint8_t> scratch;
        for (const Column& column : columns_) {
            arrays.push_back(column.room(static_cast<std::int64_t>(rows.rows.size()),
                                         set_.goes_along(column.values()) ? rows.width : 0));
            for (std::size_t i = 0; i < rows.rows.size(); ++i)
                column.copy(rows.rows[i], arrays.back(), static_cast<std::int64_t>(i), scratch);
        }
        batch.x = arrays[0], batch.y = arrays[1];
        batch.fields.assign(arrays.begin() + 2, arrays.begin() + 2 + static_cast<std::ptrdiff_t>(set_.fields.size()));
        if (set_.has_lengths()) batch.lengths = arrays.back();
        if (options_.augment) augment(batch, rows.rows);
        if (options_.change) options_.change(batch, options_.epoch);
        return batch;
    }

  private:
    struct Rows {
        std::vector<std::int64_t> rows;
        std::int64_t count = 0, width = 0;  // without those that fill it up; where its sequences are cut, 0: nowhere
    };

    void check() {
        if (size_ < 1) throw ValueError(text("batches: a batch holds at least 1 row, not ", size_));
        if (options_.prefetch < 0)
            throw ValueError(text("batches: ", options_.prefetch, " batches cannot be gathered ahead"));
        if (options_.epoch < 0) throw ValueError(text("batches: there is no epoch ", options_.epoch));
        set_.check("batches");
        if (options_.readers < 1) throw ValueError(text("batches: ", options_.readers, " threads cannot gather"));
        if (options_.window < 0) throw ValueError(text("batches: a window of ", options_.window, " rows is none"));
        if (options_.augment) options_.augment->check(set_);
    }
    Rows rows_of_batch(std::int64_t index) const {
        Rows found;
        std::int64_t first = index * size_, held = set_.size();
        if (buckets_) {
            const BucketOrder::Batch& batch = buckets_->batches[static_cast<std::size_t>(index)];
            first = batch.first, found.width = batch.width, found.count = batch.count;
        } else {
            found.count = std::min(size_, held - first);
        }
        std::int64_t rows = options_.last == Last::pad ? size_ : found.count;
        const std::vector<std::int64_t>& order = buckets_ ? buckets_->order : order_;
        for (std::int64_t i = 0; i < rows; ++i) {  // filled up from the start; in a bucket, by its own rows
            std::int64_t place = buckets_ ? first + i % found.count : (first + i) % held;
            found.rows.push_back(order.empty() ? place : order[static_cast<std::size_t>(place)]);
        }
        return found;
    }
    void augment(Batch& batch, const std::vector<std::int64_t>& rows) const {
        augment(batch.x, rows, 0);
        std::uint64_t input = 0;
        for (std::size_t i = 0; i < batch.fields.size(); ++i)
            if (!set_.fields[i].target) augment(batch.fields[i], rows, ++input);
    }
    void augment(Array& values, const std::vector<std::int64_t>& rows, std::uint64_t input) const {
        Dims example(values.dims.begin() + 1, values.dims.end());
        for (std::size_t i = 0; i < rows.size(); ++i)
            options_.augment->apply(reinterpret_cast<float*>(Column::row_at(values, static_cast<std::int64_t>(i))),
                                    example, options_.augment_seed, options_.epoch, rows[i], input);
    }

    Dataset set_;
    std::int64_t size_;
    BatchOptions options_;
    std::vector<std::int64_t> order_;  // empty: the data's own
    std::optional<BucketOrder> buckets_;
    std::vector<Column> columns_;  // x, y, the fields, the lengths
};

Batches::Batches(const Dataset& set, std::int64_t size, const BatchOptions& options)
    : gatherer_(std::make_shared<Gatherer>(set, size, options)), options_(options) {}

std::int64_t Batches::count() const { return gatherer_->count(); }
std::vector<std::int64_t> Batches::order() const { return gatherer_->order(); }

Batch Batches::at(std::int64_t index) const {
    if (index < 0 || index >= count()) throw IndexError(text("batches: there is no batch ", index, " of ", count()));
    return gatherer_->gather(index);
}

Batches::Iterator Batches::begin() const { return Iterator(gatherer_, options_); }

/// What a walk's threads and its user share: the number of the next batch to gather, and those that are ready, handed out by their numbers.
/// Without threads, batches are gathered when they are asked for.
class Batches::Iterator::Walk {
  public:
    Walk(std::shared_ptr<Gatherer> gatherer, const BatchOptions& options)
        : gatherer_(std::move(gatherer)),
          next_(options.first),
          claimed_(options.first),
          count_(gatherer_->count()),
          ahead_(std::max(options.prefetch, options.readers)) {
        try {
            for (int i = 0; options.prefetch > 0 && i < options.readers && options.first + i < count_; ++i)
                threads_.emplace_back([this] { run(); });
        } catch (...) {  // a thread that the system refused: the others are enough
            if (threads_.empty()) throw;
        }
    }
    ~Walk() {
        {
            std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    /// The next batch, or nothing after the last.
    std::optional<Batch> next() {
        if (next_ == count_) return std::nullopt;
        if (threads_.empty()) return gatherer_->gather(next_++);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ready_.count(next_) > 0; });
        Gathered& gathered = ready_.at(next_);
        if (gathered.error) std::rethrow_exception(gathered.error);  // of every later call, too
        Batch batch = std::move(gathered.batch);
        ready_.erase(next_++);
        lock.unlock();
        changed_.notify_all();
        return batch;
    }

  private:
    struct Gathered {
        Batch batch;
        std::exception_ptr error;
    };
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return stop_ || claimed_ == count_ || claimed_ < next_ + ahead_; });
            if (stop_ || claimed_ == count_) return;
            std::int64_t mine = claimed_++;
            lock.unlock();
            Gathered gathered;
            try {
                gathered.batch = gatherer_->gather(mine);
            } catch (...) {
                gathered.error = std::current_exception();
            }
            lock.lock();
            if (gathered.error) claimed_ = count_;  // nothing is handed out behind it
            ready_[mine] = std::move(gathered);
            changed_.notify_all();
        }
    }

    std::shared_ptr<Gatherer> gatherer_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t next_, claimed_, count_, ahead_;
    std::map<std::int64_t, Gathered> ready_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

Batches::Iterator::Iterator(std::shared_ptr<Gatherer> gatherer, const BatchOptions& options)
    : walk_(std::make_unique<Walk>(std::move(gatherer), options)) {
    ++*this;
}
Batches::Iterator::Iterator(Iterator&&) noexcept = default;
Batches::Iterator& Batches::Iterator::operator=(Iterator&&) noexcept = default;
Batches::Iterator::~Iterator() = default;

Batches::Iterator& Batches::Iterator::operator++() {
    batch_ = {};  // its memory may be used for the batch after next
    std::optional<Batch> batch = walk_->next();
    ended_ = !batch;
    if (batch) batch_ = std::move(*batch);
    return *this;
}

}  // namespace weft::data
