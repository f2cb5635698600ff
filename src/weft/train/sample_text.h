// Texts that a character or word model goes on with: symbol after symbol, each drawn by what the network says comes next. Callers:
// cli/sample.cpp, look/, the Python package.
#pragma once

#include <cstdint>
#include <string>

#include "weft/train/run.h"

namespace weft::train {

struct TextSampleOptions {
    std::int64_t count = 400;  // symbols
    std::uint64_t seed = 1;    // of the global generator, which draws
    double temperature = 1;    // scores are divided by it: below 1 the likely is likelier still
    std::string prompt = "";   // what stands before; a new line, or else the first symbol, if nothing does
};

/// Whether a run's model says which symbol of a text comes next: its data are of `text`, its scores one a symbol and place.
bool is_text_model(const Run& run);

/// So many symbols behind the prompt, without it: each drawn from softmax(scores / temperature) of the last place of a window of the training
/// length. What the model looks at must lie before that place. ConfigError if the run has no such model, the prompt has a symbol that its
/// text had not, a count is below 1 or a temperature not above 0.
std::string sample_text(const Run& run, const TextSampleOptions& options = {});

}  // namespace weft::train
