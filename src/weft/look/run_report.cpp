#include "weft/look/run_report.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/found.h"
#include "weft/io/file.h"
#include "weft/io/safetensors.h"
#include "weft/look/example_picture.h"
#include "weft/look/figures.h"
#include "weft/look/first_layer.h"
#include "weft/look/model_pictures.h"
#include "weft/train/sample_text.h"
#include "weft/train/yaml.h"
#include "weft/viz/report.h"

namespace weft::look {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most_examples = 36;

viz::Chart chart_of(const std::vector<Json>& lines, const std::vector<std::string>& channels, const std::string& what) {
    viz::Chart chart{what == "loss" ? "Loss" : "Errors", "epoch", "", {}, true, what == "error"};
    for (const std::string& channel : channels) {
        if (!channel.ends_with("." + what)) continue;
        viz::Curve curve{channel, {}, {}};
        double epoch = 0;
        for (const Json& line : lines) {
            if (!train::is_epoch(line)) continue;
            ++epoch;  // counted through all phases
            if (!line.find(channel)) continue;
            curve.x.push_back(epoch);
            curve.y.push_back(line.at(channel).as_number());
        }
        if (!curve.x.empty()) chart.curves.push_back(std::move(curve));
    }
    return chart;
}

/// One example's answer, and how sure the network is of it.
struct Answer {
    std::int64_t index = 0, truth = 0, predicted = 0;
    double confidence = 0;
};

/// softmax's largest value of a row of scores; of one score, the logistic function's.
Answer answer_of(const float* scores, std::int64_t count) {
    Answer answer;
    if (count == 1) {
        double p = 1 / (1 + std::exp(-static_cast<double>(scores[0])));
        answer.predicted = scores[0] > 0, answer.confidence = std::max(p, 1 - p);
        return answer;
    }
    answer.predicted = std::max_element(scores, scores + count) - scores;
    double sum = 0;
    for (std::int64_t c = 0; c < count; ++c) sum += std::exp(static_cast<double>(scores[c] - scores[answer.predicted]));
    answer.confidence = 1 / sum;
    return answer;
}

std::vector<Answer> answers_of(train::Objective& objective, const data::Dataset& set) {
    std::vector<Answer> answers;
    Array labels = contiguous(set.y);
    objective.outputs(set, [&](std::int64_t first, const Array& values) {
        std::int64_t rows = values.dims[0], count = values.size() / std::max<std::int64_t>(1, rows);
        for (std::int64_t i = 0; i < rows; ++i) {
            Answer answer = answer_of(values.data<float>() + i * count, count);
            answer.index = first + i;
            with_dtype(labels.dtype, [&](auto tag) {
                using T = typename decltype(tag)::Type;
                if constexpr (std::is_integral_v<T>)
                    answer.truth = static_cast<std::int64_t>(labels.data<T>()[answer.index]);
            });
            answers.push_back(answer);
        }
    });
    return answers;
}

void add_examples(viz::Report& report, const data::Dataset& set, std::vector<Answer> answers) {
    std::optional<PictureShape> shape = picture_shape(set.example());
    report.examples_total = static_cast<std::int64_t>(answers.size());
    report.wrong_total =
        std::count_if(answers.begin(), answers.end(), [](const Answer& a) { return a.truth != a.predicted; });
    if (!shape || !is_floating(set.x_dtype())) return;
    std::vector<Answer> wrong;
    for (const Answer& answer : answers) {
        if (answer.truth != answer.predicted) wrong.push_back(answer);
    }
    std::stable_sort(wrong.begin(), wrong.end(),
                     [](const Answer& a, const Answer& b) { return a.confidence > b.confidence; });
    auto drawn = [&](const Answer& a) {
        Array x = contiguous(set.rows(a.index, a.index + 1).inputs());
        return viz::Example{draw(x, *shape), class_name(set, a.truth), class_name(set, a.predicted), a.confidence,
                            a.index};
    };
    for (const Answer& answer : wrong) {
        if (report.wrong.size() < most_examples) report.wrong.push_back(drawn(answer));
    }
    for (const Answer& answer : answers) {
        if (answer.truth == answer.predicted && report.right.size() < most_examples)
            report.right.push_back(drawn(answer));
    }
}

void add_confusion(viz::Report& report, const data::Dataset& set, const std::vector<Answer>& answers) {
    std::int64_t classes = static_cast<std::int64_t>(set.classes.size());
    for (const Answer& answer : answers) classes = std::max({classes, answer.truth + 1, answer.predicted + 1});
    if (classes < 2 || classes > 40) return;
    report.confusion.counts.resize(static_cast<std::size_t>(classes * classes));
    for (std::int64_t c = 0; c < classes; ++c) report.confusion.classes.push_back(class_name(set, c));
    for (const Answer& a : answers) {
        if (a.truth >= 0) ++report.confusion.counts[static_cast<std::size_t>(a.truth * classes + a.predicted)];
    }
}

void add_figures(viz::Report& report, const train::Run& run, const std::vector<Json>& lines) {
    const Json& last = lines.back();
    for (const char* what : {"error", "loss"}) {
        for (const char* set : {"test", "valid", "train"}) {
            std::string channel = text(set, ".", what);
            if (const Json* value = last.find(channel))
                report.figures.emplace_back(text(set, " ", what), figure(channel, value->as_number()));
        }
    }
    report.figures.emplace_back("epoch", std::to_string(last.at("epoch").as_integer()));
    report.figures.emplace_back("time", viz::shown(last.at("seconds").as_number()) + " s");
    report.subtitle =
        text(train::grouped(last.at("examples").as_integer()), " examples in ",
             train::grouped(last.at("step").as_integer()), " steps; the figures are those of the model of epoch ",
             last.at("epoch").as_integer(), run.kept_phase().keep_best ? ", the best one" : "");
}

void add_network(viz::Report& report, const train::Network& network) {
    report.figures.emplace_back("parameters", train::grouped(network.parameters()));
    report.layers.push_back({"", "layer", "gives", "parameters"});
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const train::Network::Layer& layer = network.layers[i];
        report.layers.push_back(
            {layer.path, layer.name, str(layer.gives), layer.parameters ? train::grouped(layer.parameters) : ""});
    }
}

