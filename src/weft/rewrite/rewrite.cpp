#include "weft/rewrite/rewrite.h"

#include <algorithm>

#include "weft/ops/view.h"
#include "weft/rewrite/active_rules.h"
#include "weft/rewrite/counted_readers.h"
#include "weft/rewrite/merged_nodes.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rule_set.h"

namespace weft {
namespace {

// Nodes of the graph are first built anew, privately: other threads may be computing the user's own, and users may hold them. The copies
// lie in memory as they are met, too: rewriting the user's own nodes took a tenth longer.
class Rewriter {
  public:
    Rewriter(const Graph& graph, const RuleSet& rules, std::vector<Rewrite>* trace)
        : graph_(graph),
          rules_(rules),
          active_(rules),
          trace_(trace),
          table_(graph.entries.size()),
          applied_(rules.size(), 0),
          most_(8 * graph.entries.size() + 256) {}

    /// What stands for the graph's outputs now.
    std::vector<Tensor> run() {
        std::vector<Node*> outputs = copied();
        for (Phase phase : {Phase::canonical, Phase::stable, Phase::special}) {
            if (phase != Phase::canonical && !active_.any(phase)) continue;
            before_ = now(), phase_ = phase, readers_.begin(now());
            if (phase != Phase::canonical) readers_.count_anew(outputs);
            for (Node*& output : outputs) output = table_[normal(table_.number(output))].node.node();
        }
        std::vector<Tensor> results;
        for (Node* output : outputs) results.push_back(handle(output));
        return results;
    }
    bool freed() const { return freed_; }
    bool changed() const {
        return std::any_of(applied_.begin(), applied_.end(), [](std::size_t times) { return times > 0; });
    }

  private:
    std::vector<Node*> copied() {
        std::vector<Node*> copies(graph_.entries.size());
        merged_.reserve(graph_.entries.size());
        std::vector<Node*> inputs;
        std::vector<std::uint32_t> depths(graph_.entries.size(), 0);
        for (std::size_t e = 0; e < graph_.entries.size(); ++e) {
            for (std::int32_t input : graph_.inputs(static_cast<std::int32_t>(e)))
                depths[e] = std::max(depths[e], depths[static_cast<std::size_t>(input)] + 1);
            deepest_ = std::max(deepest_, depths[e]);
            Node* node = graph_.entries[e].node;
            std::int32_t operation = active_.met(*node);
            if (graph_.entries[e].leaf) {
                table_.number(copies[e] = node);
                continue;
            }
            inputs.clear();
            std::int32_t latest = -1;
            for (std::int32_t input : graph_.inputs(static_cast<std::int32_t>(e))) {
                inputs.push_back(copies[static_cast<std::size_t>(input)]);
                ++table_[input].users;  // so far the number of a node is that of its entry
                latest = std::max(latest, input);
            }
            Tensor made = copy_with(*node, inputs);
            std::int32_t number = table_.number(copies[e] = made.node());
            table_.write_inputs(number, graph_.inputs(static_cast<std::int32_t>(e)));
            Record& record = table_[number];
            record.merged = record.own = true;
            record.operation = operation;
            merged_.of(made.node(), latest);
        }
        std::vector<Node*> outputs;
        for (std::int32_t output : graph_.outputs) {
            outputs.push_back(copies[static_cast<std::size_t>(output)]);
            table_[output].users += CountedReaders::as_output;
        }
        return outputs;
    }

    // The normal form of a node in this phase: that of its inputs first, then rules are tried until none applies.
    std::int32_t normal(std::int32_t top) {
        stack_.push_back(top);
        while (!stack_.empty()) {
            std::int32_t at = stack_.back();
            if (table_[at].done == now()) {
                stack_.pop_back();
            } else if (table_[at].phase == now()) {
                follow(at);
            } else if (table_.stops(at)) {
                finish(at, at);
            } else if (inputs_are_normal(at)) {
                rewrite(at);
            }
        }
        return table_[top].to;
    }
    std::int8_t now() const { return static_cast<std::int8_t>(phase_); }

    void finish(std::int32_t at, std::int32_t normal) {
        table_[at].to = normal;
        table_[at].done = now();
        table_[at].waits = false;
        stack_.pop_back();
    }

    // A replaced node has the normal form of what took its place.
    void follow(std::int32_t at) {
        std::int32_t by = table_[at].to;
        if (table_[by].done == now()) return finish(at, table_[by].to);
        push(by);
    }

    void push(std::int32_t at) {
        if (table_[at].waits) refuse_circle(*table_[at].node.node());
        stack_.push_back(at);
    }

