#include "weft/viz/explanation.h"

#include <algorithm>
#include <cstdio>

#include "weft/viz/chart.h"
#include "weft/viz/page.h"

namespace weft::viz {
namespace {

constexpr double arena_width = 1000;

std::string fixed(double value, int digits) {
    char out[64];
    std::snprintf(out, sizeof out, "%.*f", digits, value);
    return out;
}

std::string bytes_text(double bytes) {
    if (bytes >= 1 << 20) return fixed(bytes / (1 << 20), 1) + " MiB";
    if (bytes >= 1 << 10) return fixed(bytes / (1 << 10), 1) + " KiB";
    return fixed(bytes, 0) + " bytes";
}

std::string section(std::string_view title, std::string_view remark, const std::string& content) {
    return text("<section><h2>", title, "</h2><p class=remark>", remark, "</p>", content, "</section>\n");
}

// The first lines; the rest folds out.
std::string preformatted(const std::string& content) {
    constexpr std::ptrdiff_t shown = 40;
    std::ptrdiff_t lines = std::count(content.begin(), content.end(), '\n');
    if (lines <= shown + shown / 4) return text("<pre>", escaped(content), "</pre>");
    std::size_t cut = 0;
    for (std::ptrdiff_t i = 0; i < shown; ++i) cut = content.find('\n', cut) + 1;
    return text("<pre>", escaped(content.substr(0, cut)), "</pre><details><summary>", lines - shown,
                " more lines</summary><pre>", escaped(content.substr(cut)), "</pre></details>");
}

std::string tile(const std::string& figure, std::string_view what) {
    return text("<div class=tile><b>", escaped(figure), "</b><span>", what, "</span></div>");
}

double total_seconds(const Explanation& e) {
    double total = 0;
    for (const StepTime& step : e.steps) total += step.seconds;
    return total;
}

std::string tiles(const Explanation& e) {
    return text("<div class=tiles>", tile(fixed(total_seconds(e) * 1e6, 1) + " us", "one run"),
                tile(std::to_string(e.steps.size()), "steps"),
                tile(bytes_text(static_cast<double>(e.arena_bytes)), "arena"),
                tile(bytes_text(static_cast<double>(e.output_bytes)), "outputs"),
                tile(fixed(e.limits.operations / 1e9, 0) + " GFLOP/s", "this machine's peak"),
                tile(fixed(e.limits.bytes / 1e9, 0) + " GB/s", "this machine's memory"), "</div>");
}

// How much of what the machine can do a step reaches: of arithmetic for contractions, of memory for the others.
std::string reached(const StepTime& step, const Limits& limits) {
    bool arithmetic = step.work.operations > 0;
    double rate = (arithmetic ? step.work.operations : step.work.bytes) / step.seconds;
    double limit = arithmetic ? limits.operations : limits.bytes;
    return text(fixed(rate / 1e9, 1), arithmetic ? " GFLOP/s" : " GB/s",
                limit <= 0                    ? ""
                : !arithmetic && rate > limit ? " (in cache)"
                                              : " (" + fixed(100 * rate / limit, 0) + " %)");
}

std::string times_table(const Explanation& e) {
    double longest = 0;
    for (const StepTime& step : e.steps) longest = std::max(longest, step.seconds);
    std::string rows;
    for (std::size_t s = 0; s < e.steps.size(); ++s) {
        const StepTime& step = e.steps[s];
        rows +=
            text("<tr><th>", s, " ", escaped(step.what), "<br><span class=remark>", escaped(step.where),
                 "</span></th><td class=bar><i style='width:", fixed(longest > 0 ? 100 * step.seconds / longest : 0, 1),
                 "%'></i></td><td>", fixed(step.seconds * 1e6, 2), " us</td><td>", reached(step, e.limits), "</td><td>",
                 escaped(step.by), "</td></tr>");
    }
    return text("<div class=scroll><table class=time>", rows, "</table></div>");
}

// The arena: steps to the right, bytes upward; a rectangle a buffer, from the step that writes it to the last that reads it.
std::string memory_picture(const Explanation& e) {
    if (e.placements.empty() || e.steps.empty()) return "<p>Nothing lies in the arena.</p>";
    constexpr double height = 260;
    std::size_t top = 1;
    for (const Placement& p : e.placements) top = std::max(top, p.offset + p.bytes);
    double steps = static_cast<double>(e.steps.size()), bytes = static_cast<double>(top);
    std::string out;
    for (std::size_t i = 0; i < e.placements.size(); ++i) {
        const Placement& p = e.placements[i];
        double x = p.first / steps * arena_width, right = (p.last + 1) / steps * arena_width;
        double h = static_cast<double>(p.bytes) / bytes * height,
               y = height - static_cast<double>(p.offset) / bytes * height - h;
        out += text("<rect class=c", i % 6, " x=", fixed(x, 2), " y=", fixed(y, 2), " width=", fixed(right - x, 2),
                    " height=", fixed(std::max(h, 0.5), 2), " fill-opacity=.6><title>%", p.entry, ": ",
                    bytes_text(static_cast<double>(p.bytes)), " at ", p.offset, ", steps ", p.first, " to ", p.last,
                    "</title></rect>");
    }
    return text("<svg viewBox='0 0 ", arena_width, " ", height, "' role=img aria-label='the arena over the steps'>",
                out, "</svg>");
}

}  // namespace

std::string html(const Explanation& e, std::string_view title) {
    std::string name = escaped(title);
    return text(
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
        "content='width=device-width'><title>",
        name, "</title><style>", page_style, "</style></head><body><main>\n<header><h1>", name, "</h1></header>\n",
        tiles(e),
        section("Where the time goes", "Each step's fastest run, against what this machine can do.", times_table(e)),
        section(
            "Memory",
            "The arena over the steps: a rectangle a buffer, from the step that writes it to the last that reads it.",
            memory_picture(e)),
        section("Graph", "As it was written, with your lines.", preformatted(e.graph)),
        section("Rewrites", "Each rule that was applied, where, and the graph it gave.", preformatted(e.rewrites)),
        section("Plan", "What runs when, and why neighbours are not one kernel.", preformatted(e.plan)),
        section("Kernels", "What was compiled.", preformatted(e.kernels)),
        section("Buffers", "What the picture of memory shows, in numbers.", preformatted(e.memory)),
        "</main></body></html>\n");
}

}  // namespace weft::viz
