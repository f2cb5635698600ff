// Layers made of layers: one after another, around a shortcut, side by side, as a graph of named nodes; and how several values become one.
#include <algorithm>
#include <set>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

Join join_of(const Json& description) {
    Chosen chosen = choose(description, "join");
    return chosen.make<MakeJoin>()(chosen.options);
}

/// Broadcasting would hide a mistake: what is joined number by number has one shape.
Join elementwise(const char* name, Tensor (*both)(const Operand&, const Operand&)) {
    return [name, both](std::span<const Tensor> values) {
        Tensor all = values[0];
        for (const Tensor& value : values.subspan(1)) {
            if (!(value.shape() == all.shape()))
                throw ShapeError(text(name, " joins values of one shape, these have ", all.shape(), " and ",
                                      value.shape(), "; a layer in between, or the join concat, makes them fit"));
            all = both(all, value);
        }
        return all;
    };
}

/// x through the layers, joined with x itself, or with what the shortcut makes of it (He et al., 2016).
struct Residual {
    nn::Module layers;
    std::optional<nn::Module> shortcut;
    Join join;
    Tensor operator()(const Operand& x) const {
        Tensor value = x.as_tensor();
        const Tensor both[] = {shortcut ? (*shortcut)(value) : value, layers(value)};
        return join(both);
    }
    template <class V>
    void members(V& visit) {
        visit("", layers), visit("shortcut", shortcut);
    }
};

nn::Module make_residual(const Json& o, const LayerPlace& place) {
    nn::Module layers = place.builder->make(o.at("layers"), place);
    std::optional<nn::Module> shortcut;
    if (!o.at("shortcut").is_null())
        shortcut = place.builder->make(o.at("shortcut"), LayerBuilder::inside(place, "shortcut", 1'000'000));
    return Residual{layers, shortcut, join_of(o.at("join"))};
}

/// Each branch is given x; what they give is joined.
struct Parallel {
    std::vector<nn::Module> branches;
    Join join;
    Tensor operator()(const Operand& x) const {
        std::vector<Tensor> values;
        for (const nn::Module& branch : branches) values.push_back(branch(x));
        return join(values);
    }
    template <class V>
    void members(V& visit) {
        visit("", branches);
    }
};

nn::Module make_parallel(const Json& o, const LayerPlace& place) {
    Parallel parallel{{}, join_of(o.at("join"))};
    const Json& branches = o.at("branches");
    if (branches.items().empty()) branches.refuse("expected at least one branch: a layer, or a list of them");
    for (std::size_t i = 0; i < branches.items().size(); ++i)
        parallel.branches.push_back(
            place.builder->make(branches.items()[i], LayerBuilder::inside(place, std::to_string(i), i)));
    return parallel;
}

/// Named nodes in an order in which each comes after those it takes its values from.
struct GraphOfLayers {
    struct Node {
        std::string name;
        nn::Module layer;
        std::vector<std::size_t> from;  // 0: the graph's own input; k: node k - 1
        Join join;
    };
    std::vector<Node> nodes;
    std::size_t output = 0;  // as in `from`
    Tensor operator()(const Operand& x) const {
        std::vector<Tensor> values{x.as_tensor()};
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
        output_ = output.is_null() ? nodes_.size() : number_of(output);
    }

    GraphOfLayers make() {
        places_.assign(nodes_.size() + 1, std::nullopt);
        places_[0] = place_;
        made_.assign(nodes_.size() + 1, 0);
        (void)place_of(output_);
        for (std::size_t i = 1; i <= nodes_.size(); ++i) {
            if (!places_[i])
                throw ConfigError(text(nodes_[i - 1].where, "nothing takes what node '", nodes_[i - 1].key,
                                       "' gives; name it in another node's `from:`, or in `output:`"));
        }
        graph_.output = made_[output_];
        return std::move(graph_);
    }

  private:
    static constexpr const char* input_name = "input";

