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

}  // namespace
}  // namespace weft
