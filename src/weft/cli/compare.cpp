// weft monitor, weft plot, weft diff: figures of runs as a table, as a picture, side by side.
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/cli/terminal.h"
#include "weft/look/figures.h"
#include "weft/train/config.h"
#include "weft/train/log.h"
#include "weft/train/run.h"
#include "weft/viz/report.h"

namespace weft::cli {
namespace {

constexpr std::size_t most_figures = 8;

/// "3", or "pretrain 3".
std::string epoch_of(const Json& line) {
    std::string phase = train::phase_of(line), epoch = std::to_string(line.at("epoch").as_integer());
    return phase.empty() ? epoch : phase + " " + epoch;
}

/// What could not be read of their logs is said beside what is shown.
std::vector<look::RunLog> runs_named_by(const Arguments& arguments) {
    std::vector<look::RunLog> runs = look::read_runs(arguments.words());
    for (const look::RunLog& run : runs)
        if (!run.torn.empty()) std::cerr << run.torn << std::endl;
    return runs;
}

using Flat = std::vector<std::pair<std::string, std::string>>;
void flatten(const Json& value, const std::string& path, Flat& all) {
    auto below = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
    if (value.is_object() && value.size()) {
        for (const Json::Member& member : value.members()) flatten(member.value, below(member.key), all);
    } else if (value.is_array() && value.size()) {
        for (std::size_t i = 0; i < value.size(); ++i) flatten(value.item(i), below(std::to_string(i)), all);
    } else {
        all.emplace_back(path, json_text(value));
    }
}

/// Keys of one side or both whose values differ.
Rows differences(const Flat& a, const Flat& b) {
    Rows rows;
    auto value_in = [](const Flat& flat, const std::string& key) {
        auto found = std::find_if(flat.begin(), flat.end(), [&](const auto& one) { return one.first == key; });
        return found == flat.end() ? std::string("-") : found->second;
    };
    for (const auto& [key, value] : a) {
        std::string other = value_in(b, key);
        if (other != value) rows.push_back({key, value, other});
    }
    for (const auto& [key, value] : b) {
        if (value_in(a, key) == "-" && value != "-") rows.push_back({key, "-", value});
    }
    return rows;
}

/// The figures that a run ended with, or has reached.
Json last_figures(const look::RunLog& run) {
    return !run.finals.empty() ? run.finals.back() : !run.epochs.empty() ? run.epochs.back() : Json::object();
}

Rows figures_side_by_side(const look::RunLog& a, const look::RunLog& b) {
    Json first = last_figures(a), second = last_figures(b);
    Rows rows{{"", a.name, b.name, "difference"}};
    std::vector<std::string> names{"epoch", "step"};
    for (const Json& line : {first, second}) {
        for (const Json::Member& member : line.members()) {
            bool known = std::find(names.begin(), names.end(), member.key) != names.end();
            if (!known && train::is_figure(member)) names.push_back(member.key);
        }
    }
    for (const std::string& name : names) {
        const Json *left = first.find(name), *right = second.find(name);
        std::string difference;
        if (left && right) difference = viz::shown(right->as_number() - left->as_number());
        rows.push_back({name, left ? json_text(*left) : "-", right ? json_text(*right) : "-", difference});
    }
    return rows;
}

/// The first epoch in which a figure that both have differs.
std::string parting(const look::RunLog& a, const look::RunLog& b) {
    std::size_t both = std::min(a.epochs.size(), b.epochs.size());
    for (std::size_t i = 0; i < both; ++i) {
        for (const Json::Member& member : a.epochs[i].members()) {
            const Json* other = b.epochs[i].find(member.key);
            if (train::is_figure(member) && other && !(*other == member.value))
                return text("the logs part in epoch ", epoch_of(a.epochs[i]), ": ", member.key, " ",
                            json_text(member.value), " and ", json_text(*other));
        }
    }
    return text("the logs agree in all figures of the ", both, " epochs that both have");
}

}  // namespace

int monitor(const Arguments& arguments) {
    std::vector<look::RunLog> runs = runs_named_by(arguments);
    std::vector<std::string> channels = look::channels_of(runs, arguments.value("channel"));
    std::size_t left_out = 0;
    if (!arguments.has("channel") && ::isatty(STDOUT_FILENO) && channels.size() > most_figures)
        left_out = channels.size() - most_figures, channels.resize(most_figures);
    for (const look::RunLog& run : runs)
        if (auto divergence = train::divergence_in(run.lines))
            std::cerr << run.name << ": " << divergence->said << "\n";
    Rows rows{{"run", "epoch"}};
    rows[0].insert(rows[0].end(), channels.begin(), channels.end());
    for (const look::RunLog& run : runs) {
        for (const Json& line : run.lines) {
            bool final = line.find("final");
            if (!final && !train::is_epoch(line)) continue;
            rows.push_back({run.name, (final ? "kept " : "") + epoch_of(line)});
            for (const std::string& channel : channels) rows.back().push_back(look::cell(line, channel));
        }
    }
    print_rows(rows);
    if (left_out) std::cout << left_out << " more figures; --channel GLOB chooses, as in --channel 'valid.*'\n";
    return done;
}

int plot(const Arguments& arguments) {
    if (!arguments.has("out"))
        throw ConfigError("weft plot: --out FILE is needed, as in --out plot.svg, .png or .html");
    std::filesystem::path path = *arguments.value("out");
    (void)runs_named_by(arguments);
    look::write_plot(path, arguments.words(), arguments.value("channel"));
    std::cout << path.string() << "\n";
    return done;
}

int diff(const Arguments& arguments) {
    std::vector<look::RunLog> runs = runs_named_by(arguments);
    Flat configs[2];
    for (std::size_t i = 0; i < 2; ++i) flatten(train::load_config(runs[i].folder / "config.yaml"), "", configs[i]);
    Rows rows = differences(configs[0], configs[1]);
    if (rows.empty())
        std::cout << "the configurations are the same\n";
    else
        rows.insert(rows.begin(), std::vector<std::string>{"", runs[0].name, runs[1].name});
    print_rows(rows);
    std::cout << "\n";
    print_rows(figures_side_by_side(runs[0], runs[1]));
    std::cout << "\n" << parting(runs[0], runs[1]) << "\n";
    return done;
}

}  // namespace weft::cli
