#include "weft/train/checkpoint.h"

#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/io/folder.h"
#include "weft/io/safetensors.h"
#include "weft/ops/random.h"

namespace weft::train {
namespace {

namespace fs = std::filesystem;

/// The members of state.json, written and read by one list.
template <class Visit>
void members(Progress& progress, Visit visit) {
    visit("phase", progress.phase);
    visit("epoch", progress.epoch), visit("batch", progress.batch), visit("step", progress.step),
        visit("examples", progress.examples);
    visit("sum.loss", progress.sums.loss), visit("sum.errors", progress.sums.errors),
        visit("sum.examples", progress.sums.examples);
    visit("best", progress.best), visit("best_epoch", progress.best_epoch), visit("log_lines", progress.log_lines);
    visit("data", progress.data);
}

Json to_json(Progress progress) {
    Json all;
    members(progress, [&](const char* name, auto& member) {
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::optional<double>>)
            all[name] = member ? Json(*member) : Json();
        else
            all[name] = member;
    });
    return all;
}

Progress from_json(const Json& all) {
    Progress progress;
    members(progress, [&](const char* name, auto& member) {
        using T = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<T, std::string>) {
            if (const Json* value = all.find(name)) member = value->as_string();
        } else {
            const Json& value = all.at(name);
            if constexpr (std::is_same_v<T, std::int64_t>)
                member = value.as_integer();
            else if constexpr (std::is_same_v<T, double>)
                member = value.as_number();
            else if (!value.is_null())
                member = value.as_number();
        }
    });
    return progress;
}

/// Optimizer and generator, under names that tell them apart.
std::vector<std::pair<std::string, Parameter>> cells_of(const optim::Optimizer& optimizer) {
    std::vector<std::pair<std::string, Parameter>> cells{{"random.generator", random::generator()}};
    for (const auto& [name, cell] : optimizer.named_state()) cells.emplace_back("optimizer." + name, cell);
    return cells;
}

constexpr std::string_view prepare_prefix = "prepare.", monitor_prefix = "monitor.";

/// Those whose names begin so, without it.
nn::NamedArrays arrays_below(const fs::path& folder, std::string_view prefix) {
    io::NamedArrays file = io::load_safetensors(folder / "state.safetensors");
    nn::NamedArrays below;
    for (const auto& [name, array] : file.arrays) {
        if (name.starts_with(prefix)) below[name.substr(prefix.size())] = array;
    }
    return below;
}

}  // namespace

void save_checkpoint(const fs::path& folder, const nn::Module& model, const optim::Optimizer& optimizer,
                     const data::Preparation& preparation, const Progress& progress, const nn::NamedArrays& monitor) {
    io::NamedArrays weights, state;
    for (const nn::NamedParameter& one : nn::named(model))
        weights.arrays[one.name] = contiguous(one.parameter.value().array());
    for (const auto& [name, cell] : cells_of(optimizer)) state.arrays[name] = contiguous(cell.value().array());
    for (const auto& [name, array] : preparation.state()) state.arrays[std::string(prepare_prefix) + name] = array;
    for (const auto& [name, array] : monitor) state.arrays[std::string(monitor_prefix) + name] = array;
    io::replace_folder(folder, [&](const fs::path& fresh) {
        io::save_safetensors(fresh / "model.safetensors", weights);
        io::save_safetensors(fresh / "state.safetensors", state);
        io::write_atomically(fresh / "state.json", json_text(to_json(progress), 2) + "\n");
    });
}

Progress load_progress(const fs::path& folder) {
    fs::path path = folder / "state.json";
    try {
        return from_json(parse_json(io::read_file(path, 1 << 20), path.string()));
    } catch (const ConfigError& error) {
        throw FileError(text("'", path.string(), "' is no checkpoint's: ", error.what()));
    }
}

Progress load_model(const fs::path& folder, const nn::Module& model) {
    fs::path path = folder / "model.safetensors";
    io::NamedArrays file = io::load_safetensors(path);
    try {
        nn::load_state(model, file.arrays);
    } catch (const FileError&) {
        throw;
    } catch (const Error& error) {
        throw FileError(text("'", path.string(), "' does not fit the network of this run: ", error.what()));
    }
    return load_progress(folder);
}

void load_preparation(const fs::path& folder, data::Preparation& preparation) {
    data::NamedState state;
    for (const auto& [name, array] : arrays_below(folder, prepare_prefix)) state[name] = array;
    preparation.restore(state);
}

nn::NamedArrays load_monitor(const fs::path& folder) { return arrays_below(folder, monitor_prefix); }

Progress load_checkpoint(const fs::path& folder, const nn::Module& model, const optim::Optimizer& optimizer) {
    fs::path path = folder / "state.safetensors";
    io::NamedArrays file = io::load_safetensors(path);
    std::vector<std::pair<std::string, Parameter>> cells = cells_of(optimizer);
    for (auto& [name, cell] : cells) {
        auto found = file.arrays.find(name);
        if (found == file.arrays.end()) throw FileError(text("'", path.string(), "' has no '", name, "'"));
        if (found->second.dtype != cell.dtype() || !(shape_of(found->second.dims) == cell.shape())) {
            throw FileError(text("'", path.string(), "': '", name, "' is ", found->second.dtype, " of shape ",
                                 found->second.dims, "; this run needs ", cell.dtype(), " of shape ", cell.shape()));
        }
    }
    Progress progress = load_model(folder, model);
    for (auto& [name, cell] : cells) cell.set(Tensor(file.arrays.find(name)->second));
    return progress;
}

}  // namespace weft::train
