// The records of arithmetic.inc become operations here.
#include "weft/ops/elementwise.h"

namespace weft {

#include "weft/ops/arithmetic.inc"

}  // namespace weft