void add_text(viz::Report& report, const train::Run& run) {
    if (!train::is_text_model(run)) return;
    try {
        report.written = train::sample_text(run);
    } catch (const ConfigError&) {  // its scores are of something else
    } catch (const ValueError&) {   // or not finite
    }
}

void add_times(viz::Report& report, const fs::path& folder) {
    if (!fs::exists(folder / "times.json")) return;
    Json times = parse_json(io::read_file(folder / "times.json", 1 << 20), (folder / "times.json").string());
    for (const Json::Member& member : times.members())
        report.seconds.emplace_back(member.key, member.value.as_number());
}

/// The run has ended well whatever of it can be shown: a part that cannot be made is left out, and a line says why.
template <class F>
void or_said(viz::Report& report, const std::string& part, F make) {
    try {
        make();
    } catch (const Error& error) {
        std::string_view what = error.what();
        report.lacking.push_back(text("the report shows nothing ", part, ": ", what.substr(0, what.find('\n'))));
    }
}

/// What the kept model says of a set, and what it is.
void add_model(viz::Report& report, const train::Run& run, const data::Dataset& set) {
    const train::Phase& phase = run.kept_phase();
    train::Network network = run.network(set);
    train::Objective objective(phase, network);
    or_said(report, "of examples", [&] {
        if (!objective.counts_errors()) return add_embedding(report, objective, set);
        std::vector<Answer> answers = answers_of(objective, set);
        add_examples(report, set, answers);
        add_confusion(report, set, answers);
    });
    or_said(report, "of reconstructions", [&] { add_reconstructions(report, phase, network, set); });
    or_said(report, "of samples", [&] { add_samples(report, phase, network, set); });
    or_said(report, "of weights", [&] { add_first_layer(report, run, network); });
    add_network(report, network);
}

}  // namespace

std::string class_name(const data::Dataset& set, std::int64_t label) {
    bool named = label >= 0 && label < static_cast<std::int64_t>(set.classes.size());
    return named ? set.classes[static_cast<std::size_t>(label)] : std::to_string(label);
}

fs::path write_report(const train::Run& run, std::vector<std::pair<std::string, std::string>> environment) {
    std::string torn;
    std::vector<Json> lines = train::read_log(run.folder() / "log.jsonl", &torn);
    std::erase_if(lines, [](const Json& line) { return !line.find("epoch"); });
    if (lines.empty()) throw ConfigError(text("the run in '", run.folder().string(), "' has not ended an epoch yet"));
    std::string judged = run.kept_phase().set("test") ? "test" : run.kept_phase().set("valid") ? "valid" : "train";
    viz::Report report;
    if (!torn.empty()) report.lacking.push_back(torn);
    report.title = fs::absolute(run.folder()).lexically_normal().filename().string();
    for (const char* what : {"loss", "error"}) {
        viz::Chart chart = chart_of(lines, run.kept_phase().channels(), what);
        if (!chart.curves.empty()) report.charts.push_back(std::move(chart));
    }
    add_figures(report, run, lines);
    or_said(report, text("of the model and of '", judged, "'"), [&] { add_model(report, run, run.prepared(judged)); });
    or_said(report, "of what the model writes", [&] { add_text(report, run); });
    add_times(report, run.folder());
    report.configuration = train::yaml_text(run.experiment().config);
    report.environment = std::move(environment);
    for (const std::string& line : report.lacking) std::cerr << line << "\n";
    if (auto divergence = train::divergence_in(lines)) report.lacking.push_back(divergence->said);
    fs::path path = run.folder() / "report.html";
    io::write_atomically(path, viz::html(report));
    return path;
}

}  // namespace weft::look
