// What a batch has beside the one value that runs through a network: further inputs and targets by name, and how long each of its sequences is.
// While a Given lives, layers and costs that are written on its thread find it there; in a traced function the values are part of the trace.
// Callers: train/ (makes it of a batch), layers of sequences, costs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/graph/tensor.h"

namespace weft::nn {

class Given {
  public:
    /// `lengths`: (batch,) int64, the places of axis 1 that are no padding; empty: there is none. `time`: how many places axis 1 has.
    explicit Given(std::vector<std::pair<std::string, Tensor>> values, Tensor lengths = {}, Size time = Size(0));
    ~Given();
    Given(const Given&) = delete;
    Given& operator=(const Given&) = delete;

    /// That of the innermost scope on this thread; ValueError if it has no value of this name.
    static const Tensor& named(std::string_view name);
    /// Whether there is one.
    static bool has(std::string_view name);

    /// The lengths for a value that is padded along axis 1, (batch, time, ...); empty for any other, and where nothing is padded.
    static Tensor lengths_for(const Tensor& value);

  private:
    std::vector<std::pair<std::string, Tensor>> values_;
    Tensor lengths_;
    Size time_;
    Given* outer_;
};

/// (batch, time): whether there is something at a place of a value with these lengths.
Tensor filled(const Tensor& lengths, const Size& time);

}  // namespace weft::nn
