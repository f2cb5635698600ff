#include "weft/data/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "weft/data/counter_random.h"
#include "weft/data/digit_strokes.h"

namespace weft::data {
namespace {

using Points = std::vector<StrokePoint>;

/// How one picture is written: all that differs between two pictures of one way to write a digit, but for the points'
/// jitter.
struct Hand {
    double jitter, bend[6], width, height, slant, turn, shift_x, shift_y, radius, edge, ink, grain;
    int specks;

    explicit Hand(CounterRandom& random) {
        jitter = random.uniform(0.01, 0.034);
        for (double& b : bend) b = 0.11 * random.bell();
        height = random.uniform(17.0, 21.5);
        width = height * random.uniform(0.55, 0.92);
        slant = 0.12 + 0.18 * random.bell();
        turn = 0.05 * random.bell();  // the tangent of half the angle
        shift_x = 0.8 * random.bell();
        shift_y = 0.8 * random.bell();
        radius = random.uniform(0.75, 1.9);
        edge = random.uniform(0.55, 1.2);
        ink = random.uniform(0.72, 1.0);
        grain = random.uniform(0, 0.07);
        specks = random.uniform() < 0.1 ? static_cast<int>(random.below(4)) : 0;
    }

    /// From the box -0.5 .. 0.5 to pixels around (0, 0): bent, scaled, slanted, turned.
    StrokePoint place(StrokePoint p) const {
        double u = p.x, v = p.y;
        double x = (u + bend[0] * u * v + bend[1] * u * u + bend[2] * v * v) * width;
        double y = (v + bend[3] * u * v + bend[4] * u * u + bend[5] * v * v) * height;
        x -= slant * y;
        double norm = 1 + turn * turn, cosine = (1 - turn * turn) / norm, sine = 2 * turn / norm;
        return {cosine * x - sine * y, sine * x + cosine * y};
    }
};

const WritingWay& choose_way(int digit, CounterRandom& random) {
    std::span<const WritingWay> ways = ways_to_write(digit);
    double total = 0;
    for (const WritingWay& way : ways) total += way.share;
    double left = random.uniform() * total;
    for (const WritingWay& way : ways) {
        if ((left -= way.share) < 0) return way;
    }
    return ways.back();
}

/// The Catmull-Rom spline through points a, b, c, d between b and c.
double spline(double a, double b, double c, double d, double t) {
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

/// Appends the smooth curve through `through` as short lines.
void trace(const Points& through, Points& line) {
    constexpr int steps = 7;
    auto at = [&](std::size_t i) { return through[std::min(i, through.size() - 1)]; };
    line.push_back(through[0]);
    for (std::size_t i = 0; i + 1 < through.size(); ++i) {
        StrokePoint a = at(i == 0 ? 0 : i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
        for (int step = 1; step <= steps; ++step) {
            double t = static_cast<double>(step) / steps;
            line.push_back({spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)});
        }
    }
}

/// The pen's path in pixels: each stroke's points moved a little, then joined by curves between corners.
Points pen_path(const Stroke& stroke, const Hand& hand, CounterRandom& random) {
    Points line, through;
    for (std::size_t i = 0; i < stroke.size(); ++i) {
        bool corner = i > 0 && stroke[i].x == stroke[i - 1].x && stroke[i].y == stroke[i - 1].y;
        if (corner) {
            trace(through, line);
            through = {through.back()};
            continue;
        }
        double dx = hand.jitter * random.bell(), dy = hand.jitter * random.bell();
        through.push_back(hand.place({stroke[i].x / 100 - 0.5 + dx, stroke[i].y / 100 - 0.5 + dy}));
    }
    trace(through, line);
    return line;
}

/// Moves the paths' bounding box to the picture's centre and the hand's shift, and keeps it inside the picture.
void center(std::vector<Points>& paths, const Hand& hand) {
    double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
    for (const Points& path : paths) {
        for (StrokePoint p : path) {
            left = std::min(left, p.x), right = std::max(right, p.x);
            top = std::min(top, p.y), bottom = std::max(bottom, p.y);
        }
    }
    double middle = digit_side / 2.0, room = digit_side - 2 * (hand.radius + 1);
    double scale = std::min(1.0, room / std::max({right - left, bottom - top, 1.0}));
    auto slack = [&](double extent) { return (room - scale * extent) / 2; };
    double x = middle + std::clamp(hand.shift_x, -slack(right - left), slack(right - left));
    double y = middle + std::clamp(hand.shift_y, -slack(bottom - top), slack(bottom - top));
    for (Points& path : paths) {
        for (StrokePoint& p : path)
            p = {x + scale * (p.x - (left + right) / 2), y + scale * (p.y - (top + bottom) / 2)};
    }
}

using Canvas = std::array<double, digit_side * digit_side>;

/// Squared distance of p from the line a-b.
double distance2(StrokePoint p, StrokePoint a, StrokePoint b) {
    double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    double along = length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
    double ex = p.x - a.x - along * dx, ey = p.y - a.y - along * dy;
    return ex * ex + ey * ey;
}

/// Lowers each pixel's squared distance from the pen's path, where the path is near.
void near_line(Canvas& nearest, StrokePoint a, StrokePoint b, double reach) {
    auto first = [&](double at) { return std::max(0, static_cast<int>(std::floor(at - reach))); };
    auto last = [&](double at) { return std::min(digit_side - 1, static_cast<int>(std::floor(at + reach))); };
    for (int y = first(std::min(a.y, b.y)); y <= last(std::max(a.y, b.y)); ++y) {
        for (int x = first(std::min(a.x, b.x)); x <= last(std::max(a.x, b.x)); ++x) {
            double& best = nearest[static_cast<std::size_t>(y * digit_side + x)];
            best = std::min(best, distance2({x + 0.5, y + 0.5}, a, b));
        }
    }
}

/// Grey values 0 .. 1: full inside the pen's width, falling off smoothly over its edge; then grain and specks.
void ink(const Canvas& nearest, const Hand& hand, CounterRandom& random, std::span<std::uint8_t> pixels) {
    double specks[4][2];
    for (int i = 0; i < hand.specks; ++i) {
        for (double& at : specks[i]) at = random.uniform(0, digit_side);
    }
    for (std::size_t i = 0; i < nearest.size(); ++i) {
        double inside = std::clamp(0.5 + (hand.radius - std::sqrt(nearest[i])) / (2 * hand.edge), 0.0, 1.0);
        double value = hand.ink * inside * inside * (3 - 2 * inside);
        for (int s = 0; s < hand.specks; ++s) {
            double dx = static_cast<double>(i % digit_side) + 0.5 - specks[s][0];
            double dy = static_cast<double>(i / digit_side) + 0.5 - specks[s][1];
            value = std::max(value, std::clamp(0.6 - 0.5 * (dx * dx + dy * dy), 0.0, 1.0));
        }
        value += hand.grain * (random.uniform() - 0.5) * (0.3 + value);
        pixels[i] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 1.0) * 255 + 0.5);
    }
}

}  // namespace

