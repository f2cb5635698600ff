// What the model that a run has kept says of new examples: these are read from a file, prepared as the run's training set was, and answered
// a batch at a time. Callers: cli/predict.cpp, users.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "weft/train/run.h"

namespace weft::train {

/// Examples of a file (.npy, .npz, .h5, .mat, .csv, else IDX, perhaps .gz), prepared; without targets. Of several arrays it is the one that is
/// called as the run's input, `x`, or the only one; of several inputs each by its name. Rows of as many numbers as an example has are
/// examples. Sequences may be of any length; that of each is the array `lengths`, or all of them are full. ConfigError names the file, the shape it has and the one that the run wants.
data::Dataset load_examples(const Run& run, const std::filesystem::path& file);

/// Arrays by their names; one that has no name is "x".
using Arrays = std::map<std::string, Array, std::less<>>;
/// The same of arrays; messages call them `file`.
data::Dataset prepared_examples(const Run& run, const Arrays& arrays, const std::filesystem::path& file);

/// One example of zeros, prepared: it has the shape and type of those that the run's network takes.
data::Dataset blank_example(const Run& run);

/// Of one batch, by one output. Without a cost of class numbers, `outputs` is all there is.
struct Answers {
    std::string name = {};  // the layer's path; "" of what the network gives
    Array outputs;          // (batch, ...)
    Array classes;          // (batch), int64
    Array probabilities;    // (batch, classes), where the cost says them
};

/// f for each batch, in order: what the network gives, and what layers give that have costs of their own (`of:`). `examples` are prepared.
void predict(const Run& run, const data::Dataset& examples,
             const std::function<void(const std::vector<Answers>& batch)>& f);

/// The names of the classes of an output ("" is what the network gives), as the training data have them; none if these have no names.
std::vector<std::string> class_names(const Run& run, const std::string& output = "");

}  // namespace weft::train
