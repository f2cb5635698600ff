#include "weft/viz/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "weft/base/error.h"
#include "weft/viz/page.h"

namespace weft::viz {
namespace {

std::string page_head(const std::string& title) {
    return text(
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        "<title>", escaped(title), "</title><style>", page_style, "</style></head><body>");
}

std::string section(const char* title, const std::string& content, const std::string& remark = "") {
    if (content.empty()) return "";
    std::string below = remark.empty() ? "" : text("<p class=remark>", remark, "</p>");
    return text("<section><h2>", title, "</h2>", below, content, "</section>\n");
}

std::string lacking_of(const Report& report) {
    std::string out;
    for (const std::string& line : report.lacking) out += text("<p><em>", escaped(line), "</em></p>");
    return out;
}

std::string figures_of(const Report& report) {
    std::string out;
    for (const auto& [name, value] : report.figures) {
        out += text("<div class=tile><b>", escaped(value), "</b><span>", escaped(name), "</span></div>");
    }
    return text("<div class=tiles>", out, "</div>");
}

std::string layers_of(const Report& report) {
    std::string out;
    for (std::size_t row = 0; row < report.layers.size(); ++row) {
        const char* tag = row == 0 ? "th" : "td";
        out += "<tr>";
        for (const std::string& cell : report.layers[row]) out += text("<", tag, ">", escaped(cell), "</", tag, ">");
        out += "</tr>";
    }
    return out.empty() ? out : text("<div class=scroll><table class=plain>", out, "</table></div>");
}

/// A sheet at a whole zoom that fits the page.
std::string sheet_of(const std::vector<Picture>& pictures, std::int64_t columns, const char* what) {
    if (pictures.empty()) return "";
    Picture all = sheet(pictures, columns);
    std::int64_t zoom = std::clamp<std::int64_t>(960 / std::max<std::int64_t>(1, all.width), 1, 8);
    return text("<img class=pixels alt='", what, "' src='", data_address(all), "' style='width:min(100%,",
                all.width * zoom, "px)'>");
}

std::string weights_of(const Report& report) {
    if (report.weights.empty()) return "";
    return sheet_of(report.weights, report.weights[0].width >= 16 ? 16 : 24, "weights of the first layer");
}

/// Rows in pairs: what was wanted, and below what came of it.
std::string reconstructions_of(const Report& report) {
    constexpr std::size_t columns = 12;
    std::vector<Picture> all;
    for (std::size_t first = 0; first < report.reconstructions.size(); first += columns) {
        std::size_t end = std::min(first + columns, report.reconstructions.size());
        for (bool given : {false, true})
            for (std::size_t i = first; i < first + columns; ++i) {
                const auto& [wanted, made] = report.reconstructions[std::min(i, end - 1)];
                all.push_back(i < end ? given ? made : wanted : Picture::blank(wanted.width, wanted.height));
            }
    }
    return sheet_of(all, columns, "examples above what the model gives back of them");
}

std::string examples_of(const std::vector<Example>& examples, const char* kind) {
    std::string out;
    for (const Example& example : examples) {
        std::string mistaken =
            example.truth == example.predicted ? "" : text("<em>is ", escaped(example.truth), "</em>");
        out += text("<figure class='example ", kind, "' title='number ", example.index,
                    " of the set'><img class=pixels alt='' src='", data_address(example.picture), "'><figcaption><b>",
                    escaped(example.predicted), "</b>", mistaken, "<span>", shown(example.confidence, true),
                    "</span></figcaption></figure>");
    }
    return out.empty() ? out : text("<div class=examples>", out, "</div>");
}

/// Right answers on the diagonal in one colour, mistakes in another, each shade by its share of the row's mistakes or of all.
std::string confusion_of(const Confusion& confusion) {
    std::size_t n = confusion.classes.size();
    if (n == 0 || confusion.counts.size() != n * n) return "";
    std::int64_t most_right = 1, most_wrong = 1;
    for (std::size_t i = 0; i < n * n; ++i) {
        std::int64_t& most = i % (n + 1) == 0 ? most_right : most_wrong;
        most = std::max(most, confusion.counts[i]);
    }
    std::string out = "<tr><td class=corner>true \\ predicted</td>";
    for (const std::string& name : confusion.classes) out += text("<th>", escaped(name), "</th>");
    out += "<th class=share>error</th></tr>";
    for (std::size_t row = 0; row < n; ++row) {
        out += text("<tr><th>", escaped(confusion.classes[row]), "</th>");
        std::int64_t total = 0;
        for (std::size_t column = 0; column < n; ++column) {
            std::int64_t count = confusion.counts[row * n + column];
            total += count;
            double shade = row == column ? 0.55 * static_cast<double>(count) / static_cast<double>(most_right)
                                         : 0.15 + 0.6 * static_cast<double>(count) / static_cast<double>(most_wrong);
            const char* ink = row == column ? "right" : "wrong";
            out += count ? text("<td class=", ink, " style='--shade:", shade, "'>", count, "</td>")
                         : "<td class=none>&middot;</td>";
        }
        double error =
            total ? 1 - static_cast<double>(confusion.counts[row * n + row]) / static_cast<double>(total) : 0;
        out += text("<td class=share>", shown(error, true), "</td></tr>");
    }
    return text("<div class=scroll><table class=confusion>", out, "</table></div>");
}

std::string seconds_shown(double seconds) {
    char digits[32];
    std::snprintf(digits, sizeof digits, seconds >= 100 ? "%.0f s" : seconds >= 1 ? "%.1f s" : "%.3f s", seconds);
    return digits;
}

std::string time_of(const Report& report) {
    double total = 0, most = 0;
    for (const auto& [name, seconds] : report.seconds) total += seconds, most = std::max(most, seconds);
    if (!(total > 0)) return "";
    std::string out;
    for (const auto& [name, seconds] : report.seconds) {
        out +=
            text("<tr><th>", escaped(name), "</th><td class=bar><i style='width:", 100 * seconds / most,
                 "%'></i></td><td>", seconds_shown(seconds), "</td><td>", shown(seconds / total, true), "</td></tr>");
    }
    return text("<table class=time>", out, "</table>");
}

std::string environment_of(const Report& report) {
    std::string out;
    for (const auto& [name, value] : report.environment) {
        out += text("<tr><th>", escaped(name), "</th><td>", escaped(value), "</td></tr>");
    }
    return out.empty() ? out : text("<div class=scroll><table class=plain>", out, "</table></div>");
}

std::string examples_section(const Report& report) {
    std::string remark = text(report.wrong_total, " of ", report.examples_total,
                              " are wrong. Under each picture: what the network says, ",
                              "<em>what it is</em> where that differs, and how sure it is.");
    std::string wrong = examples_of(report.wrong, "wrong"), right = examples_of(report.right, "right");
    std::string content = (wrong.empty() ? "" : "<h3>Wrong, the surest first</h3>" + wrong) +
                          (right.empty() ? "" : "<h3>Right</h3>" + right);
    return section("Examples", content, remark);
}

}  // namespace

std::string charts_html(const std::vector<Chart>& charts) {
    std::string out;
    for (const Chart& chart : charts) out += svg(chart);
    return out.empty() ? out : text("<div class=charts>", out, "</div>");
}

std::string charts_page(const std::string& title, const std::string& content, bool live) {
    return text(page_head(title), "<main><header><h1>", escaped(title), "</h1></header><div id=content>", content,
                "</div></main><script>", page_script, live ? live_script : "", "</script></body></html>\n");
}

std::string html(const Report& report) {
    std::string configuration =
        report.configuration.empty() ? "" : text("<pre>", escaped(report.configuration), "</pre>");
    std::string written = report.written.empty() ? "" : text("<pre>", escaped(report.written), "</pre>");
    return text(
        page_head(report.title), "<main>\n<header><h1>", escaped(report.title), "</h1><p>", escaped(report.subtitle),
        "</p>", lacking_of(report), "</header>\n", figures_of(report), "\n",
        section("Learning", charts_html(report.charts)), examples_section(report),
        section("Confusion", confusion_of(report.confusion),
                "Rows: what the example is. Columns: what the network says."),
        section("Reconstructions", reconstructions_of(report),
                "Each pair of rows: examples, and below them what the model gives back."),
        section("Samples", sheet_of(report.samples, 12, "examples that the model makes up"),
                "Examples that the model makes up."),
        section("What it writes", written, "Symbol after symbol, each drawn by what the model says comes next."),
        section("Where it puts examples", svg(report.embedding), escaped(report.embedding_name)),
        section("First layer", weights_of(report), escaped(report.weights_name)),
        section("Where the time went", time_of(report)), section("Network", layers_of(report)),
        section("Configuration", configuration), section("Environment", environment_of(report)), "</main><script>",
        page_script, "</script></body></html>\n");
}

}  // namespace weft::viz
