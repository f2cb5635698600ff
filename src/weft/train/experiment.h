// An experiment, checked: its phases, one after the other. A file without `phases:` is one phase; with it, each is laid over what stands
// beside, and what one phase has trained the next one goes on from, by the names of parameters. Making one touches no data.
// Callers: train/run.cpp, cli/.
#pragma once

#include <filesystem>

#include "weft/data/held.h"
#include "weft/train/phase.h"

namespace weft::train {

struct Experiment {
    /// `description` is put together already (compose.h), of `written` if that is given. ConfigError("file:line:column: ...").
    explicit Experiment(const Json& description, const Json& written = {});

    /// What was described, as a file that reads back to the same.
    std::string yaml() const;
    /// Writes that file; JSON, which every build reads, if its name ends so. FileError if it cannot be written.
    void save(const std::filesystem::path& file) const;

    Json written;  // before variables had values, of which a search tries others; the description, if nobody said more
    Json description;                   // as it was given
    Json config;                        // complete: a run keeps it, and can be made from it again
    std::vector<Phase> phases;          // at least one
    std::vector<data::Hold> held = {};  // arrays of the program that are its data, and live as long as it does
};

/// What `weft help experiment` prints: the keys of a file.
std::string help_on_experiment();

}  // namespace weft::train
