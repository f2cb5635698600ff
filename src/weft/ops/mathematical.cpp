// The records of mathematical.inc become operations here.
#include "weft/kernel/special.h"
#include "weft/ops/elementwise.h"

namespace weft {

#include "weft/ops/mathematical.inc"

}  // namespace weft
