// A rewrite rule: an expression and what takes its place, as data. Most are one line, in the language in which users write:
//
//     rule("log1p", Phase::stable, [](auto x) { return log(1 + x); }, [](auto x) { return log1p(x); })
//
// Always: the replacement keeps the shape and dtype of what it replaces (a replacement that merely lacks repeated elements is
// broadcast), equal structures are rewritten alike, and no rule changes where NaN or infinities come out unless it says so
// (`.assumes`). The sign of a zero is not kept. Variables reach the replacement in the type in which the pattern's operations read
// them. Rules that need attributes, sizes or facts are functions of a Site.
// Callers: rewrite/rules/ (weft's own), users (register_rule).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/rewrite/facts.h"
#include "weft/rewrite/pattern.h"

namespace weft {

/// In this order: a normal form; the numerically stable form; numbers folded and what is cheaper to run.
enum class Phase : std::uint8_t { canonical, stable, special };
std::string_view name_of(Phase phase);

/// What a rule takes for granted.
/// finite: operands are finite and divisors not 0; elsewhere NaN or infinity may come out differently.
/// exact: arithmetic is exact; where the formula as written overflows or loses its digits on the way, what it should have given comes out.
enum class Assumes : std::uint8_t { nothing, finite, exact };
std::string_view name_of(Assumes assumes);

/// Where a rule is tried.
class Site {
  public:
    /// Who reads a node.
    class Users {
      public:
        virtual ~Users() = default;
        virtual std::uint32_t count(const Node& of) = 0;
        virtual std::optional<std::vector<const Node*>> all(const Node& of) = 0;
    };
    Site(const Node& node, Phase phase, Facts& facts, Users& users)
        : node(node), phase(phase), facts_(facts), users_(users) {}
    const Node& node;
    Phase phase;  // that is going on: the rule's own, or a later one

    Tensor input(std::size_t i = 0) const { return handle(node.inputs[i]); }
    std::size_t inputs() const { return node.inputs.size(); }
    const Fact& fact(const Node& of) const { return facts_.of(of); }
    /// Whether nobody but this node reads `operand`.
    bool only_here(const Node& operand) const { return users_.count(operand) <= 1; }
    /// How many do; an output counts as two more.
    std::uint32_t times_read(const Node& operand) const { return users_.count(operand); }
    /// All nodes that read `operand` when the first rule of this phase asked, so that each of them is told the same, whichever is rewritten
    /// first; they may have been replaced since. Nothing where it is an output too, or has been made since.
    std::optional<std::vector<const Node*>> readers(const Node& operand) const { return users_.all(operand); }

  private:
    Facts& facts_;
    Users& users_;
};

/// An expression that the rule applies to: documentation, and what its test is made of.
struct Example {
    Expression expression;
    std::vector<Shape> shapes = {};  // one an input; none: any shapes that broadcast
    std::vector<DType> dtypes = {};  // in which it holds; none: all that the expression takes
    Domain domain = {};              // from which inputs are drawn
    bool gradient = true;            // both sides have the same derivative at inputs of the domain
};

struct Rule {
    std::string name;
    Phase phase = Phase::canonical;
    std::vector<const Operation*> roots;       // where it is tried; none: at every elementwise operation
    std::function<Tensor(const Site&)> apply;  // an empty Tensor: it does not apply here
    Assumes assumes = Assumes::nothing;
    std::vector<Example> examples;
    std::string text = "";  // "log(add(1, a)) -> log1p(a)"
    Needs needs = {};       // beside a root; of a pattern rule what stands in its pattern
    /// Less reads afterwards what it read before: what was left alone for those readers is looked at once more, when all is done.
    bool frees = false;
};

struct PatternOptions {
    Assumes assumes = Assumes::nothing;
    bool (*takes)(DType) = nullptr;  // types of the replaced value; null: all
    /// Whether operands may be read in another type than the result's (log(1 + x) of integers). Conditions and results that are bool
    /// are free in any case.
    bool mixed = false;
    /// Whether products of the pattern match gated_multiply too, with which derivatives are chained.
    bool gated = false;
    std::function<bool(const Site&, std::span<const Tensor>)> guard = nullptr;  // of the variables
    std::vector<DType> dtypes = {};                                             // of the test
    Domain domain = {};
    bool gradient = true;
};
Rule pattern_rule(std::string name, Phase phase, Expression pattern, Expression replacement, PatternOptions options);

template <class Match, class Replacement>
Rule rule(std::string name, Phase phase, Match pattern, Replacement replacement, PatternOptions options = {}) {
    return pattern_rule(std::move(name), phase, expression(pattern), expression(replacement), std::move(options));
}

/// Adds a rule of the user's own to weft's, for every graph from now on. ValueError if there is one of this name.
void register_rule(Rule rule);
/// Takes out a rule that register_rule added.
void remove_rule(std::string_view name);
/// All rules, weft's own first. They are made when they are first asked for, and shared by all whom they serve: with what they say of
/// themselves they are hundreds of objects.
std::vector<std::shared_ptr<const Rule>> shared_rules();
std::vector<Rule> all_rules();

}  // namespace weft
