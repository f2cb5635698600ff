// The batches of a data set, in order or shuffled. Which rows stand in batch b of epoch e follows from the seed, e and
// b alone, so a run can go on at any batch without replaying the ones before. A walk gathers batches in threads of its
// own, a few ahead, and hands them out in order; sequences of near lengths can stand together (data/bucket_order.h). Memory is bounded and used again once the user let go of a batch. Callers: Dataset::batches,
// train/.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "weft/data/dataset.h"

namespace weft::data {

class Augmentation;

enum class Last : std::uint8_t {
    keep,
    drop,
    pad
};  // a last batch that is not full: shorter; not there; filled up from the start

/// Structured bindings see x and y: for (auto [x, y] : batches).
struct Batch {
    Array x, y;
    std::vector<Array> fields = {};  // in the order of the data set's
    Array lengths = {};              // of the sequences in x, where the data set has some
    std::int64_t count = 0;          // rows that stand in the data; what is beyond is padding
    std::int64_t index = 0;          // in its epoch

    template <std::size_t I>
    const Array& get() const {
        if constexpr (I == 0)
            return x;
        else
            return y;
    }
};

struct BatchOptions {
    std::optional<std::uint64_t> shuffle = {};  // the seed of the order; nothing: the data's own order
    std::int64_t epoch = 0;                     // each has an order of its own
    Last last = Last::keep;
    std::int64_t first = 0;  // the batch to begin with
    int prefetch = 2;        // batches gathered ahead; 0: none, and no thread
    int readers = 1;         // threads that gather; more batches are gathered ahead if there are more of these
    /// Shuffled so that a row comes at most about this many places from where it lies: for data that are read from a disk in their order.
    /// 0: anywhere.
    std::int64_t window = 0;
    /// Of data with lengths: a batch holds examples of one bucket and is cut where that ends; these are the ends, ascending. What is longer
    /// than the last has a bucket of its own. Empty: one batch is as wide as another.
    std::vector<std::int64_t> buckets = {};
    std::shared_ptr<const Augmentation> augment = {};  // what is done to each row of x, in the gathering threads
    std::uint64_t augment_seed = 0;
    /// Changes a batch after it was gathered, in a gathering thread; with several, at the same time as others. What it gives must follow from
    /// its arguments.
    std::function<void(Batch& batch, std::int64_t epoch)> change = {};
};

/// Ends of so many buckets, each for as many examples of these data; fewer where lengths are equal. ValueError if the data have no lengths.
std::vector<std::int64_t> bucket_ends(const Dataset& set, std::int64_t count);

class Gatherer;

class Batches {
  public:
    /// ValueError if size < 1 or an option is out of its range.
    Batches(const Dataset& set, std::int64_t size, const BatchOptions& options);

    /// Batches in an epoch, from the first one, not only what is left.
    std::int64_t count() const;
    /// Batch `index` of the epoch, gathered now.
    Batch at(std::int64_t index) const;
    /// The row of the data set at each place of the epoch's order.
    std::vector<std::int64_t> order() const;

    class Iterator;
    struct End {};
    /// Starts a walk; several may go on at once.
    Iterator begin() const;
    End end() const { return {}; }

  private:
    std::shared_ptr<Gatherer> gatherer_;
    BatchOptions options_;
};

/// A walk, single-pass: can be moved, not copied. Its threads end with it.
class Batches::Iterator {
  public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator(std::shared_ptr<Gatherer> gatherer, const BatchOptions& options);
    Iterator(Iterator&&) noexcept;
    Iterator& operator=(Iterator&&) noexcept;
    ~Iterator();

    const Batch& operator*() const { return batch_; }
    /// Waits for the next batch. An exception of the gathering thread is thrown here.
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(End) const { return ended_; }

  private:
    class Walk;
    std::unique_ptr<Walk> walk_;
    Batch batch_;
    bool ended_ = false;
};

}  // namespace weft::data

template <>
struct std::tuple_size<weft::data::Batch> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, weft::data::Batch> {
    using type = const weft::Array;
};
