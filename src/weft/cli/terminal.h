// What a person sees of a run: the data and the network at the start, a bar while an epoch runs (on a terminal only), a line of a table
// for each epoch. Caller: cli/train.cpp.
#pragma once

#include <chrono>

#include "weft/cli/time_left.h"
#include "weft/train/run.h"

namespace weft::cli {

class Terminal : public train::Watcher {
  public:
    explicit Terminal(bool quiet);
    void begun(const train::Phase& phase, const train::Network& network,
               const std::vector<std::pair<std::string, data::Dataset>>& sets) override;
    void resumed(const train::Progress& progress) override;
    void batch(const train::Progress& progress, std::int64_t batches) override;
    void evaluating(const std::string& set) override;
    void remark(const std::string& text) override;
    void epoch(const Json& line, bool kept) override;
    void ended(const Json& line) override;

  private:
    using Clock = std::chrono::steady_clock;
    void table_head();
    void clear_bar();
    void print_cell(const std::string& cell, std::size_t width);

    bool quiet_, bar_, colour_;
    bool bar_shown_ = false, head_shown_ = false;
    std::vector<std::string> channels_;
    std::int64_t last_examples_ = 0;
    double last_seconds_ = 0;
    TimeLeft left_;
    Clock::time_point epoch_begun_ = Clock::now(), drawn_ = {};
};

using Rows = std::vector<std::vector<std::string>>;
/// Columns under each other for a terminal, with tabs between them for a pipe.
void print_rows(const Rows& rows);

}  // namespace weft::cli
