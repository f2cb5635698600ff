// log.jsonl: a JSON object a line; a line an epoch, one a step where that is asked for, and at the end one of the model that is kept
// ("final": true). Where an experiment has phases, every line names its own ("phase": "pretrain"), and each phase has a final line. A line is appended in one write and flushed to the disk. The only member that depends on time is "seconds".
// Callers: train/run.cpp, cli/.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weft/base/json.h"

namespace weft::train {

/// Every whole line; a last one that was cut short or damaged is left out, and `torn` says so. FileError names a line before it that is no
/// JSON.
std::vector<Json> read_log(const std::filesystem::path& path, std::string* torn = nullptr);

class Log {
  public:
    /// The log at `path` with its first `keep` lines; what stands behind them is gone (atomically). FileError if it has fewer.
    Log(std::filesystem::path path, std::int64_t keep);
    void append(const Json& line);
    /// Who gets every line from now on, too.
    void copy_to(std::function<void(const Json& line)> copy) { copy_ = std::move(copy); }
    std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
    const std::vector<Json>& lines() const { return lines_; }
    /// The figures of one channel in the lines of a phase's epochs ("": of the one phase there is).
    std::vector<double> history(const std::string& phase, const std::string& channel) const;
    /// The figure of a channel in the epoch whose model an earlier phase kept.
    std::optional<double> kept(const std::string& phase, const std::string& channel) const;

  private:
    std::filesystem::path path_;
    std::vector<Json> lines_;
    std::function<void(const Json& line)> copy_;
};

/// Whether a line is an epoch's.
bool is_epoch(const Json& line);
/// Whether a member of a line is a figure, and not where the run stood then.
bool is_figure(const Json::Member& member);
/// The phase of a line; "" where there is but one.
std::string phase_of(const Json& line);

}  // namespace weft::train
