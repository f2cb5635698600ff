#include "weft/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "weft/base/error.h"

namespace weft {
namespace {

std::string error_of(std::string_view text) {
    try {
        (void)parse_json(text, "f.json");
    } catch (const FileError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Json, reads_every_kind_and_writes_it_back) {
    std::string line =
        R"({"epoch": 3, "loss": 0.5, "done": false, "best": null, "names": ["a", "b\n\"c\""], "inner": {}})";
    Json value = parse_json(line);
    EXPECT_EQ(value.at("epoch").as_integer(), 3);
    EXPECT_EQ(value.at("loss").as_number(), 0.5);
    EXPECT_FALSE(value.at("done").as_bool());
    EXPECT_TRUE(value.at("best").is_null());
    EXPECT_EQ(value.at("names").item(1).as_string(), "b\n\"c\"");
    EXPECT_EQ(json_text(value), line);
    EXPECT_EQ(parse_json(json_text(value, 2)), value);
}

TEST(Json, numbers_come_back_with_the_same_bits_and_kind) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        std::uint64_t bits = random();
        double number = 0;
        std::memcpy(&number, &bits, 8);
        if (!std::isfinite(number)) continue;
        Json back = parse_json(json_text(Json(number)));
        ASSERT_EQ(back.kind(), Json::Kind::number) << json_text(Json(number));
        double again = back.as_number();
        ASSERT_EQ(std::memcmp(&again, &number, 8), 0) << json_text(Json(number));
    }
    for (double number : {0.0, -0.0, 1.0, 1e22, 5e-324, std::numeric_limits<double>::max()}) {
        double again = parse_json(json_text(Json(number))).as_number();
        EXPECT_EQ(std::memcmp(&again, &number, 8), 0);
    }
    EXPECT_EQ(parse_json("9223372036854775807").as_integer(), INT64_MAX);
    EXPECT_EQ(parse_json("-9223372036854775808").as_integer(), INT64_MIN);
    EXPECT_EQ(parse_json("9223372036854775808").kind(), Json::Kind::number);
    EXPECT_EQ(json_text(Json(INFINITY)), "\"Infinity\"");
    EXPECT_EQ(parse_json(json_text(Json(-INFINITY))).as_number(), -INFINITY);
    EXPECT_TRUE(std::isnan(parse_json(json_text(Json(NAN))).as_number()));
}

TEST(Json, strings_are_utf8) {
    EXPECT_EQ(parse_json(R"("\u00e4\u20ac\ud83d\ude00")").as_string(), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    EXPECT_EQ(json_text(Json(std::string("\x01\x7f\xff|", 4))), "\"\\u0001\\u007f\xef\xbf\xbd|\"");
    for (const char* bad : {"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", R"("\ud800")",
                            R"("\udc00")", R"("\u12g4")", R"("\x")", "\"\n\"", "\"abc"}) {
        EXPECT_THROW((void)parse_json(bad), FileError) << bad;
    }
}

TEST(Json, refuses_with_line_and_column) {
    EXPECT_EQ(error_of("{\"a\": 1,\n \"b\" 2}"), "f.json:2:6: expected ':' after the key 'b', found '2'");
    EXPECT_EQ(error_of("[1, 2"), "f.json:1:6: expected ',' or ']', found the end of the text");
    EXPECT_EQ(error_of("[1, 2,]"), "f.json:1:7: expected a value, found ']'");
    EXPECT_EQ(error_of("{\"a\": 1, \"a\": 2}"), "f.json:1:10: the key 'a' stands there twice");
    EXPECT_EQ(error_of("1 2"), "f.json:1:3: expected the end, found '2'");
    EXPECT_EQ(error_of(""), "f.json:1:1: expected a value, found the end of the text");
    for (const char* bad :
         {"01", "-", "1.", ".5", "1e", "+1", "tru", "nul", "NaN", "'a'", "{a: 1}", "1e999", "[1 2]", "// 1"}) {
        EXPECT_THROW((void)parse_json(bad), FileError) << bad;
    }
}

TEST(Json, nesting_is_limited) {
    EXPECT_NO_THROW((void)parse_json(std::string(200, '[') + std::string(200, ']')));
    EXPECT_THROW((void)parse_json(std::string(201, '[') + std::string(201, ']')), FileError);
    EXPECT_THROW((void)parse_json(std::string(1000000, '[')), FileError);
}

TEST(Json, values_remember_where_they_stood) {
    Json value = parse_json("{\n  \"rate\": 1e-3,\n  \"units\": \"ten\"}", "f.json");
    EXPECT_EQ(value.at("rate").where().str(), "f.json:2:11");
    EXPECT_EQ(value.at("rate").source(), "1e-3");
    EXPECT_EQ(value.members()[1].where.str(), "f.json:3:3");
    try {
        (void)value.at("units").as_integer();
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "f.json:3:12: expected an integer, found the string 'ten'");
    }
    try {
        (void)value.at("unit");
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "f.json:1:1: 'unit' is missing; did you mean 'units'?");
    }
}

TEST(Json, damaged_texts_are_refused_or_read_but_never_more) {
    std::string good = R"({"a": [1, -2.5e3, true, null, "x\u00e4\n"], "b": {"c": {}}})";
    std::mt19937 random(3);
    for (int i = 0; i < 20000; ++i) {
        std::string text = good.substr(0, random() % (good.size() + 1));
        for (unsigned k = random() % 4; k > 0 && !text.empty(); --k)
            text[random() % text.size()] = static_cast<char>(random());
        try {
            Json value = parse_json(text);
            EXPECT_EQ(parse_json(json_text(value)), value);
        } catch (const FileError&) {
        }
    }
}

}  // namespace
}  // namespace weft
