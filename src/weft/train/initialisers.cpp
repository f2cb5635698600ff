// The initial values that `init:` can name; the formulas are nn/initialize's.
#include "weft/nn/initialize.h"
#include "weft/ops/random.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

Option wanted(const char* name, const char* doc, double least) {
    Option option{name, Json(), doc, true, Json::Kind::number};
    option.least = least;
    return option;
}

using Formula = Tensor (*)(const Dims& shape, double gain, const Tensor& key, DType dtype);
Part<MakeInit> scaled(const char* name, const char* doc, double usual, Formula formula) {
    return {{name, doc, {{"gain", usual, "times the deviation"}}},
            [formula](const Json& o, const Dims& shape, std::uint64_t seed) {
                return formula(shape, o.at("gain").as_number(), random::key(seed), float32);
            }};
}

}  // namespace

const std::vector<Part<MakeInit>>& initialisers() {
    static const double relu_gain = nn::init::gain("relu");
    static const std::vector<Part<MakeInit>> all{
        {{"zeros", "all 0"}, [](const Json&, const Dims& shape, std::uint64_t) { return nn::init::zeros(shape); }},
        {{"constant", "all the same", {{"value", Json(), "the number", true, Json::Kind::number}}, "value"},
         [](const Json& o, const Dims& shape, std::uint64_t) {
             return nn::init::constant(shape, o.at("value").as_number());
         }},
        {{"uniform", "between -range and range", {wanted("range", "the greatest size", 0)}, "range"},
         [](const Json& o, const Dims& shape, std::uint64_t seed) {
             double range = o.at("range").as_number();
             return nn::init::uniform(shape, -range, range, random::key(seed));
         }},
        {{"normal", "around 0", {wanted("deviation", "the standard deviation", 0)}, "deviation"},
         [](const Json& o, const Dims& shape, std::uint64_t seed) {
             return nn::init::normal(shape, 0, o.at("deviation").as_number(), random::key(seed));
         }},
        {{"sparse",
          "a few weights of each unit are normal, the others 0 (Martens, 2010)",
          {{"count", Json(), "how many weights of a unit are not 0", true, Json::Kind::integer, {}, 0},
           {"deviation", 1.0, "of these"}},
          "count"},
         [](const Json& o, const Dims& shape, std::uint64_t seed) {
             return nn::init::sparse(shape, o.at("count").as_integer(), o.at("deviation").as_number(),
                                     random::key(seed));
         }},
        scaled("xavier_uniform", "keeps deviations forwards and backwards (Glorot and Bengio, 2010)", 1,
               nn::init::xavier_uniform),
        scaled("xavier_normal", "the same, normal", 1, nn::init::xavier_normal),
        scaled("kaiming_uniform", "keeps deviations through relu (He et al., 2015)", relu_gain,
               nn::init::kaiming_uniform),
        scaled("kaiming_normal", "the same, normal", relu_gain, nn::init::kaiming_normal),
        scaled("orthogonal", "orthonormal rows (Saxe et al., 2014)", 1, nn::init::orthogonal),
    };
    return all;
}

}  // namespace weft::train
