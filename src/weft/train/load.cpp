#include "weft/train/load.h"

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/io/safetensors.h"

namespace weft::train {
namespace {

/// A cell of the network, and what the file calls it.
struct Wanted {
    nn::NamedParameter cell;
    std::string name;
};

std::vector<Wanted> wanted(const Json& load, const Network& network) {
    const std::string &glob = load.at("match").as_string(), &prefix = load.at("prefix").as_string();
    std::vector<Wanted> all;
    std::vector<std::string_view> names;
    std::vector<nn::NamedParameter> cells = nn::named(network.model);
    for (const nn::NamedParameter& cell : cells) {
        names.push_back(cell.name);
        if (!optim::glob_match(glob, cell.name)) continue;
        const Json* other = load.at("map").find(cell.name);
        all.push_back({cell, other ? other->as_string() : prefix + cell.name});
    }
    if (all.empty())
        load.at("match").refuse(text("'", glob, "' matches no parameter of the network", did_you_mean(glob, names)));
    for (const Json::Member& member : load.at("map").members()) {
        if (std::find(names.begin(), names.end(), member.key) == names.end())
            throw ConfigError(
                text(member.where, "the network has no parameter '", member.key, "'", did_you_mean(member.key, names)));
    }
    return all;
}

using Forms = std::map<std::string, io::ArrayForm, std::less<>>;

/// Whether the file has it, as it must be.
bool check(const Json& load, const Wanted& one, const Forms& forms) {
    const Json& file = load.at("file");
    auto found = forms.find(one.name);
    if (found == forms.end()) {
        if (load.at("missing").as_string() == "keep") return false;
        std::vector<std::string_view> names;
        for (const auto& [name, form] : forms) names.push_back(name);
        file.refuse(text("'", file.as_string(), "' has no array '", one.name, "'", did_you_mean(one.name, names),
                         names.size() ? "" : " (it is empty)",
                         "; `match:`, `prefix:` and `map:` say what is looked for, `missing: keep` lets it be"));
    }
    const io::ArrayForm& form = found->second;
    if (shape_of(form.dims) == one.cell.parameter.shape() && form.dtype == one.cell.parameter.dtype()) return true;
    file.refuse(text("'", one.name, "' is ", form.dtype, " of shape ", form.dims, " in '", file.as_string(), "'; '",
                     one.cell.name, "' of the network is ", one.cell.parameter.dtype(), " of shape ",
                     one.cell.parameter.shape(), "; give the layer that shape, or leave it out with `match:`"));
}

std::vector<Wanted> found_in_file(const Json& load, const Network& network) {
    const Json& file = load.at("file");
    Forms forms;
    try {
        forms = io::list_safetensors(file.as_string());
    } catch (const FileError& error) {
        file.refuse(text(error.what(), "; `load:` takes a file of safetensors, as RUN/best/model.safetensors"));
    }
    std::vector<Wanted> all;
    for (Wanted& one : wanted(load, network)) {
        if (check(load, one, forms)) all.push_back(std::move(one));
    }
    if (all.empty()) file.refuse(text("'", file.as_string(), "' has none of the parameters that `match:` names"));
    return all;
}

}  // namespace

void check_loads(const Phase& phase, const Network& network) {
    for (const Json& load : phase.load.items()) (void)found_in_file(load, network);
}

void load_parameters(const Phase& phase, Network& network) {
    for (const Json& load : phase.load.items()) {
        std::vector<Wanted> all = found_in_file(load, network);
        io::NamedArrays file = io::load_safetensors(load.at("file").as_string());
        for (Wanted& one : all) one.cell.parameter.set(Tensor(file.arrays.find(one.name)->second));
    }
}

}  // namespace weft::train
