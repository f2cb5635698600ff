// The weights of a network's first layer as pictures, a unit or a kernel each. Caller: look/run_report.cpp.
#pragma once

#include "weft/train/run.h"
#include "weft/viz/report.h"

namespace weft::look {

/// Of a matrix each row as data were before they were prepared, where `prepare:` has an inverse (look/originals.h); else, and of kernels, the
/// numbers themselves. What reads colours is drawn in colours. ShapeError says why there is nothing to draw.
void add_first_layer(viz::Report& report, const train::Run& run, const train::Network& network,
                     const std::string& input = "x");

}  // namespace weft::look
