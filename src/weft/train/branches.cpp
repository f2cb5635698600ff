// Layers made of layers: one after another, around a shortcut, side by side; graphs are layer_graph.cpp's. How several values become one.
#include "weft/base/error.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

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

Join join_of(const Json& description) {
    Chosen chosen = choose(description, "join");
    return chosen.make<MakeJoin>()(chosen.options);
}

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
                     "in a graph: the node, or the input of the data, or a list of these, whose values it takes; the "
                     "node before if left out",
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
    Option output{"output", Json(),
                  "the node whose value it gives, the last if left out; a list: of the first, others are for costs"};
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
        {{"graph", "named nodes that branch and join", {nodes, output}},
         [](const Json& o, const LayerPlace& place) -> nn::Module { return make_graph(o, place); }},
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
