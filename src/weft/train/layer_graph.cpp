// A graph of named layers: which node takes its value from which, in what order they are made, what is wrong with them.
#include <algorithm>
#include <utility>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/nn/given.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

/// Named nodes in an order in which each comes after those it takes its values from.
struct GraphOfLayers {
    struct Node {
        std::string name;
        nn::Module layer;
        std::vector<std::size_t> from;  // 0: the graph's own input; then the data's fields; then nodes
        Join join;
    };
    std::vector<std::string> fields;  // inputs of the data, whatever reaches the graph itself
    std::vector<Node> nodes;
    std::size_t output = 0;  // as in `from`
    Tensor operator()(const Operand& x) const {
        std::vector<Tensor> values{x.as_tensor()};
        for (const std::string& field : fields) values.push_back(nn::Given::named(field));
        for (const Node& node : nodes) {
            std::vector<Tensor> taken;
            for (std::size_t one : node.from) taken.push_back(values[one]);
            values.push_back(node.layer(taken.size() == 1 ? taken[0] : node.join(taken)));
        }
        return values[output];
    }
    template <class V>
    void members(V& visit) {
        for (Node& node : nodes) visit(node.name, node.layer);
    }
};

/// Puts a graph together: whom each node takes its value from, then the nodes themselves, those that are needed first.
class GraphMaker {
  public:
    GraphMaker(const Json& o, const LayerPlace& place) : nodes_(o.at("nodes").members()), place_(place) {
        if (nodes_.empty()) o.at("nodes").refuse("a graph has at least one node, as in {hidden: {linear: 100}}");
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].key == input_name || nodes_[i].key.find_first_of(".*?[] ") != std::string::npos ||
                nodes_[i].key.empty())
                throw ConfigError(text(nodes_[i].where, "'", nodes_[i].key,
                                       "' cannot name a node: 'input' is the graph's own, and "
                                       "'.', '*', '?' and spaces have a meaning in parameters' names"));
            chosen_.push_back(choose(nodes_[i].value, "model"));
            const Json& name = layer_option(chosen_[i], "name");
            if (!name.is_null())
                name.refuse(text("the node is called '", nodes_[i].key, "' already; leave `name:` out"));
            sources_.push_back(sources(i));
        }
        const Json& output = o.at("output");
        if (output.is_null()) outputs_ = {nodes_.size()};
        for (const Json& name : output.is_array() ? output.items() : std::vector<Json>{output})
            if (!name.is_null()) outputs_.push_back(number_of(name));
        if (outputs_.empty()) output.refuse("expected the name of a node, or a list of names");
    }

    GraphOfLayers make() {
        std::vector<std::string_view> fields = place_.builder->feed.inputs();
        places_.assign(nodes_.size() + 1 + fields.size(), std::nullopt);
        made_.assign(places_.size(), 0);
        places_[0] = place_;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            std::size_t number = first_field() + i;
            const Feed::Part* part = place_.builder->feed.input(fields[i]);
            places_[number] = place_;
            places_[number]->input = part->example, places_[number]->dtype = part->dtype;
            if (!taken(number)) continue;
            graph_.fields.emplace_back(fields[i]);
            made_[number] = graph_.fields.size();
        }
        for (std::size_t number : order()) make_node(number);
        for (std::size_t i = 1; i <= nodes_.size(); ++i) {
            if (!places_[i])
                throw ConfigError(text(nodes_[i - 1].where, "nothing takes what node '", nodes_[i - 1].key,
                                       "' gives; name it in another node's `from:`, or in `output:`"));
        }
        graph_.output = made_[outputs_[0]];
        return std::move(graph_);
    }

  private:
    static constexpr const char* input_name = "input";

    /// Numbers: 0 is the graph's own input, 1 the first node; behind the nodes the data's fields.
    std::size_t first_field() const { return nodes_.size() + 1; }
    bool taken(std::size_t number) const {
        auto among = [&](const std::vector<std::size_t>& all) {
            return std::find(all.begin(), all.end(), number) != all.end();
        };
        return among(outputs_) || std::any_of(sources_.begin(), sources_.end(), among);
    }
    std::size_t number_of(const Json& name) const {
        std::vector<std::string_view> names{input_name}, fields = place_.builder->feed.inputs();
        if (name.as_string() == input_name) return 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].key == name.as_string()) return i + 1;
            names.push_back(nodes_[i].key);
        }
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i] == name.as_string()) return first_field() + i;
            names.push_back(fields[i]);
        }
        name.refuse(text("the graph has no node '", name.as_string(), "', and the data no input of this name",
                         did_you_mean(name.as_string(), names)));
    }
    /// `from:`, or the node before.
    std::vector<std::size_t> sources(std::size_t i) const {
        const Json& from = layer_option(chosen_[i], "from");
        if (from.is_null()) return {i};
        if (from.is_string()) return {number_of(from)};
        if (!from.is_array())
            from.refuse(text("expected the name of a node, or a list of names, found ", from.describe()));
        std::vector<std::size_t> all;
        for (const Json& name : from.items()) all.push_back(number_of(name));
        if (all.empty()) from.refuse("expected the name of a node, or a list of names");
        return all;
    }

    /// What the output needs, each after what it needs itself. A walk without recursion: a file may hold any number of nodes.
    std::vector<std::size_t> order() const {
        enum class Seen : std::uint8_t { no, open, done };
        std::vector<Seen> seen(places_.size(), Seen::done);
        std::fill(seen.begin() + 1, seen.begin() + static_cast<std::ptrdiff_t>(first_field()), Seen::no);
        std::vector<std::size_t> result, stack(outputs_.rbegin(), outputs_.rend());
        while (!stack.empty()) {
            std::size_t number = stack.back();
            if (seen[number] != Seen::no) {  // all that it needs has been walked
                stack.pop_back();
                if (std::exchange(seen[number], Seen::done) == Seen::open) result.push_back(number);
                continue;
            }
            seen[number] = Seen::open;
            for (std::size_t one : sources_[number - 1]) {
                if (seen[one] == Seen::open)
                    throw ConfigError(text(nodes_[one - 1].where, "node '", nodes_[one - 1].key,
                                           "' takes its value, through others, from itself; a graph has no circles"));
                if (seen[one] == Seen::no) stack.push_back(one);
            }
        }
        return result;
    }

    /// Those that it takes its value from are made.
    void make_node(std::size_t number) {
        const Json::Member& node = nodes_[number - 1];
        std::vector<Tensor> values;
        std::vector<std::size_t> from;
        for (std::size_t one : sources_[number - 1]) {
            values.push_back(LayerBuilder::stand_in(*places_[one]));
            from.push_back(made_[one]);
        }
        const Chosen& chosen = chosen_[number - 1];
        const Json& how = layer_option(chosen, "merge");
        Join join = join_of(how.is_null() ? Json("concat") : how);
        LayerPlace own = LayerBuilder::inside(place_, node.key, number - 1);
        Tensor taken = joined(values, join, chosen, node.key);
        own.dtype = taken.dtype();
        own.input = Dims();
        for (std::size_t i = 1; i < taken.ndim(); ++i) own.input.push_back(taken.shape()[i].value());
        nn::Module layer = place_.builder->make(node.value, own);
        graph_.nodes.push_back({node.key, layer, from, join});
        made_[number] = graph_.fields.size() + graph_.nodes.size();
        places_[number] = LayerBuilder::behind(layer, own);
    }
    static Tensor joined(const std::vector<Tensor>& values, const Join& join, const Chosen& chosen,
                         const std::string& name) {
        if (values.size() == 1) return values[0];
        try {
            return join(values);
        } catch (const Error& error) {
            std::string_view what = error.what();
            throw ConfigError(text(chosen.where, "node '", name, "': ", what.substr(0, what.find("\n  "))));
        }
    }

    std::vector<Json::Member> nodes_;
    LayerPlace place_;
    std::vector<Chosen> chosen_;
    std::vector<std::vector<std::size_t>> sources_;
    std::vector<std::size_t> outputs_;               // the first is the graph's value, others are of use to costs alone
    std::vector<std::optional<LayerPlace>> places_;  // behind each
    std::vector<std::size_t> made_;                  // its number in the order in which they were made
    GraphOfLayers graph_;
};

}  // namespace

nn::Module make_graph(const Json& o, const LayerPlace& place) { return GraphMaker(o, place).make(); }

}  // namespace weft::train
