#include "weft/viz/plot.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "weft/viz/frame.h"

namespace weft::viz {
namespace {

constexpr double scale = 2, head = 44;

struct Glyph {
    char letter;
    const char* rows;  // seven of five dots, the leftmost the highest bit, each written as a digit of base 32
};
constexpr Glyph glyphs[] = {
    {'0', "ehjlphe"}, {'1', "4c4444e"}, {'2', "eh1248v"}, {'3', "v2421he"}, {'4', "26aiv22"}, {'5', "vgu11he"},
    {'6', "68guhhe"}, {'7', "v124888"}, {'8', "ehhehhe"}, {'9', "ehhf12c"}, {'a', "00e1fhf"}, {'b', "ggmphhu"},
    {'c', "00egghe"}, {'d', "11djhhf"}, {'e', "00ehvge"}, {'f', "698s888"}, {'g', "0fhhf1e"}, {'h', "ggmphhh"},
    {'i', "40c444e"}, {'j', "20622ic"}, {'k', "ggikoki"}, {'l', "c44444e"}, {'m', "00qllhh"}, {'n', "00mphhh"},
    {'o', "00ehhhe"}, {'p', "00uhugg"}, {'q', "00djf11"}, {'r', "00mpggg"}, {'s', "00ege1u"}, {'t', "88s8896"},
    {'u', "00hhhjd"}, {'v', "00hhha4"}, {'w', "00hhlla"}, {'x', "00ha4ah"}, {'y', "00hhf1e"}, {'z', "00v248v"},
    {'.', "00000cc"}, {'-', "000v000"}, {'_', "000000v"}, {'%', "op248j3"}, {'+', "044v440"}, {'/', "01248g0"},
    {',', "0000c48"}, {':', "0cc0cc0"}, {'(', "2488842"}, {')', "8422248"}, {' ', "0000000"}};

struct Ink {
    int red = 0, green = 0, blue = 0;
    explicit Ink(const char* hex) {
        auto value = std::stoul(hex + 1, nullptr, 16);
        red = static_cast<int>(value >> 16 & 255), green = static_cast<int>(value >> 8 & 255);
        blue = static_cast<int>(value & 255);
    }
};

/// A picture that is drawn on in points.
class Canvas {
  public:
    Canvas(double width, double height)
        : picture_(
              Picture::blank(static_cast<std::int64_t>(width * scale), static_cast<std::int64_t>(height * scale))) {
        std::fill(picture_.rgba.begin(), picture_.rgba.end(), std::uint8_t{255});
    }
    Picture take() { return std::move(picture_); }

    /// Covered by how near its middle is to the line.
    void line(double x1, double y1, double x2, double y2, double wide, const Ink& ink) {
        x1 *= scale, y1 *= scale, x2 *= scale, y2 *= scale;
        double half = wide * scale / 2, dx = x2 - x1, dy = y2 - y1, length = dx * dx + dy * dy;
        for (auto y = whole(std::min(y1, y2) - half - 1); y <= whole(std::max(y1, y2) + half + 1); ++y) {
            for (auto x = whole(std::min(x1, x2) - half - 1); x <= whole(std::max(x1, x2) + half + 1); ++x) {
                double px = static_cast<double>(x) + 0.5 - x1, py = static_cast<double>(y) + 0.5 - y1;
                double t = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0, 1.0) : 0;
                mix(x, y, std::clamp(half + 0.5 - std::hypot(px - t * dx, py - t * dy), 0.0, 1.0), ink);
            }
        }
    }

    /// Its lower left corner; a letter is 6 points wide.
    void words(double x, double y, const std::string& text, const Ink& ink) {
        for (char letter : text) {
            char small = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
            auto known =
                std::find_if(std::begin(glyphs), std::end(glyphs), [&](const Glyph& g) { return g.letter == small; });
            const char* rows = known == std::end(glyphs) ? "vhhhhhv" : known->rows;
            for (int row = 0; row < 7; ++row) {
                int dots = rows[row] <= '9' ? rows[row] - '0' : rows[row] - 'a' + 10;
                for (int column = 0; column < 5; ++column)
                    if (dots >> (4 - column) & 1) dot(x + column, y - 7 + row, ink);
            }
            x += 6;
        }
    }

