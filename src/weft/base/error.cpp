#include "weft/base/error.h"

namespace weft {

void refuse_broken_promise(const char* what) {
    throw InternalError(text("weft broke a promise of its own: ", what, ". Please report this."));
}

}  // namespace weft
