// The records of activation.inc become operations here.
#include "weft/ops/elementwise.h"

namespace weft {

#include "weft/ops/activation.inc"

}  // namespace weft
