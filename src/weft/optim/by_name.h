// Several optimizers at once, each for the parameters whose names it is given: two networks against each other, weights by Muon and tables
// by Adagrad. Callers: train/ (optimizer `by_name`), users.
#pragma once

#include <memory>

#include "weft/optim/optimizer.h"

namespace weft::optim {

/// A parameter goes to the first part whose glob matches its name. Rates are called "GLOB lr"; "lr" alone is the first part's.
class ByName final : public Optimizer {
  public:
    struct Part {
        std::string match;
        std::unique_ptr<Optimizer> optimizer;
    };
    /// ValueError without parts, or with a method that searches along lines, which sees one loss and all parameters.
    explicit ByName(std::vector<Part> parts);

    void step(std::span<const Parameter> parameters, std::span<const Tensor> gradients) override;
    void prepare(std::span<const Parameter> parameters) override;
    /// ValueError for a parameter that no part takes, or a part that takes none.
    void check(std::span<const Parameter> parameters) const override;
    void use_averages(bool use) override;
    bool uses_averages() const override;
    std::vector<std::pair<std::string, Parameter>> named_state() const override;
    void set(std::string_view rate, double value) override;
    double get(std::string_view rate) const override;
    std::vector<std::string_view> rates() const override { return {rate_names_.begin(), rate_names_.end()}; }

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override { return {}; }
    void update(DType, std::span<Slot*>) override {}
    /// For each part, which of the parameters are its own.
    std::vector<std::vector<std::size_t>> shares(std::span<const Parameter> parameters) const;
    /// The part of a rate, and what it calls it.
    std::pair<Optimizer*, std::string_view> rate_of(std::string_view rate) const;

    std::vector<Part> parts_;
    std::vector<std::string> rate_names_;
};

}  // namespace weft::optim
