#include "weft/data/batches.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "weft/base/error.h"
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

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    CounterRandom random(seed, static_cast<std::uint64_t>(epoch));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);  // Fisher & Yates
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
        auto keep = static_cast<std::size_t>(options.prefetch) + 2;  // waiting, being gathered, and in the user's hands
        auto rows = static_cast<std::size_t>(std::min(size, set_.size()));
        if (options.last == Last::pad) rows = static_cast<std::size_t>(size);
        std::size_t elements = row_bytes(set_.x) / size_of(set_.x.dtype);
        x_pool_ = std::make_shared<Pool>(rows * elements * size_of(set_.x_dtype()), keep);
        y_pool_ = std::make_shared<Pool>(rows * row_bytes(set_.y), keep);
        if (options.shuffle) order_ = shuffled(set_.size(), *options.shuffle, options.epoch);
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

Batches::Iterator Batches::begin() const { return Iterator(gatherer_, options_.first, options_.prefetch); }

/// What a walk's thread and its user share: a short queue. Without a thread, batches are gathered when they are asked
/// for.
class Batches::Iterator::Walk {
  public:
    Walk(std::shared_ptr<Gatherer> gatherer, std::int64_t first, int prefetch)
        : gatherer_(std::move(gatherer)), next_(first), ahead_(static_cast<std::size_t>(prefetch)) {
        if (ahead_ > 0 && next_ < gatherer_->count()) thread_ = std::thread([this] { run(); });
    }
    ~Walk() {
        {
            std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    /// The next batch, or nothing after the last.
    std::optional<Batch> next() {
        if (!thread_.joinable())
            return next_ < gatherer_->count() ? std::optional(gatherer_->gather(next_++)) : std::nullopt;
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !queue_.empty() || finished_; });
        if (queue_.empty() && error_) std::rethrow_exception(error_);
        if (queue_.empty()) return std::nullopt;
        Batch batch = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        changed_.notify_all();
        return batch;
    }

  private:
    void run() {
        std::exception_ptr error;
        try {
            while (next_ < gatherer_->count() && put(gatherer_->gather(next_))) ++next_;
        } catch (...) {
            error = std::current_exception();
        }
        {
            std::lock_guard lock(mutex_);
            error_ = error;
            finished_ = true;
        }
        changed_.notify_all();
    }
    /// Waits for room; false if the walk has ended meanwhile.
    bool put(Batch batch) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return queue_.size() < ahead_ || stop_; });
        if (stop_) return false;
        queue_.push_back(std::move(batch));
        lock.unlock();
        changed_.notify_all();
        return true;
    }

    std::shared_ptr<Gatherer> gatherer_;
    std::int64_t next_;  // the thread's alone while there is one
    std::size_t ahead_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Batch> queue_;
    std::exception_ptr error_;
    bool finished_ = false, stop_ = false;
    std::thread thread_;
};

Batches::Iterator::Iterator(std::shared_ptr<Gatherer> gatherer, std::int64_t first, int prefetch)
    : walk_(std::make_unique<Walk>(std::move(gatherer), first, prefetch)) {
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
