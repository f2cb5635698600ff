// While one lives on this thread, cells are read as inputs of their shape and what is written is noted alone: what a network would give can be asked
// for its shape, its type and its operations without a number being computed, not even the initial values.
// Callers: train/builder.cpp, train/network.cpp, train/dry_run.cpp.
#pragma once

#include <unordered_map>
#include <vector>

#include "weft/graph/node.h"
#include "weft/graph/parameter.h"

namespace weft::train {

class StandIns final : public CellObserver {
  public:
    Tensor read(const std::shared_ptr<Cell>& cell) override {
        auto [known, fresh] = inputs_.try_emplace(cell.get());
        if (fresh) known->second = input(cell->name, cell->value.shape(), cell->value.dtype());
        return known->second;
    }
    void write(const std::shared_ptr<Cell>&, const Tensor& value) override { written.push_back(value); }

    std::vector<Tensor> written;  // what cells would have become, in order

  private:
    std::unordered_map<const Cell*, Tensor> inputs_;
};

}  // namespace weft::train
