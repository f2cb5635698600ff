// How many read each node of a graph that is being rewritten, exactly: a node counts for its inputs while somebody reads it. Who they are
// is written down when a rule asks, once a phase. Callers: rewrite/rewrite.cpp; rules, as Site::Users.
#pragma once

#include <utility>

#include "weft/rewrite/readers.h"
#include "weft/rewrite/rule.h"

namespace weft {

class CountedReaders final : public Site::Users {
  public:
    static constexpr std::uint32_t as_output = 2;  // readers that an output counts as: it stays whole

    explicit CountedReaders(Table& table) : table_(table) {}
    void begin(std::int8_t phase) { phase_ = phase; }

    /// Of what the outputs need. (At first whoever fills the table counts: all that a graph holds is read by one of its outputs.)
    void count_anew(std::span<Node* const> outputs) {
        for (std::size_t i = 0; i < table_.size(); ++i) table_[static_cast<std::int32_t>(i)].users = 0;
        for (Node* output : outputs) read(table_.number(output), as_output);
    }
    /// So many more read what stands for this node.
    void read(std::int32_t node, std::uint32_t times) {
        std::int32_t top = current(node);
        std::uint32_t before = std::exchange(table_[top].users, table_[top].users + times);
        if (before > 0) return;
        stack_.push_back(top);
        while (!stack_.empty())
            for_inputs_of_top([&](std::int32_t at) {
                if (table_[at].users++ == 0) stack_.push_back(at);
            });
    }
    /// Nobody reads it any more: it reads its inputs no longer.
    void drop(std::int32_t top) {
        stack_.push_back(top);
        while (!stack_.empty())
            for_inputs_of_top([&](std::int32_t at) {
                if (table_[at].users > 0 && --table_[at].users == 0) stack_.push_back(at);
            });
    }

    std::uint32_t count(const Node& of) override {
        std::int32_t at = table_.find(&of);
        return at < 0 ? 1u : table_[at].users;
    }
    std::optional<std::vector<const Node*>> all(const Node& of) override {
        if (std::exchange(written_in_, phase_) != phase_)
            readers_.write_down(table_, [this](std::int32_t reader, auto f) { for_inputs(reader, f); });
        std::int32_t at = table_.find(&of);
        while (at >= 0 && !readers_.there(at)) at = table_[at].was;
        return at < 0 ? std::nullopt : readers_.of(at, table_);
    }

  private:
    // What stands for a node now.
    std::int32_t current(std::int32_t at) {
        while (table_[at].phase == phase_) at = table_[at].to;
        return at;
    }
    // f(number) of what stands for each input; of none where rules stop.
    template <class F>
    void for_inputs(std::int32_t at, F f) {
        if (table_.stops(at)) return;
        for (std::int32_t input : table_.inputs(at)) f(current(input));
    }
    template <class F>
    void for_inputs_of_top(F f) {
        std::int32_t top = stack_.back();
        stack_.pop_back();
        for_inputs(top, f);
    }

    Table& table_;
    std::vector<std::int32_t> stack_;
    Readers readers_;
    std::int8_t phase_ = 0, written_in_ = -1;  // that is going on; in which readers were written down
};

}  // namespace weft
