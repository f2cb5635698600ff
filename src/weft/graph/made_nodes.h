// What a function makes while it is traced: so a conditional knows what belongs to a branch, to be computed only where that is taken, also
// where it depends on nothing that the branch was given. What stood there before is read from outside. Callers: autodiff/cond*.cpp, python/.
#pragma once

#include <span>

#include "weft/graph/node.h"

namespace weft {

/// While one lives on this thread, nodes that are made there are written down, and kept; nothing is computed because much is pending. They nest,
/// the last begun ends first.
class MadeNodes {
  public:
    MadeNodes();
    ~MadeNodes();
    MadeNodes(const MadeNodes&) = delete;
    MadeNodes& operator=(const MadeNodes&) = delete;
    std::span<const Tensor> nodes() const;

  private:
    KeepPending keep_;
    std::size_t first_;
};

}  // namespace weft
