// A checkpoint is a folder with all state of a run: model.safetensors (weights under PyTorch's names), state.safetensors (the
// optimizer's cells, the random generator, what preparation learned, what the monitor gathered) and state.json (where the run stands). It is replaced as a whole,
// and holds nothing that depends on time. Callers: train/run.cpp, cli/.
#pragma once

#include <filesystem>
#include <optional>

#include "weft/train/objective.h"

namespace weft::train {

struct Progress {
    std::int64_t phase = 0;  // which of the experiment's, from 0; what follows counts within it
    std::int64_t epoch = 0;  // done
    std::int64_t batch = 0;  // of the epoch that is running, done
    std::int64_t step = 0, examples = 0;
    Sums sums;                   // of the epoch that is running
    std::optional<double> best;  // of keep_best's figure
    std::int64_t best_epoch = 0, log_lines = 0;
    std::string data;  // the training set's fingerprint; empty: of an earlier version
};

/// FileError, and the old checkpoint as it was, if it cannot be written.
void save_checkpoint(const std::filesystem::path& folder, const nn::Module& model, const optim::Optimizer& optimizer,
                     const data::Preparation& preparation, const Progress& progress,
                     const nn::NamedArrays& monitor = {});

/// Gives all cells their saved values. FileError names what is missing or does not fit.
Progress load_checkpoint(const std::filesystem::path& folder, const nn::Module& model,
                         const optim::Optimizer& optimizer);
/// What the monitor had gathered within an epoch, as it was given to save_checkpoint().
nn::NamedArrays load_monitor(const std::filesystem::path& folder);
/// Where the run stood.
Progress load_progress(const std::filesystem::path& folder);
/// Weights and preparation alone: for using a model.
Progress load_model(const std::filesystem::path& folder, const nn::Module& model);
void load_preparation(const std::filesystem::path& folder, data::Preparation& preparation);

}  // namespace weft::train
