// Columns in memory as Apache Arrow lays them out (its C data interface: a published layout that every Arrow library, of any version,
// hands out), and what weft makes of them. Callers: io/parquet.h, the module that reads
// Parquet (src/modules/parquet.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/core/array.h"

namespace weft::io {

/// The two structures of the interface, member by member; who is given one calls its `release`.
struct ArrowSchema {
    const char *format, *name, *metadata;
    std::int64_t flags, n_children;
    ArrowSchema **children, *dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    std::int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray **children, *dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

/// One of these, empty at first; released at the end.
template <class T>
struct ArrowOwned : T {
    ArrowOwned() : T{} {}
    ~ArrowOwned() {
        if (this->release) this->release(this);
    }
    ArrowOwned(const ArrowOwned&) = delete;
    ArrowOwned& operator=(const ArrowOwned&) = delete;
};

/// What a column holds, as far as its schema tells.
struct ColumnKind {
    DType dtype = DType::float32;  // of numbers; int64 of words
    bool words = false;            // each cell a word
    bool list = false;             // each cell a list of numbers, or words
    std::string unread = {};       // the type, if it is one that weft does not read
};
ColumnKind kind_of(const ArrowSchema& schema);

struct ColumnCells {
    Array numbers;                        // (n, 1), or of lists (n, length of each)
    std::vector<std::string> words = {};  // numbers are places in it, where cells hold words
};
/// A column's cells, of a kind that weft reads. FileError begins with `place` and names the row (the first is row `first`): one without a value, a list of another length
/// than `length` (-1: than the first). The array is one that the library has found valid.
ColumnCells cells_of(const ArrowSchema& schema, const ArrowArray& array, const std::string& place, std::int64_t first,
                     std::int64_t length = -1);

}  // namespace weft::io
