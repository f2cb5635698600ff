// Points in the plane, coloured by class, each class's name at the middle of its points: a piece of a page. Caller: viz/report.cpp.
#pragma once

#include <string>
#include <vector>

namespace weft::viz {

struct Scatter {
    std::vector<double> x, y;          // as many; points that are not finite are left out
    std::vector<std::size_t> classes;  // of each point, an index into names
    std::vector<std::string> names;
};

std::string svg(const Scatter& scatter);

}  // namespace weft::viz
