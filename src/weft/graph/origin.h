// Origin: a node's identity, by which a computed node remembers the expression that it let go of: which leaves stood below it. So a
// derivative that is asked for afterwards can be refused where it would be wrong, and only there. Leaves that are gone are forgotten:
// memory is bounded by what lives.
// Callers: runtime/ (as values are computed), autodiff/.
#pragma once

#include <atomic>
#include <span>

#include "weft/base/small_vector.h"
#include "weft/graph/identity.h"

namespace weft {

struct Graph;
struct Node;

using Leaves = SmallVector<Identity, 4>;  ///< in order, each once

class Origin {
  public:
    Origin() = default;
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;
    ~Origin() {
        if (Identity mine = self()) mine.end();
    }

    /// The node's identity: it has one once something computed depends on it.
    Identity self() const { return self_.load(std::memory_order_acquire); }
    /// The same; from now on it has one.
    Identity identify();

  private:
    std::atomic<Identity> self_{};
};

/// What a node of this graph remembers when it is computed with it.
Leaves leaves_below(const Graph& graph);
/// The same of a node above these, which are kept meanwhile.
Leaves leaves_below(const Node& node, std::span<Node* const> below);

/// Whether `x` may stand below the computed node: exactly, where x has an identity; of another pending x where all leaves below it do.
bool may_come_from(const Node& computed, Node& x);

}  // namespace weft
