// A chart of curves as SVG for a page: axes with round numbers, a legend, one colour a curve (the page's style sheet names them
// c0, c1, ...), and the numbers themselves for the page's script to show under the pointer. Caller: viz/report.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::viz {

struct Curve {
    std::string name;
    std::vector<double> x, y;  // as many; a y that is not finite leaves a gap
};

struct Chart {
    std::string title, x_name, y_name;
    std::vector<Curve> curves;
    bool logarithmic = false;              // the y axis; what is not positive is left out
    bool percent = false;                  // y as percent
    bool points = false;                   // dots that nothing joins
    std::vector<std::string> places = {};  // what 0, 1, 2, ... of the x axis stand for, where they are no numbers
};

/// Text as it stands in HTML, between tags or in quotes.
std::string escaped(std::string_view text);
/// A number for people: four significant digits, or as percent.
std::string shown(double value, bool percent = false);
std::string svg(const Chart& chart);
/// Charts below each other, a file of its own: nothing in it refers to a style sheet or to another file.
std::string svg_file(const std::vector<Chart>& charts);

/// Round numbers from low to high, about `count` of them: multiples of 1, 2 or 5 times a power of ten.
std::vector<double> round_numbers(double low, double high, int count);

}  // namespace weft::viz
