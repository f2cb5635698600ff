// A data set: examples x and what they should give, y, one a row of the first axis, in memory or (x alone) read when a
// batch wants it; and, by name, what an example has besides: further inputs, further targets. It is a handle: copies and slices share the numbers, which nobody changes. A data set for training,
// validation and test is a DataSplits.
// Callers: every source in data/, data/prepare.h, data/batches.h, train/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/core/array.h"

namespace weft::data {

class Batches;
struct BatchOptions;

/// What stored bytes mean: float32(byte) * multiply + add. Pictures stay bytes in memory and become floats a batch at a
/// time.
struct Affine {
    float multiply = 1, add = 0;
};

/// Examples that are not in memory.
class RowSource {
  public:
    virtual ~RowSource() = default;
    /// Writes x's row to `to`, as x's dtype and example say. Called by several threads at once.
    virtual void read(std::int64_t row, void* to) const = 0;
};

struct Field;

struct Dataset {
    Array x, y;                         // (n, ...) each, row-major
    std::optional<Affine> affine = {};  // how x of uint8 becomes float32; nothing: x is used as it is stored
    std::optional<std::pair<double, double>> range =
        {};                                 // least and greatest value that x can hold, where that is known
    std::vector<std::string> names = {};    // of x's columns, where they have names
    std::vector<std::string> classes = {};  // of y's labels, where y holds labels
    std::shared_ptr<const RowSource> source =
        {};  // where x comes from; x then has no memory, its offset says from which row on
    std::string x_name = "x", y_name = "y";
    std::vector<Field> fields = {};  // what an example has beside x and y
    /// (n) int64: how many places of x's axis 1 an example fills; behind them is padding, also in what else has this axis. Without dims: all.
    Array lengths = {};

    std::int64_t size() const { return x.dims.empty() ? 0 : x.dims[0]; }
    /// The shape of one example.
    Dims example() const;
    /// The dtype of x in a batch: float32 if x is stored as bytes with an affine meaning.
    DType x_dtype() const { return affine ? DType::float32 : x.dtype; }

    bool has_lengths() const { return lengths.ndim() == 1; }
    /// Whether rows of this array go along x's axis 1, and so are padded where x is.
    bool goes_along(const Array& values) const;
    /// Rows first .. last-1, sharing the numbers. IndexError if these are not there.
    Dataset rows(std::int64_t first, std::int64_t last) const;
    /// Every example in another shape of as many elements. ShapeError if that is not so.
    Dataset reshaped(const Dims& example) const;
    Dataset flat() const;
    /// All of x as it stands in a batch, in memory.
    Array inputs() const;
    /// Writes row `row` of x, as it is stored, to `to`. Any thread.
    void read_row(std::int64_t row, void* to) const;

    /// Batches of `size` rows, to walk over: for (auto [x, y] : set.batches(128, {.shuffle = 1})). ValueError if size
    /// < 1.
    Batches batches(std::int64_t size, const BatchOptions& options) const;
    Batches batches(std::int64_t size) const;

    /// ShapeError unless x, y and the fields hold as many rows, are row-major and have names of their own, and lengths are possible.
    void check(const std::string& name) const;
};

/// A further input, or target, of each example: x of a data set of its own, which has no y.
struct Field {
    std::string name;
    bool target = false;  // what the network should give, not what it is given
    Dataset data;
};

struct DataSplits {
    Dataset train, valid, test;
};

/// Rows begin .. end-1 of an array's first axis, sharing the numbers.
Array rows_of(const Array& array, std::int64_t begin, std::int64_t end);
/// The same numbers (which are row-major) in another shape.
Array reshaped(const Array& array, const Dims& dims);

/// An array of these sizes without memory: what x is where a RowSource gives the rows.
Array unread(DType dtype, const Dims& dims);
/// The same with x in memory, read by all threads.
Dataset in_memory(const Dataset& set);

/// A data set of arrays in memory. ShapeError if x and y do not hold as many rows.
Dataset arrays(const Array& x, const Array& y);

/// Grey pictures of bytes, as the user wants to have them: flat or not, 0 .. 1 or 0 .. 255.
Dataset pictures(Dataset set, bool flat, bool scaled);

}  // namespace weft::data
