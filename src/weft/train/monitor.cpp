#include "weft/train/monitor.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/optim/optimizer.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

bool matches_any(const std::vector<std::string>& globs, const std::string& name) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string& glob) { return optim::glob_match(glob, name); });
}

void read_every(Monitor& monitor, const Json& every) {
    if (every.is_array()) every.refuse(text("expected epoch, step, or a number of steps, found ", every.describe()));
    if (every.is_integer()) monitor.every_steps = every.as_integer();
    monitor.every_step = every.is_string() && every.as_string() == "step";
}

void check_targets(const Chosen& chosen, const Channel& channel, bool of_classes) {
    using T = Channel::Targets;
    if (channel.targets == T::any || (channel.targets == T::classes) == of_classes) return;
    throw ConfigError(text(
        chosen.where, "the channel '", chosen.entry->name, "' is for targets that are ",
        of_classes ? "numbers" : "class numbers", ", and `cost:` has ",
        of_classes ? "class numbers; error, f1 and auc are for these" : "numbers; mae, rmse and wmape are for these"));
}

Json read_channels(Monitor& monitor, const Json& given, bool of_classes) {
    Json list = given, resolved = Json::array();
    if (given.is_null()) {
        list = Json::array({"loss"});
        if (of_classes) list.push_back("error");
    }
    for (const Json& one : list.items()) {
        Chosen chosen = choose(one, "channel");
        Channel channel = chosen.make<MakeChannel>()(chosen.options);
        check_targets(chosen, channel, of_classes);
        if (!channel.counts.where().file) channel.counts.set_where(chosen.where);  // a default
        for (const Channel& other : monitor.channels) {
            if (other.name == channel.name)
                throw ConfigError(
                    text(chosen.where, "there is a channel '", channel.name, "' already; leave one of them out"));
        }
        monitor.channels.push_back(std::move(channel));
        resolved.push_back(chosen.resolved());
    }
    return resolved;
}

Json read_sets(Monitor& monitor, const Json& given, const std::vector<std::string>& sets) {
    Json resolved = given;
    if (given.is_null()) {
        resolved = Json::array();
        for (const std::string& name : sets) {
            if (name != "test") resolved.push_back(name);
        }
    }
    std::vector<std::string_view> names(sets.begin(), sets.end());
    for (const Json& name : resolved.items()) {
        if (std::find(sets.begin(), sets.end(), name.as_string()) == sets.end())
            name.refuse(
                text("the experiment has no set '", name.as_string(), "'", did_you_mean(name.as_string(), names)));
        monitor.sets.push_back(name.as_string());
    }
    return resolved;
}

void read_only(Monitor& monitor, const Json& given) {
    for (const Json& glob : given.items()) {
        monitor.only = {glob.as_string()};
        bool dynamic = std::any_of(monitor.channels.begin(), monitor.channels.end(), [&](const Channel& channel) {
            return glob.as_string().find(channel.name) != std::string::npos;
        });
        if (monitor.names().empty() && !dynamic)
            glob.refuse(text("'", glob.as_string(),
                             "' matches no figure of this run; figures are called valid.loss, gradient_norm, ..."));
    }
    monitor.only.clear();
    for (const Json& glob : given.items()) monitor.only.push_back(glob.as_string());
}

void read_tensorboard(Monitor& monitor, const Json& given) {
    if (given.is_string()) {
        if (given.as_string().empty()) given.refuse("expected true, or the name of a folder, found nothing");
        monitor.tensorboard = given.as_string();
    } else if (given.is_bool()) {
        if (given.as_bool()) monitor.tensorboard = "";
    } else if (!given.is_null()) {
        given.refuse(text("expected true, false or the name of a folder, found ", given.describe()));
    }
}

}  // namespace

const std::vector<Option>& monitor_keys() {
    static const std::vector<Option> all = [] {
        Option every{"every", "epoch",
                     "a line an epoch; also one a step (train.loss alone), or one every so many steps"};
        every.several = true, every.choices = {"epoch", "step"}, every.least = 1;
        Option channels{"channels", Json(), "what is measured; loss (and error, of classes) if left out", false,
                        Json::Kind::array};
        channels.list_of = "channel";
        return std::vector<Option>{every,
                                   {"on", Json(), "the sets; train and valid if left out", false, Json::Kind::array},
                                   channels,
                                   {"only", Json::array(), "globs of the figures that stand in the log; all if empty",
                                    false, Json::Kind::array},
                                   {"tensorboard", Json(), "event files too: true, or the name of a folder"}};
    }();
    return all;
}

