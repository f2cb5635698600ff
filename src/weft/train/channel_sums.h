// Channels that are a few sums over examples, and a figure made of these: most of them. Callers: train/*channels.cpp.
#pragma once

#include "weft/base/error.h"
#include "weft/train/channel.h"

namespace weft::train {

using Totals = std::vector<double>;

/// Totals that `add` adds to and `figures` makes figures of.
class SumsOf final : public Accumulator {
  public:
    using Figures = std::vector<std::pair<std::string, double>>;
    SumsOf(std::size_t count, std::function<void(const Judged&, Totals&)> add,
           std::function<Figures(const Totals&)> figures)
        : sums_(count), add_(std::move(add)), figures_(std::move(figures)) {}
    void add(const Judged& batch) override { add_(batch, sums_); }
    Figures figures() const override { return figures_(sums_); }
    std::vector<double> state() const override { return sums_; }
    void restore(std::span<const double> state) override {
        if (state.size() != sums_.size())
            throw FileError(text("a channel has ", sums_.size(), " sums, the checkpoint ", state.size()));
        sums_.assign(state.begin(), state.end());
    }

  private:
    Totals sums_;
    std::function<void(const Judged&, Totals&)> add_;
    std::function<Figures(const Totals&)> figures_;
};

/// Any shape and type, as doubles in C's order.
std::vector<double> as_doubles(const Array& array);  // channels.cpp

}  // namespace weft::train
