#include "weft/search/report.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/look/figures.h"
#include "weft/train/dry_run.h"
#include "weft/train/folds.h"
#include "weft/viz/report.h"

namespace weft::search {
namespace {

constexpr double wide_range = 20;  // from here on values are drawn by their powers of ten

bool in_order(const train::Trials& trials) { return trials.kind == "cv"; }

/// Of the phase that has most; 0 where only the data tell.
std::int64_t parameters_of(const std::vector<std::optional<train::Network>>& networks) {
    std::int64_t most = 0;
    for (const auto& network : networks) most = std::max(most, network ? network->parameters() : 0);
    return most;
}

std::vector<train::TrialResult> rows_of(const train::Trials& trials, const std::vector<train::TrialResult>& results) {
    std::vector<train::TrialResult> rows = trials.ranked(results);
    if (in_order(trials))
        std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.trial < b.trial; });
    return rows;
}

/// The figures that stand in the table: what trials are compared by, then the others of the kept models.
std::vector<std::string> figures_of(const train::Trials& trials, const std::vector<train::TrialResult>& rows) {
    std::vector<std::string> names{trials.watch.channel};
    for (const train::TrialResult& row : rows) {
        if (!row.figures.is_object()) continue;
        for (const Json::Member& member : row.figures.members())
            if (std::find(names.begin(), names.end(), member.key) == names.end()) names.push_back(member.key);
    }
    return names;
}

std::string shown_figure(const train::TrialResult& row, const train::Trials& trials, const std::string& name) {
    if (row.error.empty() && name == trials.watch.channel) return look::cell_of(name, row.figure);
    const Json* value = row.figures.is_object() ? row.figures.find(name) : nullptr;
    return value ? look::cell_of(name, value->as_number()) : "";
}

Rows spread_rows(const train::Trials& trials, const std::vector<train::TrialResult>& rows,
                 const std::vector<std::string>& names) {
    std::vector<train::Spread> all = train::spreads(rows);
    if (all.empty()) return {};
    Rows out;
    for (const char* which : {"mean", "deviation"}) {
        std::vector<std::string> row{which};
        row.insert(row.end(), trials.keys.size(), "");
        for (const std::string& name : names) {
            auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.figure == name; });
            bool mean = which == std::string_view("mean");
            row.push_back(found == all.end() ? "" : look::cell_of(name, mean ? found->mean : found->deviation));
        }
        row.insert(row.end(), {"", ""});
        out.push_back(std::move(row));
    }
    return out;
}

/// Where values stand on an axis: numbers as they are, or their logarithms; all else by its place among what there is.
struct Places {
    std::vector<double> x;  // of each trial
    std::string name;
};
Places places_of(const train::Trials& trials, std::size_t key) {
    Places places{{}, trials.keys[key]};
    double least = INFINITY, most = 0;
    bool numbers = true;
    for (const train::Trial& trial : trials.trials) {
        numbers = numbers && trial.values[key].is_number();
        if (!numbers) break;
        double value = trial.values[key].as_number();
        places.x.push_back(value), least = std::min(least, value), most = std::max(most, value);
    }
    if (numbers && least > 0 && most / least >= wide_range) {
        for (double& x : places.x) x = std::log10(x);
        places.name += " (power of ten)";
    }
    if (numbers) return places;
    places.x.clear();
    std::vector<std::string> seen;
    for (const train::Trial& trial : trials.trials) {
        std::string word = train::value_text(trial.values[key]);
        auto known = std::find(seen.begin(), seen.end(), word);
        places.x.push_back(static_cast<double>(known - seen.begin()));
        if (known == seen.end()) seen.push_back(word);
    }
    places.name += ":";
    for (std::size_t i = 0; i < seen.size(); ++i) places.name += text(i ? ", " : " ", i, " is ", seen[i]);
    return places;
}

viz::Chart chart_of_key(const train::Trials& trials, const std::vector<train::TrialResult>& rows, std::size_t key) {
    const std::string& figure = trials.watch.channel;
    Places places = places_of(trials, key);
    viz::Chart chart{trials.keys[key], places.name, "", {}, false, figure.ends_with(".error"), true};
    for (std::size_t rung = 0; rung < trials.rungs.size(); ++rung) {
        viz::Curve curve;
        std::int64_t epochs = trials.rungs[rung].epochs;
        curve.name = epochs ? text(figure, " after ", epochs, epochs == 1 ? " epoch" : " epochs") : figure;
        for (const train::TrialResult& row : rows) {
            if (row.rung != static_cast<std::int64_t>(rung) || !row.error.empty()) continue;
            curve.x.push_back(places.x[static_cast<std::size_t>(row.trial - 1)]);
            curve.y.push_back(row.figure);
        }
        if (!curve.x.empty()) chart.curves.push_back(std::move(curve));
    }
    chart.logarithmic = look::spread(chart);
    return chart;
}

std::string html_of(const Rows& rows) {
    std::string out = "<div class=scroll><table class=plain>";
    for (const auto& row : rows) {
        bool head = &row == &rows[0];
        out += "<tr>";
        for (const std::string& word : row) out += text(head ? "<th>" : "<td>", viz::escaped(word));
        out += "\n";
    }
    return out + "</table></div>";
}

}  // namespace

Rows checked(const train::Trials& trials) {
    Rows rows{{"trial"}};
    data::SamplesKept kept;
    rows[0].insert(rows[0].end(), trials.keys.begin(), trials.keys.end());
    rows[0].emplace_back("parameters");
    for (const train::Trial& trial : trials.trials) {
        std::int64_t parameters = parameters_of(train::networks_of(train::Experiment(trial.config)));
        rows.push_back({std::to_string(trial.number)});
        for (const Json& value : trial.values) rows.back().push_back(train::value_text(value));
        rows.back().push_back(parameters ? train::grouped(parameters) : "");
    }
    return rows;
}

Rows table_of(const train::Trials& trials, const std::vector<train::TrialResult>& results) {
    std::vector<train::TrialResult> rows = rows_of(trials, results);
    std::vector<std::string> names = figures_of(trials, rows), head{"trial"};
    head.insert(head.end(), trials.keys.begin(), trials.keys.end());
    head.insert(head.end(), names.begin(), names.end());
    head.insert(head.end(), {"epoch", "remark"});
    Rows table{head};
    for (const train::TrialResult& result : rows) {
        std::vector<std::string> row{std::to_string(result.trial)};
        for (const Json& value : trials.trials[static_cast<std::size_t>(result.trial - 1)].values)
            row.push_back(train::value_text(value));
        for (const std::string& name : names) row.push_back(shown_figure(result, trials, name));
        row.push_back(result.error.empty() ? std::to_string(result.epoch) : "");
        std::int64_t epochs = trials.rungs[static_cast<std::size_t>(result.rung)].epochs;
        row.push_back(!result.error.empty() ? result.error : epochs ? text("until epoch ", epochs) : "");
        table.push_back(std::move(row));
    }
    if (in_order(trials))
        for (auto& row : spread_rows(trials, rows, names)) table.push_back(std::move(row));
    return table;
}

std::string page_of(const std::string& title, const train::Trials& trials,
                    const std::vector<train::TrialResult>& results) {
    std::vector<viz::Chart> charts;
    for (std::size_t key = 0; key < trials.keys.size(); ++key) {
        viz::Chart chart = chart_of_key(trials, results, key);
        if (!chart.curves.empty()) charts.push_back(std::move(chart));
    }
    return viz::charts_page(title,
                            text("<section>", html_of(table_of(trials, results)), "</section><section>",
                                 viz::charts_html(charts), "</section>"),
                            false);
}

}  // namespace weft::search
