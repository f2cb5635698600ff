// Who reads each node of a graph, as it was at one time while the graph is rewritten. Caller: rewrite/counted_readers.h.
#pragma once

#include <numeric>
#include <optional>
#include <vector>

#include "weft/rewrite/table.h"

namespace weft {

class Readers {
  public:
    /// From now on as they are. `inputs(number, f)`: f(number) of what stands for each input of a node.
    template <class Inputs>
    void write_down(Table& table, Inputs inputs) {
        std::size_t count = table.size();
        auto each = [&](auto f) {
            for (std::size_t i = 0; i < count; ++i) {
                auto reader = static_cast<std::int32_t>(i);
                if (table[reader].users == 0) continue;
                inputs(reader, [&](std::int32_t input) { f(reader, static_cast<std::size_t>(input)); });
            }
        };
        starts_.assign(count + 2, 0);  // first, of node i in i + 2, how many there are
        each([&](std::int32_t, std::size_t input) { ++starts_[input + 2]; });
        all_.assign(count, false);
        for (std::size_t i = 0; i < count; ++i)
            all_[i] = table[static_cast<std::int32_t>(i)].users == static_cast<std::uint32_t>(starts_[i + 2]);
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        numbers_.resize(static_cast<std::size_t>(starts_.back()));
        each([&](std::int32_t reader, std::size_t input) {
            numbers_[static_cast<std::size_t>(starts_[input + 1]++)] = reader;
        });
    }
    /// Whether the node with this number was there then.
    bool there(std::int32_t number) const { return static_cast<std::size_t>(number) < all_.size(); }
    /// Who read it; nothing where it is an output too.
    std::optional<std::vector<const Node*>> of(std::int32_t number, Table& table) const {
        auto at = static_cast<std::size_t>(number);
        if (!all_[at]) return std::nullopt;
        std::vector<const Node*> found;
        for (std::int32_t i = starts_[at]; i < starts_[at + 1]; ++i)
            found.push_back(table[numbers_[static_cast<std::size_t>(i)]].node.node());
        return found;
    }

  private:
    std::vector<std::int32_t> starts_, numbers_;  // numbers_ from starts_[i] to starts_[i + 1]: the readers of node i
    std::vector<bool> all_;                       // these are all: it is no output
};

}  // namespace weft
