#include "weft/viz/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "weft/base/error.h"
#include "weft/base/json.h"

namespace weft::viz {
namespace {

constexpr double width = 640, height = 300, left = 58, right = 14, top = 12, bottom = 40;

/// Where numbers lie in the picture.
struct Frame {
    double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
    bool logarithmic = false;

    double x(double value) const { return left + (value - x_low) / (x_high - x_low) * (width - left - right); }
    double y(double value) const {
        double share =
            logarithmic ? std::log(value / y_low) / std::log(y_high / y_low) : (value - y_low) / (y_high - y_low);
        return height - bottom - share * (height - top - bottom);
    }
};

bool drawable(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

Frame frame_of(const Chart& chart) {
    const double infinite = std::numeric_limits<double>::infinity();
    Frame frame{infinite, -infinite, infinite, -infinite, chart.logarithmic};
    for (const Curve& curve : chart.curves) {
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!drawable(curve.y[i], chart.logarithmic)) continue;
            frame.x_low = std::min(frame.x_low, curve.x[i]), frame.x_high = std::max(frame.x_high, curve.x[i]);
            frame.y_low = std::min(frame.y_low, curve.y[i]), frame.y_high = std::max(frame.y_high, curve.y[i]);
        }
    }
    if (frame.x_low > frame.x_high)
        frame.x_low = 0, frame.x_high = 1, frame.y_low = chart.logarithmic ? 0.1 : 0, frame.y_high = 1;
    if (frame.x_low == frame.x_high) frame.x_low -= 0.5, frame.x_high += 0.5;
    if (chart.logarithmic) {
        frame.y_low /= 1.15, frame.y_high *= 1.15;
    } else {
        frame.y_low = std::min(frame.y_low, 0.0);
        frame.y_high += (frame.y_high > frame.y_low ? 0.05 * (frame.y_high - frame.y_low) : 1);
    }
    return frame;
}

/// 1, 2 and 5 times powers of ten within the frame; fewer where they would crowd.
std::vector<double> logarithmic_marks(const Frame& frame) {
    std::vector<double> marks;
    double decades = std::log10(frame.y_high / frame.y_low);
    for (int power = static_cast<int>(std::floor(std::log10(frame.y_low))); std::pow(10, power) <= frame.y_high;
         ++power) {
        for (double digit : {1.0, 2.0, 5.0}) {
            if (digit != 1 && decades > 3) continue;
            double mark = digit * std::pow(10, power);
            if (mark >= frame.y_low && mark <= frame.y_high) marks.push_back(mark);
        }
    }
    return marks;
}

std::string fixed(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.1f", value);
    return digits;
}

std::string axes(const Chart& chart, const Frame& frame) {
    std::string out;
    for (double mark : chart.logarithmic ? logarithmic_marks(frame) : round_numbers(frame.y_low, frame.y_high, 5)) {
        std::string y = fixed(frame.y(mark));
        out += text("<line class=grid x1=", left, " x2=", width - right, " y1=", y, " y2=", y, " />");
        out += text("<text class=tick x=", left - 8, " y=", y, " dy=4 text-anchor=end>", shown(mark, chart.percent),
                    "</text>");
    }
    for (double mark : round_numbers(frame.x_low, frame.x_high, 8)) {
        if (mark != std::floor(mark)) continue;
        out += text("<text class=tick x=", fixed(frame.x(mark)), " y=", height - bottom + 18, " text-anchor=middle>",
                    shown(mark), "</text>");
    }
    out += text("<line class=axis x1=", left, " x2=", width - right, " y1=", height - bottom, " y2=", height - bottom,
                " />");
    out += text("<text class=tick x=", (left + width - right) / 2, " y=", height - 4, " text-anchor=middle>",
                escaped(chart.x_name), "</text>");
    return out;
}

std::string path_of(const Curve& curve, const Frame& frame) {
    std::string path, dots;
    bool drawing = false;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        if (!drawable(curve.y[i], frame.logarithmic)) {
            drawing = false;
            continue;
        }
        path += text(drawing ? "L" : "M", fixed(frame.x(curve.x[i])), " ", fixed(frame.y(curve.y[i])));
        drawing = true;
    }
    if (curve.x.size() == 1 && drawable(curve.y[0], frame.logarithmic)) {  // a line of one point would not be seen
        dots = text("<circle cx=", fixed(frame.x(curve.x[0])), " cy=", fixed(frame.y(curve.y[0])), " r=4 />");
    }
    return text("<path d='", path, "' />", dots);
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
                             shown(curve.x[i]), shown(curve.y[i], chart.percent)}));
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
    out += text("</div><div class=chart data-curves=\"", numbers_of(chart, frame), "\"><svg viewBox='0 0 ", width, " ",
                height, "' role=img aria-label='", escaped(chart.title), "'>", axes(chart, frame));
    for (std::size_t i = 0; i < chart.curves.size(); ++i) {
        out += text("<g class='curve c", i % 6, "'>", path_of(chart.curves[i], frame), "</g>");
    }
    return out + text("<line class=cross y1=", top, " y2=", height - bottom,
                      " /></svg><div class=tip></div></div></figure>\n");
}

}  // namespace weft::viz
