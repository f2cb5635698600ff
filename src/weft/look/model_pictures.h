// What a report shows of a model that classifies nothing: examples above their reconstructions, examples that it makes up, and where it puts
// the examples of a set. Caller: cli/report.cpp.
#pragma once

#include "weft/train/objective.h"
#include "weft/viz/report.h"

namespace weft::look {

/// Where the model gives some, and these are pictures.
void add_reconstructions(viz::Report& report, const train::Phase& phase, const train::Network& network,
                         const data::Dataset& set);
void add_samples(viz::Report& report, const train::Phase& phase, const train::Network& network,
                 const data::Dataset& set);
/// Outputs in the plane, of sets with classes.
void add_embedding(viz::Report& report, train::Objective& objective, const data::Dataset& set);

}  // namespace weft::look
