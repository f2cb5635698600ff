// Where the seconds of a run went: times.json in its folder, which reports show. Callers: train/trainer.cpp.
#pragma once

#include <filesystem>

namespace weft::train {

struct Times {
    double steps = 0, data = 0, waiting = 0, evaluation = 0, checkpoints = 0, compiling = 0;
    double total() const { return steps + data + waiting + evaluation + checkpoints + compiling; }
};

/// Adds a sitting of `elapsed` seconds to what the file says of those before it: a run may have been stopped and resumed.
void add_times(const std::filesystem::path& file, const Times& times, double elapsed);

}  // namespace weft::train
