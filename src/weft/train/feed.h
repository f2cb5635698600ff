// What a batch brings a network and its costs, in the order in which compiled functions take it: x, y, further fields by name, the lengths of
// sequences. Made of a data set; from it follow stand-ins of a batch, a batch's arguments, and what layers and costs find in nn::Given.
// Callers: train/network.cpp, objective.cpp, dry_run.cpp, predict.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/data/batches.h"
#include "weft/nn/given.h"

namespace weft::train {

struct Feed {
    struct Part {
        std::string name;
        bool target = false;
        Dims example;  // its shape
        DType dtype = DType::float32;
        bool along = false;  // padded where x is
    };
    Feed() = default;
    explicit Feed(const data::Dataset& like);

    /// The input of this name beside x, or x; null if there is none.
    const Part* input(std::string_view name) const;
    std::vector<std::string_view> inputs() const;

    /// Symbols for a batch of so many examples. `time`: places of sequences that have lengths, if not as many as in the data.
    std::vector<Tensor> stand_ins(const Size& batch, std::optional<std::int64_t> time = {}) const;
    static std::vector<Tensor> arguments(const data::Batch& batch);
    /// Of such arguments, or of their first two alone.
    nn::Given given(std::span<const Tensor> arguments) const;

    std::vector<Part> parts;  // x and y, then the others; a data set without targets has a y without axes
    bool lengths = false;
};

}  // namespace weft::train
