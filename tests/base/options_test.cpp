#include "weft/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weft/base/error.h"

namespace weft {
namespace {

const std::vector<Option> options{{"split", "train", "which", false, Json::Kind::string, {"train", "test"}},
                                  {"size", 10, "how many"},
                                  {"rate", 0.5, "how fast"},
                                  {"path", Json(), "the file", true, Json::Kind::string}};

std::string error_of(const char* given) {
    try {
        (void)complete(parse_json(given, "f"), options, "thing");
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Options, what_is_left_out_takes_its_fallback) {
    Json all = complete(parse_json(R"({"path": "a", "rate": 2})"), options, "thing");
    EXPECT_EQ(json_text(all), R"({"split": "train", "size": 10, "rate": 2, "path": "a"})");
}

TEST(Options, mistakes_are_named_with_their_place) {
    EXPECT_EQ(error_of(R"({"path": "a", "sise": 3})"), "f:1:15: unknown key 'sise' in thing; did you mean 'size'?");
    EXPECT_EQ(error_of(R"({"path": "a", "size": 1.5})"),
              "f:1:23: expected an integer, found the number 1.5 (thing, 'size': how many)");
    EXPECT_EQ(error_of("{}"), "f:1:1: thing needs the key 'path' (the file)");
    EXPECT_THAT(error_of(R"({"path": "a", "split": "trian"})"),
                testing::HasSubstr("f:1:24: 'trian' is not known; did you mean 'train'?"));
}

TEST(Options, help_names_ranges_of_numbers_alone_and_no_infinite_ones) {
    std::vector<Option> all(5);
    all[0] = {"nesterov", false, "so"}, all[0].least = 0;
    all[1] = {"groups", Json::array(), "so"}, all[1].least = 0;
    all[2] = {"start", 0.5, "so"}, all[2].least = -1e308;
    all[3] = {"units", 3, "so"}, all[3].least = 1, all[3].most = 9;
    all[4] = {"every", "epoch", "so", false, Json::Kind::null, {"epoch", "step"}}, all[4].least = 1,
    all[4].several = true;
    std::string help = help_on(all);
    for (const char* part : {"(true or false; default", "(list; default", "(number; default",
                             "(integer 1 to 9; default", "(integer >= 1, epoch or step; default"})
        EXPECT_THAT(help, testing::HasSubstr(part));
}

}  // namespace
}  // namespace weft
