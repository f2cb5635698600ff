// Pictures in a report are of data as they were before `prepare:`, in their colours; what is no picture is said to be none.
#include <gtest/gtest.h>

#include <regex>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/look/originals.h"

namespace weft {
namespace {

class ReportPictures : public testing::Test {
  protected:
    /// Two classes of four pictures of 12 x 12, red and green squares on blue ground.
    void SetUp() override {
        for (int klass : {0, 1}) {
            std::filesystem::create_directories(folder_ / text("pictures/", klass));
            for (int i = 0; i < 4; ++i) {
                std::vector<float> planes(3 * 144);
                std::fill(planes.begin() + 288, planes.end(), 0.8f);
                for (int at : {0, 1, 2, 12, 13, 14}) planes[klass * 144 + 26 + i + at] = 1;
                put_file(folder_ / text("pictures/", klass, "/", i, ".png"),
                         viz::png(viz::colour(planes, 12, 12, 0, 1)));
            }
        }
    }
    /// The page, of a run of one epoch.
    std::string report(const std::string& data, const std::string& prepare, const std::string& model,
                       const std::string& cost) {
        put_file(folder_ / "e.json", R"({"data": {"train": )" + data + R"(, "prepare": )" + prepare +
                                         R"(}, "model": )" + model + R"(, "cost": )" + cost +
                                         R"(, "optimizer": {"sgd": {"lr": 0.001}}, "stop_when": {"epochs": 1}})");
        std::filesystem::remove_all(folder_ / "r");
        Ended ended = run(folder_.folder(), {"train", "e.json", "--out", "r", "--quiet"});
        EXPECT_EQ(ended.status, 0) << ended.output;
        return contents(folder_ / "r/report.html");
    }
    /// The first example, as it stands in the data, and as the report is to draw it.
    std::pair<Array, look::Pictured> first() {
        std::filesystem::path here = std::filesystem::current_path();
        std::filesystem::current_path(folder_.folder());
        train::Run opened = train::Run::open("r");
        data::Dataset raw = opened.kept_phase().set("train")->load().rows(0, 1), set = opened.prepared("train");
        look::Pictured drawn = look::Originals(opened, set.example(), set.x_name).pictured(set.rows(0, 1).inputs());
        std::filesystem::current_path(here);
        return {raw.inputs(), drawn};
    }
    /// That the page shows the first example, and that this is as it stands in the data, `within` so much of each number.
    void expect_shown(const std::string& page, double within) {
        auto [raw, drawn] = first();
        ASSERT_EQ(drawn.rows.size(), raw.size());
        raw = contiguous(raw);
        double scale = 0, most = 0;
        for (std::int64_t i = 0; i < raw.size(); ++i) scale = std::max<double>(scale, raw.data<float>()[i]);
        for (std::int64_t i = 0; i < raw.size(); ++i)
            most = std::max<double>(most, std::abs(raw.data<float>()[i] - drawn.row(0)[i]));
        EXPECT_LE(most, within * scale);
        auto [low, high] = std::minmax_element(drawn.row(0), drawn.row(1));
        EXPECT_NE(page.find(viz::data_address(look::draw(drawn.row(0), drawn.shape, *low, *high))), page.npos);
    }
    Scratch folder_;
    const std::string images_ = R"({"images": {"path": "pictures", "size": [12, 12]}})";
};

std::string scores(int classes) { return text(R"([{"linear": )", classes, "}]"); }

TEST_F(ReportPictures, examples_are_drawn_as_they_were_before_they_were_prepared) {
    expect_shown(report(images_, R"([{"scale": [0, 1]}, "yuv", "flatten"])", scores(2), R"("cross_entropy")"), 1e-5);
    const char* digits = R"({"digits": {"size": 30}})";
    expect_shown(
        report(digits, R"(["flatten", "standardize", {"zca": {"bias": 0.1}}])", scores(10), R"("cross_entropy")"),
        1e-2);
    // Of 20 components of 30 examples, a picture that is blurred.
    expect_shown(report(digits, R"(["flatten", {"pca": {"components": 20}}])", scores(10), R"("cross_entropy")"), 1);
}

TEST_F(ReportPictures, of_a_model_that_makes_examples_are_in_colours_and_of_any_number_of_components) {
    const char* cost = R"({"mse": {"target": "input"}})";
    auto model = [](int units) {
        return text(R"([{"linear": 20}, "relu", {"variational": 4}, {"linear": )", units, "}]");
    };
    std::string colours = report(images_, R"([{"scale": [0, 1]}, "flatten"])", model(432), cost);
    std::string components = report(R"({"digits": {"size": 60}})",
                                    R"([{"scale": [0, 1]}, "flatten", {"pca": {"components": 40}}])", model(40), cost);
    for (const std::string& page : {colours, components}) {
        for (const char* part : {"<h2>Reconstructions", "<h2>Samples", "<h2>First layer"})
            EXPECT_NE(page.find(part), page.npos) << part;
        EXPECT_EQ(page.find("<h2>Not drawn"), page.npos);
    }
    EXPECT_NE(colours.find("of each colour, brighter than grey adds"), colours.npos);
    EXPECT_NE(components.find("blue adds"), components.npos);
}

TEST_F(ReportPictures, what_is_no_picture_is_said_to_be_none_and_why) {
    std::string page = report(images_, R"([{"scale": [0, 1]}, "gcn", "flatten"])",
                              R"([{"variational": 4}, {"linear": 432}])", R"({"mse": {"target": "input"}})");
    EXPECT_NE(page.find("<h2>Not drawn"), page.npos);
    for (const char* part : {"reconstructions: ", "samples: ", "weights: "}) {
        std::string line = text("<em>", part,
                                "examples of shape (432,) are no pictures, and what they were made of cannot be told: "
                                "prepare: step 1, &#39;gcn&#39;");
        EXPECT_NE(page.find(line), page.npos) << line;
    }
}

TEST_F(ReportPictures, the_curve_of_errors_has_the_epochs_that_made_none) {
    report(images_, R"([{"scale": [0, 1]}, "flatten"])", scores(2), R"("cross_entropy")");
    std::string line = contents(folder_ / "r/log.jsonl"), log;
    line.resize(line.find('\n'));
    for (const char* error : {"0.5", "0.0", "0.25"}) {
        log += std::regex_replace(line, std::regex("\"train.error\": [0-9.e-]+"), text("\"train.error\": ", error));
        log += "\n";
    }
    put_file(folder_ / "r/log.jsonl", log);
    ASSERT_EQ(run(folder_.folder(), {"show", "r"}).status, 0);
    std::string page = contents(folder_ / "r/report.html");
    for (const char* point : {"&quot;50%&quot;", "&quot;0%&quot;", "&quot;25%&quot;"})
        EXPECT_NE(page.find(point), page.npos) << point;
}

}  // namespace
}  // namespace weft
