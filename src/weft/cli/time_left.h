// How long a run still takes, by how long what it has done took. Caller: cli/terminal.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace weft::cli {

class TimeLeft {
  public:
    /// From here on time counts; `epochs`: after how many the run ends, 0: nobody knows.
    void begin(std::int64_t epochs) { epochs_ = epochs, started_ = false; }
    /// `position`: epochs that are done, and the part of the one that runs; `seconds` on any clock.
    void at(double position, double seconds);
    /// "12 s left", of several epochs "12 s left, 3 min 05 s to the end"; empty as long as that is a guess.
    std::string words() const;

  private:
    std::int64_t epochs_ = 0;
    bool started_ = false;
    double first_position_ = 0, first_seconds_ = 0;
    double epoch_left_ = -1, run_left_ = -1;
};

/// "12 s", "3 min 05 s", "2 h 10 min".
std::string duration(double seconds);

}  // namespace weft::cli
