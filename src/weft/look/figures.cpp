#include "weft/look/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/io/file.h"
#include "weft/optim/optimizer.h"
#include "weft/train/log.h"
#include "weft/train/run.h"
#include "weft/viz/plot.h"
#include "weft/viz/report.h"

namespace weft::look {
namespace {

namespace fs = std::filesystem;

/// What is behind the set: "error" of "valid.error"; a name without a set is itself.
std::string kind_of(const std::string& channel) {
    for (const char* set : {"train.", "valid.", "test."}) {
        if (channel.starts_with(set)) return channel.substr(std::string_view(set).size());
    }
    return channel;
}

/// The folder's own name where these differ, else the whole path.
void name_runs(std::vector<RunLog>& runs) {
    for (RunLog& run : runs) run.name = fs::absolute(run.folder).lexically_normal().filename().string();
    std::map<std::string, int> count;
    for (const RunLog& run : runs) ++count[run.name];
    for (RunLog& run : runs) {
        if (count[run.name] > 1 || run.name.empty()) run.name = run.folder.string();
    }
}

viz::Curve curve_of(const RunLog& run, const std::string& channel) {
    viz::Curve curve;
    double epoch = 0;
    for (const Json& line : run.epochs) {
        ++epoch;
        if (!line.find(channel)) continue;
        curve.x.push_back(epoch);
        curve.y.push_back(line.at(channel).as_number());
    }
    return curve;
}

}  // namespace

std::vector<RunLog> read_runs(const std::vector<std::string>& folders) {
    std::vector<RunLog> runs;
    for (const std::string& folder : folders) {
        if (!train::Run::exists(folder))
            throw ConfigError(text("'", folder,
                                   "' holds no run: there is no config.yaml in it; `weft train FILE --out ", folder,
                                   "` makes one"));
        RunLog run{"", folder, {}, {}, {}};
        if (fs::exists(run.folder / "log.jsonl")) run.lines = train::read_log(run.folder / "log.jsonl", &run.torn);
        for (const Json& line : run.lines) {
            if (train::is_epoch(line)) run.epochs.push_back(line);
            if (line.find("final")) run.finals.push_back(line);
        }
        run.ended = !run.lines.empty() && run.lines.back().find("final");
        runs.push_back(std::move(run));
    }
    name_runs(runs);
    return runs;
}

std::vector<std::string> channels_of(const std::vector<RunLog>& runs, const std::optional<std::string>& glob) {
    std::vector<std::string> all, chosen;
    for (const RunLog& run : runs) {
        for (const Json& line : run.epochs) {
            for (const Json::Member& member : line.members()) {
                bool known = std::find(all.begin(), all.end(), member.key) != all.end();
                if (!known && train::is_figure(member)) all.push_back(member.key);
            }
        }
    }
    for (const std::string& name : all) {
        if (!glob || optim::glob_match(*glob, name)) chosen.push_back(name);
    }
    if (!chosen.empty() || all.empty()) return chosen;
    std::vector<std::string_view> names(all.begin(), all.end());
    throw ConfigError(text("--channel ", *glob, ": no figure is called so", did_you_mean(*glob, names)));
}

bool spread(const viz::Chart& chart) {
    double least = INFINITY, most = 0;
    for (const viz::Curve& curve : chart.curves) {
        for (double y : curve.y) {
            if (!std::isfinite(y)) continue;
            if (y <= 0) return false;
            least = std::min(least, y), most = std::max(most, y);
        }
    }
    return most > 5 * least;
}

std::vector<viz::Chart> charts_of(const std::vector<RunLog>& runs, const std::vector<std::string>& channels) {
    std::vector<viz::Chart> charts;
    for (const std::string& channel : channels) {
        std::string kind = kind_of(channel), set = channel.substr(0, channel.size() - kind.size());
        if (!set.empty()) set.pop_back();
        auto same = [&](const viz::Chart& chart) { return chart.title == kind; };
        auto chart = std::find_if(charts.begin(), charts.end(), same);
        if (chart == charts.end())
            chart = charts.insert(charts.end(), viz::Chart{kind, "epoch", "", {}, false, kind == "error"});
        for (const RunLog& run : runs) {
            viz::Curve curve = curve_of(run, channel);
            curve.name = runs.size() == 1 ? (set.empty() ? kind : set) : set.empty() ? run.name : run.name + " " + set;
            if (!curve.x.empty()) chart->curves.push_back(std::move(curve));
        }
    }
    for (viz::Chart& chart : charts) chart.logarithmic = spread(chart);
    return charts;
}

void write_plot(const fs::path& file, const std::vector<std::string>& folders, const std::optional<std::string>& glob) {
    std::string kind = file.extension().string();
    if (kind != ".svg" && kind != ".html" && kind != ".png")
        throw ConfigError(text("a plot, ", file.string(), ": expected a name that ends with .svg, .png or .html"));
    std::vector<RunLog> runs = read_runs(folders);
    std::vector<viz::Chart> charts = charts_of(runs, channels_of(runs, glob));
    if (charts.empty()) throw ConfigError("there is nothing to plot: no epoch has ended yet");
    std::string title;
    for (const RunLog& run : runs) title += (title.empty() ? "" : ", ") + run.name;
    io::write_atomically(file, kind == ".svg"    ? viz::svg_file(charts)
                               : kind == ".html" ? viz::charts_page(title, viz::charts_html(charts), false)
                                                 : viz::png(viz::plotted(charts)));
}

std::string figure(const std::string& channel, double value) {
    char digits[64];
    bool share = channel.ends_with(".error");
    std::snprintf(digits, sizeof digits, share ? "%.2f%%" : "%.4f", share ? 100 * value : value);
    return digits;
}

std::string cell_of(const std::string& channel, double value) {
    return channel.ends_with(".error") ? figure(channel, value) : viz::shown(value);
}

std::string cell(const Json& line, const std::string& channel) {
    const Json* value = line.find(channel);
    return value ? cell_of(channel, value->as_number()) : "";
}

}  // namespace weft::look
