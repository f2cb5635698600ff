// Pictures of digits: digits, mnist.
#include "weft/data/digits.h"
#include "weft/data/mnist.h"
#include "weft/data/sources.h"

namespace weft::data {
namespace {

Split split_named(const Json& name) {
    const std::string& word = name.as_string();
    return word == "train" ? Split::train : word == "valid" ? Split::valid : Split::test;
}

void check_digits(const Json& options) {
    if (options.at("size").as_integer() < 1) options.at("size").refuse("digits: the size is at least 1");
    if (options.at("seed").as_integer() < 0) options.at("seed").refuse("digits: a seed is not negative");
}

Dataset load_digits(const Json& options) {
    auto seed = static_cast<std::uint64_t>(options.at("seed").as_integer());
    return digits_split(split_named(options.at("split")), options.at("size").as_integer(), seed);
}

/// One picture as digits and mnist have them.
Dataset sample_picture(const Json&) { return digits_split(Split::train, 1, 1); }

}  // namespace

std::vector<Source> digit_sources() {
    return {
        {"digits",
         "hand-drawn-looking digits, 28 x 28 grey values 0 .. 255, generated: any number, no files",
         {{"split", "train", "which pictures", false, Json::Kind::string, {"train", "valid", "test"}},
          {"size", 10000, "how many pictures"},
          {"seed", 1, "another seed gives other pictures"}},
         load_digits,
         check_digits,
         sample_picture,
         "size"},
        {"mnist",
         "hand-written digits, 60,000 + 10,000 of 28 x 28 grey values 0 .. 255, from $WEFT_DATA/mnist",
         {{"split", "train", "which of its two parts", false, Json::Kind::string, {"train", "test"}},
          range_option(),
          {"folder", Json(), "where the files lie, if not in $WEFT_DATA/mnist", false, Json::Kind::string}},
         [](const Json& options) {
             const Json& folder = options.at("folder");
             bool train = options.at("split").as_string() == "train";
             return in_range(mnist_part(train, folder.is_null() ? "" : folder.as_string()), options);
         },
         check_range,
         sample_picture},
    };
}

}  // namespace weft::data
