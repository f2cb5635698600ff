// A report on a run: one HTML file that needs no network, readable on light and on dark ground. A Report is plain values that
// somebody else gathered; this floor only draws them. Caller: cli/show.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/viz/chart.h"
#include "weft/viz/picture.h"
#include "weft/viz/scatter.h"

namespace weft::viz {

struct Example {
    Picture picture;
    std::string truth, predicted;
    double confidence = 0;   // of the prediction, 0 .. 1
    std::int64_t index = 0;  // in its data set
};

struct Confusion {
    std::vector<std::string> classes;
    std::vector<std::int64_t> counts;  // row: the true class; column: the predicted one
};

struct Report {
    std::string title, subtitle;
    std::vector<std::string> lacking;                          // what could not be shown, or went wrong: a line each
    std::vector<std::pair<std::string, std::string>> figures;  // what matters most: "test error", "1.42%"
    std::vector<Chart> charts;
    std::vector<std::vector<std::string>> layers;  // a table, its first row the names of the columns
    std::string weights_name;
    std::vector<Picture> weights;                              // of the first layer, a picture a unit
    std::vector<std::pair<Picture, Picture>> reconstructions;  // what was wanted, what the model gave
    std::vector<Picture> samples;                              // that it makes up
    std::string written;                                       // what a model of texts goes on with
    std::string embedding_name;
    Scatter embedding;  // where it puts examples; without points: none is shown
    std::vector<Example> wrong, right;
    std::int64_t wrong_total = 0, examples_total = 0;
    Confusion confusion;                                  // without classes: none is shown
    std::vector<std::pair<std::string, double>> seconds;  // where the time went
    std::string configuration;
    std::vector<std::pair<std::string, std::string>> environment;
};

std::string html(const Report& report);
/// A page of charts alone. `live`: it asks its server again for what is between the heads, every two seconds.
std::string charts_page(const std::string& title, const std::string& content, bool live);
/// Charts as they stand in such a page.
std::string charts_html(const std::vector<Chart>& charts);

}  // namespace weft::viz
