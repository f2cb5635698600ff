#include "weft/viz/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "weft/base/error.h"

namespace weft::viz {
namespace {

TEST(Picture, base64_is_that_of_rfc_4648) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Picture, the_checksum_of_an_empty_last_chunk_is_the_published_one) {
    std::string file = png(Picture::blank(1, 1));
    EXPECT_EQ(file.substr(file.size() - 4), "\xae\x42\x60\x82");  // of every PNG's IEND
}

TEST(Picture, numbers_that_do_not_fill_it_are_refused) {
    std::vector<float> values(5);
    EXPECT_THROW(grey(values, 2, 2, 0, 1), ShapeError);
}

TEST(Chart, marks_are_round_numbers) {
    EXPECT_EQ(round_numbers(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(round_numbers(0.5, 0.5, 5), (std::vector<double>{0.5}));
    // Of 150 to 220 only 200 is one of 1, 2, 5 times a power of ten.
    Chart chart{"Loss", "epoch", "", {{"train.loss", {1, 2}, {150, 220}}}, true};
    std::string picture = svg(chart);
    for (const char* mark : {">150<", ">200<", ">250<"}) EXPECT_NE(picture.find(mark), picture.npos) << picture;
}

TEST(Chart, places_that_are_no_numbers_are_called_by_their_names_which_fit) {
    Chart chart{"layer", "layer", "", {{"error", {0, 2, 1}, {3, 1, 2}}}, false, false, true, {"relu", "<tanh>", ""}};
    std::string& last = chart.places[2];
    last.assign(99, 'x');
    last += "end";
    std::string picture = svg(chart);
    for (const char* name : {">relu</text>", ">&lt;tanh&gt;</text>", "xx..</text>", "&quot;relu&quot;"})
        EXPECT_NE(picture.find(name), picture.npos) << name;
    EXPECT_EQ(picture.find("end</text>"), picture.npos);
    EXPECT_EQ(picture.find(">0.2</text>"), picture.npos);
    EXPECT_NE(picture.find("xend&quot;"), picture.npos);  // under the pointer in full
}

TEST(Chart, curves_without_points_and_with_nan_are_drawn_without_nan) {
    for (bool logarithmic : {false, true}) {
        std::string out =
            svg({"loss", "epoch", "", {{"a", {}, {}}, {"b", {1, 2, 3}, {NAN, 0, INFINITY}}}, logarithmic});
        EXPECT_EQ(out.find("nan"), out.npos) << out;
        EXPECT_EQ(out.find("inf"), out.npos) << out;
    }
}

Report made_up() {
    Report report;
    report.title = "digits <&>";
    report.subtitle = "a made-up run";
    report.figures = {{"test error", "1.42%"}, {"parameters", "669,706"}, {"time", "38 s"}, {"examples/s", "31,200"}};
    Curve loss{"train.loss", {}, {}}, valid{"valid.loss", {}, {}}, error{"valid.error", {}, {}};
    for (int epoch = 1; epoch <= 12; ++epoch) {
        for (Curve* curve : {&loss, &valid, &error}) curve->x.push_back(epoch);
        loss.y.push_back(0.9 * std::exp(-0.4 * epoch));
        valid.y.push_back(0.9 * std::exp(-0.4 * epoch) + 0.05);
        error.y.push_back(0.3 * std::exp(-0.4 * epoch) + 0.014);
    }
    report.charts = {{"Loss", "epoch", "", {loss, valid}, true, false}, {"Error", "epoch", "", {error}, false, true}};
    report.layers = {
        {"layer", "gives", "parameters"}, {"linear", "(batch, 500)", "392,500"}, {"relu", "(batch, 500)", ""}};
    std::vector<float> values(28 * 28);
    for (int unit = 0; unit < 64; ++unit) {
        for (int i = 0; i < 28 * 28; ++i)
            values[i] = std::sin(0.02f * i * (unit % 7 + 1)) * std::cos(0.3f * (i % 28) * (unit % 5));
        report.weights.push_back(signed_values(values, 28, 28, 1));
        Example example{grey(values, 28, 28, -1, 1), std::to_string(unit % 10),
                        std::to_string(unit % 3 ? unit % 10 : 7), 0.93, unit};
        if (unit < 30) (example.truth == example.predicted ? report.right : report.wrong).push_back(example);
    }
    report.reconstructions.assign(14, {grey(values, 28, 28, -1, 1), grey(values, 28, 28, -2, 2)});
    report.samples.assign(5, grey(values, 28, 28, -1, 1));
    report.embedding = {{0, 1, 2, NAN}, {0, 1, 0, 0}, {0, 1, 1, 1}, {"one <1>", "two"}};
    report.weights_name = "0.weight of linear (784 to 500)";
    report.wrong_total = 28, report.examples_total = 2000;
    for (int k = 0; k < 10; ++k) report.confusion.classes.push_back(std::to_string(k));
    for (int i = 0; i < 100; ++i)
        report.confusion.counts.push_back(i % 11 == 0 ? 190 + i / 11 : i % 7 == 3 ? i % 5 : 0);
    report.seconds = {{"training steps", 30.2}, {"evaluation", 3.1}, {"waiting for data", 0.4}, {"checkpoints", 0.9}};
    report.configuration = "{\n  \"batch_size\": 100\n}";
    report.environment = {{"weft", "0.1.0"}, {"processor", "made up"}};
    return report;
}

TEST(Report, is_one_page_that_asks_the_network_for_nothing) {
    std::string page = html(made_up());
    EXPECT_EQ(page.find("http"), page.npos);
    EXPECT_EQ(page.find("//"), page.find("//"));
    EXPECT_NE(page.find("digits &lt;&amp;&gt;"), page.npos);
    for (const char* part :
         {"Learning", "Examples", "Confusion", "First layer", "Where the time went", "Configuration", "Environment"}) {
        EXPECT_NE(page.find(text("<h2>", part)), page.npos) << part;
    }
    for (const char* part : {"Reconstructions", "Samples", "Where it puts examples", "one &lt;1&gt;</text>"})
        EXPECT_NE(page.find(part), page.npos) << part;
    EXPECT_EQ(page.find("'nan'"), page.npos);
    if (const char* path = std::getenv("WEFT_TEST_REPORT")) std::ofstream(path) << page;
}

TEST(Report, of_nothing_is_still_a_page) { EXPECT_NE(html(Report{}).find("</html>"), std::string::npos); }

}  // namespace
}  // namespace weft::viz
