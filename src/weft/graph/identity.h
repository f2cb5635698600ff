// Identity: what tells a node from every other, also once it is gone. It is a place in a table and the turn that the node has there; when
// the node goes, the place has its next turn and is somebody else's. So an identity is eight bytes that are copied freely, and whether
// its node still lives is one read: to remember a million costs no counts. Callers: graph/origin.h.
#pragma once

#include <compare>
#include <cstdint>

namespace weft {

class Identity {
  public:
    Identity() = default;  ///< nobody's
    /// One that no node has, or has had.
    static Identity fresh();
    /// Its node is gone. Called once.
    void end() const;
    bool lives() const;

    explicit operator bool() const { return turn_ != 0; }
    friend auto operator<=>(const Identity&, const Identity&) = default;

  private:
    Identity(std::uint32_t place, std::uint32_t turn) : place_(place), turn_(turn) {}
    std::uint32_t place_ = 0, turn_ = 0;  // turns count from 1
};

}  // namespace weft
