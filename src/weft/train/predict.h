// What the model that a run has kept says of new examples: these are read from a file, prepared as the run's training set was, and answered
// a batch at a time. Callers: cli/predict.cpp, users.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "weft/train/run.h"

namespace weft::train {

/// Examples of a file (.npy, .npz, .csv, else IDX, perhaps .gz), prepared; without targets. Of .npz it is the array `x`, or the only one. Rows
/// of as many numbers as an example has are examples. ConfigError names the file, the shape it has and the one that the run wants.
data::Dataset load_examples(const Run& run, const std::filesystem::path& file);

/// One example of zeros, prepared: it has the shape and type of those that the run's network takes.
data::Dataset blank_example(const Run& run);

/// Of one batch. Without a cost of class numbers, `outputs` is all there is.
struct Answers {
    Array outputs;        // (batch, ...), what the network gives
    Array classes;        // (batch), int64
    Array probabilities;  // (batch, classes), where the cost says them
};

/// f for each batch, in order. `examples` are prepared.
void predict(const Run& run, const data::Dataset& examples, const std::function<void(const Answers& batch)>& f);

/// The names of the classes, as the training data have them; none if these have no names.
std::vector<std::string> class_names(const Run& run);

}  // namespace weft::train