    std::size_t number_of(const Json& name) const {
        std::vector<std::string_view> names{input_name};
        if (name.as_string() == input_name) return 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].key == name.as_string()) return i + 1;
            names.push_back(nodes_[i].key);
        }
        name.refuse(text("the graph has no node '", name.as_string(), "'", did_you_mean(name.as_string(), names)));
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

    const LayerPlace& place_of(std::size_t number) {
        if (places_[number]) return *places_[number];
        const Json::Member& node = nodes_[number - 1];
        if (!open_.insert(number).second)
            throw ConfigError(text(node.where, "node '", node.key,
                                   "' takes its value, through others, from itself; a graph has no circles"));
        std::vector<Tensor> values;
        std::vector<std::size_t> from;
        for (std::size_t one : sources_[number - 1]) {
            values.push_back(LayerBuilder::stand_in(place_of(one)));
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
        made_[number] = graph_.nodes.size();
        places_[number] = LayerBuilder::behind(layer, own);
        return *places_[number];
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
    std::size_t output_ = 0;
    std::vector<std::optional<LayerPlace>> places_;  // behind each
    std::vector<std::size_t> made_;                  // its number in the order in which they were made
    std::set<std::size_t> open_;
    GraphOfLayers graph_;
};

Option layers_option(const char* name, const char* doc, bool required) {
    Option option{name, Json(), doc, required, Json::Kind::array};
    option.also = "model", option.list_of = "model";
    return option;
}

Option join_option(const char* usual) {
    Option option{"join", usual, "how several values become one"};
    option.also = "join";
    return option;
}

Option optional(const char* name, const char* doc, Json::Kind kind) {
    Option option{name, Json(), doc, false, kind};
    option.brief = true;
    return option;
}

}  // namespace

const std::vector<Option>& layer_options() {
    static const std::vector<Option> all = [] {
        Option merge = join_option("");
        merge.name = "merge", merge.fallback = Json(), merge.brief = true,
        merge.doc = "how several values of `from:` become one; concat if left out";
        return std::vector<Option>{
            optional("name", "what its parameters are called by, in place of its number", Json::Kind::string),
            optional("freeze", "true: its parameters are not trained", Json::Kind::boolean),
            optional("share", "layers with the same word here have the same parameters", Json::Kind::string),
            optional("from",
                     "in a graph: the node, or the list of nodes, whose values it takes; the node before if left out",
                     Json::Kind::null),
            merge};
    }();
    return all;
}

std::vector<Part<MakeLayer>> layers_of_layers() {
    Option sequence = layers_option("layers", "the layers", true);
    sequence.also = "";
    Option branches{"branches", Json(), "each a layer, or a list of them", true, Json::Kind::array};
    branches.list_of = "model";
    Option nodes{"nodes", Json(),
                 "{NAME: layer}; each takes what `from:` names, or the node before; 'input' is the graph's own", true,
                 Json::Kind::object};
    nodes.map_of = "model";
    return {
        {{"sequential", "layers one after another", {sequence}, "layers"},
         [](const Json& o, const LayerPlace& place) -> nn::Module {
             return place.builder->sequential(o.at("layers"), place);
         }},
        {{"residual",
          "what layers make of a value, joined with the value (He et al., 2016)",
          {layers_option("layers", "the layers", true),
           layers_option("shortcut", "what the value itself goes through", false), join_option("add")},
          "layers"},
         make_residual},
        {{"parallel",
          "branches side by side, each given the same value, joined",
          {branches, join_option("concat")},
          "branches"},
         make_parallel},
        {{"graph",
          "named nodes that branch and join",
          {nodes,
           {"output", Json(), "the node whose value it gives; the last if left out", false, Json::Kind::string}}},
         [](const Json& o, const LayerPlace& place) -> nn::Module { return GraphMaker(o, place).make(); }},
    };
}

const std::vector<Part<MakeJoin>>& joins() {
    Option axis{"axis", 1, "counted with the batch as axis 0: 1 is channels, or a vector's numbers"};
    axis.least = 1, axis.most = 8;
    static const std::vector<Part<MakeJoin>> all{
        {{"concat", "one behind the other along an axis", {axis}, "axis"},
         [](const Json& o) -> Join {
             return [axis = o.at("axis").as_integer()](std::span<const Tensor> values) {
                 return concatenate(values, axis);
             };
         }},
        {{"add", "their sum"},
         [](const Json&) { return elementwise("add", [](const Operand& a, const Operand& b) { return a + b; }); }},
        {{"multiply", "their product"},
         [](const Json&) { return elementwise("multiply", [](const Operand& a, const Operand& b) { return a * b; }); }},
        {{"maximum", "the greater number"},
         [](const Json&) {
             return elementwise("maximum", [](const Operand& a, const Operand& b) { return maximum(a, b); });
         }},
    };
    return all;
}

}  // namespace weft::train
