// The weights of a network's first layer as pictures, a unit or a kernel each. Caller: look/run_report.cpp.
#pragma once

#include "weft/train/run.h"
#include "weft/viz/report.h"

namespace weft::look {

/// Of a matrix each row as data were before they were prepared, where `prepare:` has an inverse: with z = P (x - m), unit w is drawn as the
/// change of x by which z moves along w, P^-1 w (as Pylearn2's show_weights maps weights back). Else, and of kernels, the numbers themselves.
void add_first_layer(viz::Report& report, const train::Run& run, const train::Network& network);

}  // namespace weft::look