  private:
    static std::int64_t whole(double value) { return static_cast<std::int64_t>(std::floor(value)); }
    void dot(double x, double y, const Ink& ink) {
        for (int i = 0; i < static_cast<int>(scale * scale); ++i)
            mix(whole(x * scale) + i % static_cast<int>(scale), whole(y * scale) + i / static_cast<int>(scale), 1, ink);
    }
    void mix(std::int64_t x, std::int64_t y, double share, const Ink& ink) {
        if (x < 0 || y < 0 || x >= picture_.width || y >= picture_.height) return;
        std::uint8_t* pixel = picture_.rgba.data() + 4 * (y * picture_.width + x);
        int parts[] = {ink.red, ink.green, ink.blue};
        for (int i = 0; i < 3; ++i)
            pixel[i] = static_cast<std::uint8_t>(std::lround(pixel[i] + share * (parts[i] - pixel[i])));
    }
    Picture picture_;
};

void draw_axes(Canvas& canvas, const Chart& chart, const Frame& frame, double down) {
    const Ink faint("#dddddd"), dark("#444444");
    double end = Frame::width - Frame::right, base = down + Frame::height - Frame::bottom;
    for (double mark : marks_of(chart, frame)) {
        double y = down + frame.y(mark);
        canvas.line(Frame::left, y, end, y, 0.5, faint);
        std::string number = shown(mark, chart.percent);
        canvas.words(Frame::left - 6 - 6 * static_cast<double>(number.size()), y + 3, number, dark);
    }
    for (const auto& [mark, words] : marks_below(chart, frame))
        canvas.words(frame.x(mark) - 3 * static_cast<double>(words.size()), base + 16, words, dark);
    canvas.line(Frame::left, base, end, base, 0.75, dark);
    canvas.words((Frame::left + end) / 2 - 3 * static_cast<double>(chart.x_name.size()), base + 32, chart.x_name, dark);
}

void draw_curve(Canvas& canvas, const Curve& curve, bool points, const Frame& frame, double down, const Ink& ink) {
    bool drawing = false;
    double x = 0, y = 0;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        bool good = drawable(curve.y[i], frame.logarithmic);
        double next_x = good ? frame.x(curve.x[i]) : 0, next_y = good ? down + frame.y(curve.y[i]) : 0;
        if (good && drawing && !points) canvas.line(x, y, next_x, next_y, 2, ink);
        if (good && (points || curve.x.size() == 1)) canvas.line(next_x, next_y, next_x, next_y, 6, ink);
        x = next_x, y = next_y, drawing = good;
    }
}

/// How many lines the names of curves take, and where each stands.
std::vector<std::pair<double, int>> places_of_names(const Chart& chart) {
    std::vector<std::pair<double, int>> places;
    double x = Frame::left;
    int row = 0;
    for (const Curve& curve : chart.curves) {
        double wide = 34 + 6 * static_cast<double>(curve.name.size());
        if (x > Frame::left && x + wide > Frame::width) x = Frame::left, ++row;
        places.emplace_back(x, row);
        x += wide;
    }
    return places;
}

double height_of_head(const Chart& chart) {
    return head + 14 * (chart.curves.empty() ? 0 : places_of_names(chart).back().second);
}

}  // namespace

Picture plotted(const std::vector<Chart>& charts) {
    double height = 0;
    for (const Chart& chart : charts) height += height_of_head(chart) + Frame::height + 12;
    Canvas canvas(Frame::width, height);
    double down = 0;
    for (const Chart& chart : charts) {
        canvas.words(Frame::left, down + 18, chart.title, Ink("#111111"));
        Frame frame = frame_of(chart);
        std::vector<std::pair<double, int>> names = places_of_names(chart);
        double body = down + height_of_head(chart);
        draw_axes(canvas, chart, frame, body);
        for (std::size_t i = 0; i < chart.curves.size(); ++i) {
            Ink ink(colours[i % colours.size()]);
            double x = names[i].first, y = down + 36 + 14 * names[i].second;
            canvas.line(x, y - 3, x + 16, y - 3, 2, ink);
            canvas.words(x + 22, y, chart.curves[i].name, Ink("#444444"));
            draw_curve(canvas, chart.curves[i], chart.points, frame, body, ink);
        }
        down = body + Frame::height + 12;
    }
    return canvas.take();
}

}  // namespace weft::viz
