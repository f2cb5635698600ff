// The records of stable.inc.
#include "weft/ops/elementwise.h"

namespace weft {
#include "weft/ops/stable.inc"
}  // namespace weft
