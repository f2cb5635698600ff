// The records of logic.inc become operations here.
#include "weft/ops/elementwise.h"

namespace weft {

#include "weft/ops/logic.inc"

}  // namespace weft