    std::int32_t operation(std::int32_t at) {
        Record& record = table_[at];
        if (record.operation < 0) record.operation = active_.met(*record.node.node());
        return record.operation;
    }
    bool inputs_are_normal(std::int32_t at) {
        table_[at].waits = true;
        std::size_t before = stack_.size();
        std::span<const std::int32_t> inputs = table_.inputs(at);
        for (std::size_t i = inputs.size(); i-- > 0;)
            if (table_[inputs[i]].done != now()) push(inputs[i]);
        return stack_.size() == before;
    }

    void rewrite(std::int32_t at) {
        bool same = true;
        std::int32_t latest = -1;
        SmallVector<std::int32_t, 6> normal;
        for (std::int32_t input : table_.inputs(at)) {
            normal.push_back(table_[input].to);
            same &= normal.back() == input;
            latest = std::max(latest, normal.back());
        }
        bool settled = same && table_[at].to == at && table_[at].done == before_;
        if (settled && table_[at].merged && active_.at(phase_, operation(at), settled).empty()) return finish(at, at);
        Node* node = table_[at].node.node();
        if (!same || !table_[at].merged) {
            SmallVector<Node*, 3> inputs;
            for (std::int32_t input : normal) inputs.push_back(table_[input].node.node());
            bool here = same || (table_[at].own && !trace_);  // a trace shows nodes as they were
            if (!same && here) exchange_inputs(at, inputs, normal);
            Tensor built = here ? handle(node) : copy_with(*node, {inputs.data(), inputs.size()});
            std::int32_t to = table_.number(merged_.of(built.node(), latest));
            table_[to].merged = true;
            bool is_copy = !here && to == table_.find(built.node());
            table_[to].own |= is_copy;
            if (is_copy) table_[to].was = at;
            table_[to].generation = std::max(table_[to].generation, table_[at].generation);
            table_[to].chain = std::max(table_[to].chain, table_[at].chain);
            if (to != at) return replace(at, to);
        }
        Tensor after = replacement(*node, operation(at), settled);
        if (!after) return finish(at, at);
        note_new(after.node(), at);
        std::int32_t by = table_.number(after.node());
        table_[by].chain = std::max(table_[by].chain, table_[at].chain + 1);
        // A value sinks no deeper than the graph is, and no place is replaced so often, unless a rule feeds itself.
        bool endless = table_[at].chain > most_chain || table_[at].generation > deepest_ + most_chain;
        if (endless) refuse_endless(rules_[last_], *node);
        replace(at, by);
    }

    // Nobody else holds the node: it takes its inputs' normal forms as it stands, and most of what is above a replacement does.
    void exchange_inputs(std::int32_t at, std::span<Node* const> inputs, std::span<const std::int32_t> numbers) {
        Node* node = table_[at].node.node();
        bool counts = table_[at].users > 0;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            inputs[i]->retain();
            if (counts) readers_.read(numbers[i], 1);
        }
        if (counts) readers_.drop(at);
        table_.write_inputs(at, numbers);
        for (std::size_t i = 0; i < inputs.size(); ++i) std::exchange(node->inputs[i], inputs[i])->release();
    }

    void replace(std::int32_t at, std::int32_t by) {
        std::uint32_t users = std::exchange(table_[at].users, 0);
        if (users > 0) readers_.read(by, users);
        table_[at].to = by;
        table_[at].phase = now();
        if (users > 0) readers_.drop(at);
    }

    Tensor replacement(const Node& node, std::int32_t operation, bool settled) {
        for (std::int32_t r : active_.at(phase_, operation, settled)) {
            const Rule& rule = rules_[r];
            // What sinks through a chain place by place, from each of its links, is applied a square of its length times: it has had its share.
            if (applied_[static_cast<std::size_t>(r)] > most_) continue;
            Tensor after;
            try {
                after = rule.apply(Site(node, phase_, facts_, readers_));
            } catch (const CompileError&) {
                throw;
            } catch (const Error& error) {
                throw CompileError(text("rewriting: the rule '", rule.name, "' failed on ", written(node), ": ",
                                        error.what(), place(node.where)));
            }
            if (!after || after.node() == &node) continue;
            after = fitted(rule, node, after);
            if (trace_)
                trace_->push_back(
                    {rule.name, rule.phase, rule.assumes, node.where, handle(const_cast<Node*>(&node)), after});
            ++applied_[static_cast<std::size_t>(r)];
            freed_ |= rule.frees;
            last_ = r;
            return after;
        }
        return {};
    }