const std::vector<Part<MakeChannel>>& channels() {
    static const std::vector<Part<MakeChannel>> all = [] {
        std::vector<Part<MakeChannel>> made;
        for (auto family : {channels_of_losses, channels_of_classes, channels_of_numbers, channels_of_training}) {
            for (Part<MakeChannel>& part : family()) made.push_back(std::move(part));
        }
        return made;
    }();
    return all;
}

Monitor::Monitor(const Json& given, const std::vector<std::string>& known, bool of_classes) {
    config = given;
    read_every(*this, given.at("every"));
    config["on"] = read_sets(*this, given.at("on"), known);
    config["channels"] = read_channels(*this, given.at("channels"), of_classes);
    read_only(*this, given.at("only"));
    read_tensorboard(*this, given.at("tensorboard"));
}

bool Monitor::keeps(const std::string& name) const { return only.empty() || matches_any(only, name); }

bool Monitor::watches(const std::string& set) const { return std::find(sets.begin(), sets.end(), set) != sets.end(); }

std::vector<std::string> Monitor::names() const {
    std::vector<std::string> all;
    auto add = [&](const std::string& name) {
        if (keeps(name)) all.push_back(name);
    };
    for (const std::string& set : sets) {
        for (const Channel& channel : channels) {
            if (!channel.of_run && channel.alone) add(set + "." + channel.name);
        }
    }
    for (const Channel& channel : channels) {
        if (channel.of_run && channel.alone) add(channel.name);
    }
    return all;
}

bool Monitor::more(const std::string& name) const {
    std::string behind_set = name.substr(name.find('.') + 1);
    return std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
        return channel.more && (channel.of_run ? name : behind_set) == channel.name;
    });
}

Wants Monitor::of_sets() const {
    Wants wants;
    for (const Channel& channel : channels) {
        if (!channel.of_run) wants = wants | channel.wants;
    }
    return wants;
}

Wants Monitor::of_steps() const {
    Wants wants = watches("train") ? of_sets() : Wants{};
    for (const Channel& channel : channels) {
        if (channel.of_run) wants = wants | channel.wants;
    }
    return wants;
}

Gathered::Gathered(const Monitor& monitor, const Names& names, std::initializer_list<Of> of) {
    for (const Channel& channel : monitor.channels) {
        Of own = channel.of_run ? Of::run : Of::set;
        if (std::find(of.begin(), of.end(), own) != of.end()) all_.push_back({channel.name, own, channel.make(names)});
    }
}

void Gathered::add(const Judged& batch) {
    for (One& one : all_) one.sums->add(batch);
}

void Gathered::write(Json& line, const Monitor& monitor, Of of, const std::string& set) const {
    for (const One& one : all_) {
        if (one.of != of) continue;
        for (const auto& [behind, value] : one.sums->figures()) {
            std::string name = (set.empty() ? "" : set + ".") + one.name + behind;
            if (monitor.keeps(name)) line[name] = value;
        }
    }
}

void Gathered::save(nn::NamedArrays& state, const std::string& prefix) const {
    for (const One& one : all_) {
        std::vector<double> sums = one.sums->state();
        if (!sums.empty())
            state[prefix + one.name] =
                Array::from(std::span<const double>(sums), {static_cast<std::int64_t>(sums.size())});
    }
}

void Gathered::restore(const nn::NamedArrays& state, const std::string& prefix) {
    for (One& one : all_) {
        if (one.sums->state().empty() && !state.contains(prefix + one.name)) continue;
        auto found = state.find(prefix + one.name);
        if (found == state.end()) throw FileError(text("the checkpoint has no '", prefix, one.name, "'"));
        Array sums = contiguous(found->second);
        if (sums.dtype != DType::float64)
            throw FileError(text("'", prefix, one.name, "' of the checkpoint is ", sums.dtype, ", not float64"));
        one.sums->restore(std::span(sums.data<double>(), static_cast<std::size_t>(sums.size())));
    }
}

}  // namespace weft::train
