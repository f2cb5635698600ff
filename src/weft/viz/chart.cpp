#include "weft/viz/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "weft/base/error.h"
#include "weft/base/json.h"
#include "weft/viz/frame.h"

namespace weft::viz {
namespace {

constexpr double width = Frame::width, height = Frame::height, left = Frame::left, right = Frame::right,
                 top = Frame::top, bottom = Frame::bottom;

std::string fixed(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.1f", value);
    return digits;
}

/// Attributes in quotes, as a file of its own needs them.
std::string element(const char* name, std::initializer_list<std::pair<const char*, std::string>> attributes) {
    std::string out = text("<", name);
    for (const auto& [attribute, value] : attributes) out += text(" ", attribute, "='", value, "'");
    return out;
}

std::string tick(double x, double y, const char* anchor, const std::string& words) {
    return element("text", {{"class", "tick"}, {"x", fixed(x)}, {"y", fixed(y)}, {"text-anchor", anchor}}) + ">" +
           escaped(words) + "</text>";
}

std::string rule(const char* name, double x1, double x2, double y1, double y2) {
    return element("line",
                   {{"class", name}, {"x1", fixed(x1)}, {"x2", fixed(x2)}, {"y1", fixed(y1)}, {"y2", fixed(y2)}}) +
           "/>";
}

std::string axes(const Chart& chart, const Frame& frame) {
    std::string out;
    for (double mark : marks_of(chart, frame)) {
        double y = frame.y(mark);
        out += rule("grid", left, width - right, y, y);
        out += tick(left - 8, y + 4, "end", shown(mark, chart.percent));
    }
    for (const auto& [mark, words] : marks_below(chart, frame))
        out += tick(frame.x(mark), height - bottom + 18, "middle", words);
    out += rule("axis", left, width - right, height - bottom, height - bottom);
    return out + tick((left + width - right) / 2, height - 4, "middle", chart.x_name);
}

std::string dot(double x, double y) {
    return element("circle", {{"cx", fixed(x)}, {"cy", fixed(y)}, {"r", "4"}}) + "/>";
}

std::string dots_of(const Curve& curve, const Frame& frame) {
    std::string dots;
    for (std::size_t i = 0; i < curve.x.size(); ++i)
        if (drawable(curve.y[i], frame.logarithmic)) dots += dot(frame.x(curve.x[i]), frame.y(curve.y[i]));
    return dots;
}

std::string path_of(const Curve& curve, const Frame& frame) {
    std::string path;
    bool drawing = false;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        if (!drawable(curve.y[i], frame.logarithmic)) {
            drawing = false;
            continue;
        }
        path += text(drawing ? "L" : "M", fixed(frame.x(curve.x[i])), " ", fixed(frame.y(curve.y[i])));
        drawing = true;
    }
    // A line of one point would not be seen.
    return text("<path d='", path, "'/>", curve.x.size() == 1 ? dots_of(curve, frame) : "");
}

std::string curves_of(const Chart& chart, const Frame& frame) {
    std::string out;
    for (std::size_t i = 0; i < chart.curves.size(); ++i)
        out += text("<g class='curve c", i % colours.size(), "'>",
                    chart.points ? dots_of(chart.curves[i], frame) : path_of(chart.curves[i], frame), "</g>");
    return out;
}

/// What the page's script shows under the pointer.
std::string numbers_of(const Chart& chart, const Frame& frame) {
    Json curves = Json::array();
    for (const Curve& curve : chart.curves) {
        Json points = Json::array();
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!drawable(curve.y[i], chart.logarithmic)) continue;
            points.push_back(
                Json::array({std::round(10 * frame.x(curve.x[i])) / 10, std::round(10 * frame.y(curve.y[i])) / 10,
                             shown_x(chart, curve.x[i]), shown(curve.y[i], chart.percent)}));
        }
        Json one;
        one["name"] = curve.name, one["points"] = points;
        curves.push_back(one);
    }
    return escaped(json_text(curves));
}

}  // namespace

std::string escaped(std::string_view source) {
    std::string out;
    for (char c : source) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out.push_back(c);
        }
    }
    return out;
}

std::string shown(double value, bool percent) {
    char digits[32];
    std::snprintf(digits, sizeof digits, percent ? "%.3g%%" : "%.4g", percent ? 100 * value : value);
    return digits;
}

std::vector<double> round_numbers(double low, double high, int count) {
    std::vector<double> marks;
    if (!(high > low) || !std::isfinite(high - low)) return {low};
    double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough))), step = 10 * power;
    for (double digit : {5.0, 2.0, 1.0}) {
        if (digit * power >= rough) step = digit * power;
    }
    for (double k = std::ceil(low / step); k * step <= high + 1e-9 * step; ++k) marks.push_back(k == 0 ? 0 : k * step);
    return marks;
}

std::string svg(const Chart& chart) {
    Frame frame = frame_of(chart);
    std::string out = text("<figure><figcaption>", escaped(chart.title), "</figcaption><div class=legend>");
    for (std::size_t i = 0; i < chart.curves.size(); ++i) {
        out += text("<span><i class=k", i % 6, "></i>", escaped(chart.curves[i].name), "</span>");
    }
    return out + text("</div><div class=chart data-curves=\"", numbers_of(chart, frame), "\"><svg viewBox='0 0 ", width,
                      " ", height, "' role='img' aria-label='", escaped(chart.title), "'>", axes(chart, frame),
                      curves_of(chart, frame), "<line class='cross' y1='", top, "' y2='", height - bottom,
                      "'/></svg><div class=tip></div></div></figure>\n");
}

std::string svg_file(const std::vector<Chart>& charts) {
    constexpr double head = 44, line = 18;
    std::string body;
    double y = 0;
    for (const Chart& chart : charts) {
        body += text("<g transform='translate(0 ", y, ")'>",
                     element("text", {{"class", "title"}, {"x", fixed(left)}, {"y", "18"}}), ">", escaped(chart.title),
                     "</text>");
        double x = left, row = 36;
        for (std::size_t i = 0; i < chart.curves.size(); ++i) {
            double wide = 34 + 7 * static_cast<double>(chart.curves[i].name.size());
            if (x > left && x + wide > width) x = left, row += line;
            body += text("<g class='curve c", i % colours.size(), "'><path d='M", x, " ", row - 4, "h16'/></g>",
                         tick(x + 22, row, "start", chart.curves[i].name));
            x += wide;
        }
        double drop = head + row - 36;
        Frame frame = frame_of(chart);
        body +=
            text("<g transform='translate(0 ", drop, ")'>", axes(chart, frame), curves_of(chart, frame), "</g></g>");
        y += drop + height + 12;
    }
    std::string style =
        "text{font-family:system-ui,sans-serif;font-size:12px;fill:#444}.title{font-size:15px;font-weight:600}"
        ".grid{stroke:#ddd}.axis{stroke:#777}.curve path{fill:none;stroke-width:2;stroke-linejoin:round}";
    for (std::size_t i = 0; i < colours.size(); ++i)
        style += text(".c", i, "{stroke:", colours[i], "}.c", i, " circle{fill:", colours[i], "}");
    return text("<svg xmlns='http://www.w3.org/2000/svg' width='", width, "' height='", y, "' viewBox='0 0 ", width,
                " ", y, "'><style>", style, "</style><rect width='100%' height='100%' fill='white'/>", body,
                "</svg>\n");
}

}  // namespace weft::viz