int draw_digit(std::uint64_t seed, Split split, std::uint64_t index, std::span<std::uint8_t> pixels) {
    promise(pixels.size() == digit_side * digit_side, "draw_digit draws 28 x 28 pixels");
    CounterRandom random(seed, static_cast<std::uint64_t>(split) << 56 ^ index);
    int digit = static_cast<int>(random.below(10));
    const WritingWay& way = choose_way(digit, random);
    Hand hand(random);
    std::vector<Points> paths;
    for (const Stroke& stroke : way.strokes) paths.push_back(pen_path(stroke, hand, random));
    center(paths, hand);
    Canvas nearest;
    nearest.fill(1e9);
    for (const Points& path : paths) {
        for (std::size_t i = 0; i + 1 < path.size(); ++i)
            near_line(nearest, path[i], path[i + 1], hand.radius + hand.edge + 1);
    }
    ink(nearest, hand, random, pixels);
    return digit;
}

Dataset digits_split(Split split, std::int64_t size, std::uint64_t seed) {
    if (size < 0) throw ValueError(text("digits: the number of pictures cannot be ", size));
    constexpr std::size_t area = digit_side * digit_side;
    Dataset set;
    set.x = Array::empty(uint8, {size, digit_side, digit_side});
    set.y = Array::empty(int64, {size});
    auto* pixels = set.x.data<std::uint8_t>();
    auto* labels = set.y.data<std::int64_t>();
    for (std::int64_t i = 0; i < size; ++i) {
        auto index = static_cast<std::size_t>(i);
        labels[i] = draw_digit(seed, split, index, {pixels + index * area, area});
    }
    set.affine = Affine{};
    set.range = {0, 255};
    for (int digit = 0; digit < 10; ++digit) set.classes.push_back(std::to_string(digit));
    return set;
}

DataSplits digits(const DigitsOptions& options) {
    auto make = [&](Split split, std::int64_t size) {
        return pictures(digits_split(split, size, options.seed), options.flat, options.scaled);
    };
    return {make(Split::train, options.train), make(Split::valid, options.valid), make(Split::test, options.test)};
}

}  // namespace weft::data