    static Tensor fitted(const Rule& rule, const Node& node, Tensor after) {
        std::optional<Literal> number = after.dtype() == node.dtype ? std::nullopt : number_of(*after.node());
        if (number) after = filled(*number, node.dtype, after.shape());
        bool fits = after.dtype() == node.dtype && after.ndim() <= node.shape.size() &&
                    broadcasts_to(after.shape(), node.shape);
        if (!fits) {
            throw CompileError(text("rewriting: the two sides of the rule '", rule.name, "' differ: ", written(node),
                                    " is ", node.dtype, " ", node.shape, ", but ", written(*after.node()), " is ",
                                    after.dtype(), " ", after.shape(),
                                    "; a replacement must keep shape and dtype (leave the rule out with WEFT_REWRITE=-",
                                    rule.name, ")", place(node.where)));
        }
        return after.shape() == node.shape ? after : broadcast_to(after, node.shape);
    }

    // What a rule made stands at the user's line.
    void note_new(Node* top, std::int32_t replaced) {
        std::source_location where = table_[replaced].node.node()->where;
        std::uint32_t generation = table_[replaced].generation + 1;
        fresh_.push_back(top);
        while (!fresh_.empty()) {
            Node* node = fresh_.back();
            fresh_.pop_back();
            if (table_.find(node) >= 0) continue;
            Record& record = table_[table_.number(node)];
            record.generation = generation;
            record.operation = active_.met(*node);
            if (opaque(*node)) continue;
            node->where = where;
            for (Node* input : node->inputs) fresh_.push_back(input);
        }
    }

    [[noreturn]] void refuse_endless(const Rule& rule, const Node& node) const {
        throw CompileError(text("rewriting: the rule '", rule.name, "' feeds itself: it was applied ",
                                applied_[static_cast<std::size_t>(last_)], " times to a graph of ",
                                graph_.entries.size(), " operations, at last to ", written(node),
                                "; correct it, or leave it out with WEFT_REWRITE=-", rule.name, place(node.where)));
    }
    [[noreturn]] void refuse_circle(const Node& node) const {
        throw CompileError(text("rewriting: the rule '", rules_[last_].name, "' feeds itself: what it makes of ",
                                written(node), " contains that again; correct it, or leave it out with WEFT_REWRITE=-",
                                rules_[last_].name, place(node.where)));
    }

    const Graph& graph_;
    const RuleSet& rules_;
    ActiveRules active_;
    std::vector<Rewrite>* trace_;
    Table table_;
    std::vector<std::size_t> applied_;
    std::size_t most_;
    CountedReaders readers_{table_};
    Facts facts_{&table_.numbers()};
    MergedNodes merged_;
    std::vector<std::int32_t> stack_;
    std::vector<Node*> fresh_;
    static constexpr std::uint32_t most_chain = 256;
    Phase phase_ = Phase::canonical;
    std::int8_t before_ = -1;  // the phase that ran before
    std::uint32_t deepest_ = 0;
    std::int32_t last_ = 0;  // the rule that was applied last
    bool freed_ = false;     // one of those that say so was applied
};

}  // namespace

std::string str(const Rewrite& rewrite) {
    return text(rewrite.rule, " (", name_of(rewrite.phase),
                rewrite.assumes == Assumes::nothing ? "" : text(", assumes ", name_of(rewrite.assumes)),
                "): ", written(*rewrite.before.node()), " -> ", written(*rewrite.after.node()), place(rewrite.where));
}

Graph rewrite(const Graph& graph, const RewriteOptions& options, std::vector<Rewrite>* trace) {
    KeepPending keep;
    std::shared_ptr<const RuleSet> rules = rules_for(options);
    bool freed = false, changed = false;
    auto pass = [&](const Graph& from) {
        std::vector<Tensor> results;
        {
            Rewriter rewriter(from, *rules, trace);
            results = rewriter.run(), freed = rewriter.freed(), changed = rewriter.changed();
        }  // its memory serves the gathering
        std::vector<Node*> outputs, leaves;
        for (const Tensor& result : results) outputs.push_back(result.node());
        for (std::int32_t leaf : from.leaves) leaves.push_back(from.entries[static_cast<std::size_t>(leaf)].node);
        return gather(outputs, leaves, Aliases::hidden, from.entries.size());
    };
    Graph now = pass(graph);
    // Where a slice sinks, what it was cut from has a reader less, and more slices may sink.
    constexpr int most_passes = 4;
    if (freed)
        for (int i = 1; i < most_passes && changed; ++i) now = pass(now);
    return now;
}

std::vector<Tensor> rewritten(std::span<const Tensor> tensors, const RewriteOptions& options) {
    std::vector<Node*> nodes;
    for (const Tensor& tensor : tensors) nodes.push_back(tensor.node());
    Graph graph = rewrite(gather(nodes), options);
    std::vector<Tensor> results;
    for (std::int32_t output : graph.outputs)
        results.push_back(handle(graph.entries[static_cast<std::size_t>(output)].node));
    return results;
}

}  // namespace weft
