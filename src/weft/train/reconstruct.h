// What a model gives back of examples, and where it puts them: what reports show as pictures and as points. Of autoencoders (a cost whose
// target is the input, or a layer's value of its size), of Boltzmann machines, and of networks that embed. Caller: cli/report.cpp.
#pragma once

#include <optional>

#include "weft/train/network.h"

namespace weft::train {

/// Both (n, ...), of the same size an example; layers are in the mode of evaluation.
struct Reconstruction {
    Array wanted, given;
};

/// Nothing, if the model gives nothing back that has the size of an example.
std::optional<Reconstruction> reconstructed(const Phase& phase, const Network& network, const data::Dataset& examples);

/// A point (n, 2) for each example, (n, units) float32: as they are if they have two units, else by their first two principal components.
Array in_the_plane(const Array& codes);

}  // namespace weft::train
