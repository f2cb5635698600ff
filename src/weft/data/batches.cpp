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

std::size_t row_bytes(const Array& array) {
    std::size_t bytes = size_of(array.dtype);
    for (std::size_t axis = 1; axis < array.ndim(); ++axis) bytes *= static_cast<std::size_t>(array.dims[axis]);
    return bytes;
}

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

}  // namespace

/// Puts together batches: which rows, where from, where to. Immutable but for the pools, so any thread may ask.
class Gatherer {
  public:
    Gatherer(const Dataset& set, std::int64_t size, const BatchOptions& options)
        : set_(set), size_(size), options_(options) {
        if (size < 1) throw ValueError(text("batches: a batch holds at least 1 row, not ", size));
        if (options.prefetch < 0)
            throw ValueError(text("batches: ", options.prefetch, " batches cannot be gathered ahead"));
        if (options.epoch < 0) throw ValueError(text("batches: there is no epoch ", options.epoch));
        set_.check("batches");
        if (options.first < 0 || options.first > count()) {
            throw ValueError(text("batches: cannot begin with batch ", options.first, " of ", count()));
        }
        if (options.readers < 1) throw ValueError(text("batches: ", options.readers, " threads cannot gather"));
        if (options.window < 0) throw ValueError(text("batches: a window of ", options.window, " rows is none"));
        if (options.augment) options.augment->check(set);
        // waiting or being gathered, and in the user's hands
        auto keep = static_cast<std::size_t>(std::max(options.prefetch, options.readers)) + 2;
        auto rows = static_cast<std::size_t>(std::min(size, set_.size()));
        if (options.last == Last::pad) rows = static_cast<std::size_t>(size);
        std::size_t elements = row_bytes(set_.x) / size_of(set_.x.dtype);
        x_pool_ = std::make_shared<Pool>(rows * elements * size_of(set_.x_dtype()), keep);
        y_pool_ = std::make_shared<Pool>(rows * row_bytes(set_.y), keep);
        if (options.shuffle) order_ = shuffled(set_.size(), options);
    }

    std::int64_t count() const {
        return options_.last == Last::drop ? set_.size() / size_ : set_.size() / size_ + (set_.size() % size_ != 0);
    }

    std::vector<std::int64_t> order() const {
        if (options_.shuffle) return order_;
        std::vector<std::int64_t> order(static_cast<std::size_t>(set_.size()));
        std::iota(order.begin(), order.end(), 0);
        return order;
    }

    Batch gather(std::int64_t index) const {
        std::int64_t first = index * size_;
        Batch batch;
        batch.index = index;
        batch.count = std::min(size_, set_.size() - first);
        std::int64_t rows = options_.last == Last::pad ? size_ : batch.count;
        batch.x = room(set_.x, set_.x_dtype(), rows, *x_pool_);
        batch.y = room(set_.y, set_.y.dtype, rows, *y_pool_);
        std::vector<std::uint8_t> scratch;
        for (std::int64_t i = 0; i < rows; ++i) {
            std::int64_t place = (first + i) % set_.size();
            std::int64_t row = order_.empty() ? place : order_[static_cast<std::size_t>(place)];
            copy_x(row, row_at(batch.x, i), scratch);
            if (options_.augment)
                options_.augment->apply(reinterpret_cast<float*>(row_at(batch.x, i)), example_, options_.augment_seed,
                                        options_.epoch, row);
            copy_y(row, row_at(batch.y, i));
        }
        if (options_.change) options_.change(batch, options_.epoch);
        return batch;
    }

  private:
    static Array room(const Array& like, DType dtype, std::int64_t rows, Pool& pool) {
        Dims dims = like.dims;
        dims[0] = rows;
        return Array{dtype, dims, contiguous_strides(dims), 0, pool.take()};
    }
    static std::byte* row_at(Array& array, std::int64_t row) {
        return static_cast<std::byte*>(array.address()) + static_cast<std::size_t>(row) * row_bytes(array);
    }
    /// `scratch` holds a row that is read and then widened.
    void copy_x(std::int64_t row, std::byte* to, std::vector<std::uint8_t>& scratch) const {
        if (!set_.affine) return set_.read_row(row, to);
        std::size_t bytes = row_bytes(set_.x);
        scratch.resize(set_.source ? bytes : 0);
        if (set_.source) set_.read_row(row, scratch.data());
        const std::uint8_t* stored =
            set_.source ? scratch.data() : set_.x.data<std::uint8_t>() + static_cast<std::size_t>(row) * bytes;
        widen(stored, reinterpret_cast<float*>(to), bytes, *set_.affine);
    }
    void copy_y(std::int64_t row, std::byte* to) const {
        std::size_t bytes = row_bytes(set_.y);
        if (bytes)
            std::memcpy(to, static_cast<const std::byte*>(set_.y.address()) + static_cast<std::size_t>(row) * bytes,
                        bytes);
    }

    Dataset set_;
    Dims example_ = set_.example();
    std::int64_t size_;
    BatchOptions options_;
    std::vector<std::int64_t> order_;  // empty: the data's own
    std::shared_ptr<Pool> x_pool_, y_pool_;
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
