// How people write the ten digits: for each, several ways, each a few strokes through a few points.
// Caller: data/digits.cpp.
#pragma once

#include <span>
#include <vector>

namespace weft::data {

/// In hundredths of a box as high as it is wide: x to the right, y down.
struct StrokePoint {
    double x, y;
};

/// A smooth curve through the points; the pen turns sharply where a point stands twice.
using Stroke = std::vector<StrokePoint>;

struct WritingWay {
    double share;  // how many write so, relative to the other ways
    std::vector<Stroke> strokes;
};

/// The ways in which digit 0 .. 9 is written.
std::span<const WritingWay> ways_to_write(int digit);

}  // namespace weft::data
