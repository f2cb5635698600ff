// The schema for editors, held against the examples by a small checker of JSON schema's words (draft 2020-12) that it uses.
#include "weft/train/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "train/example_data.h"
#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/train/compose.h"
#include "weft/train/config.h"
#include "weft/train/experiment.h"

namespace weft::train {
namespace {

bool has_type(const Json& value, const std::string& type) {
    if (type == "integer") return value.is_integer();
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_bool();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    return type == "null" && value.is_null();
}

class Checker {
  public:
    explicit Checker(const Json& root) : root_(root) {}

    bool holds(const Json& schema, const Json& value) const {
        const std::vector<Json::Member>& words = schema.members();
        return std::all_of(words.begin(), words.end(),
                           [&](const Json::Member& word) { return word_holds(word, schema, value); });
    }

  private:
    bool word_holds(const Json::Member& word, const Json& schema, const Json& value) const {
        const Json& says = word.value;
        auto any = [&](const std::vector<Json>& all, auto f) { return std::any_of(all.begin(), all.end(), f); };
        if (word.key == "$ref") return holds(at(says.as_string()), value);
        if (word.key == "type") return has_type(value, says.as_string());
        if (word.key == "const") return value == says;
        if (word.key == "enum") return any(says.items(), [&](const Json& one) { return one == value; });
        if (word.key == "anyOf") return any(says.items(), [&](const Json& one) { return holds(one, value); });
        if (word.key == "pattern") return value.is_string() && value.as_string().find("${") != std::string::npos;
        if (word.key == "minimum") return !value.is_number() || value.as_number() >= says.as_number();
        if (word.key == "maximum") return !value.is_number() || value.as_number() <= says.as_number();
        if (word.key == "minProperties") return value.size() >= static_cast<std::size_t>(says.as_integer());
        if (word.key == "maxProperties") return value.size() <= static_cast<std::size_t>(says.as_integer());
        if (word.key == "items")
            return !value.is_array() || !any(value.items(), [&](const Json& one) { return !holds(says, one); });
        if (word.key == "required")
            return !value.is_object() ||
                   !any(says.items(), [&](const Json& key) { return !value.find(key.as_string()); });
        if (word.key == "properties" || word.key == "additionalProperties") return properties_hold(schema, value);
        static const std::vector<std::string> notes{"description", "default", "title", "$schema", "$defs"};
        if (std::find(notes.begin(), notes.end(), word.key) != notes.end()) return true;
        throw ValueError("the schema has the word '" + word.key + "', which this checker does not know");
    }
    bool properties_hold(const Json& schema, const Json& value) const {
        if (!value.is_object()) return true;
        const Json *known = schema.find("properties"), *others = schema.find("additionalProperties");
        for (const Json::Member& member : value.members()) {
            const Json* own = known ? known->find(member.key) : nullptr;
            if (own ? !holds(*own, member.value) : others && (others->is_bool() || !holds(*others, member.value)))
                return false;
        }
        return true;
    }
    const Json& at(std::string_view reference) const {
        const Json* found = &root_;
        for (reference.remove_prefix(2); !reference.empty();) {  // "#/"
            std::size_t slash = reference.find('/');
            found = &found->at(reference.substr(0, slash));
            reference = slash == reference.npos ? "" : reference.substr(slash + 1);
        }
        return *found;
    }
    const Json& root_;
};

bool accepts(const Json& description) {
    static const Json schema = experiment_schema();
    return Checker(schema).holds(schema, description);
}
bool accepts(const char* description) { return accepts(parse_json(description)); }

TEST(Schema, takes_every_example_and_its_complete_description) {
    ExampleData data;
    int seen = 0;
    for (const auto& file : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/examples")) {
        bool yaml = file.path().extension() == ".yaml" && WEFT_HAVE_YAML;
        if (!yaml && file.path().extension() != ".json") continue;
        ++seen;
        EXPECT_TRUE(accepts(load_config(file.path()))) << file.path();
        EXPECT_TRUE(accepts(Experiment(compose_file(file.path())).config)) << file.path();
    }
    EXPECT_GE(seen, 1);
}

TEST(Schema, refuses_what_the_program_refuses) {
    EXPECT_TRUE(accepts(R"({"batch_size": 5})"));
    EXPECT_TRUE(accepts(R"({"batch_size": "${n}"})"));
    EXPECT_FALSE(accepts(R"({"batch_size": 0})"));
    EXPECT_FALSE(accepts(R"({"batch_size": "five"})"));
    EXPECT_FALSE(accepts(R"({"batchsize": 5})"));
    EXPECT_TRUE(
        accepts(R"({"model": [{"linear": 5}, "relu", {"residual": [{"linear": {"units": 5, "freeze": true}}]}]})"));
    EXPECT_FALSE(accepts(R"({"model": [{"linear": {"unts": 5}}]})"));
    EXPECT_FALSE(accepts(R"({"model": ["linear"]})"));
    EXPECT_FALSE(accepts(R"({"model": [{"residual": [{"linear": 5}, "rellu"]}]})"));
    EXPECT_TRUE(accepts(
        R"({"model": {"graph": {"nodes": {"a": {"linear": {"units": 5, "from": ["input"], "merge": "add"}}}}}})"));
    EXPECT_FALSE(accepts(R"({"model": {"graph": {"nodes": {"a": {"linear": {"units": 5, "merge": "sum"}}}}}})"));
    EXPECT_TRUE(accepts(R"({"optimizer": {"sgd": {"lr": {"cosine": {"from": 0.1, "epochs": 5}}}}})"));
    EXPECT_FALSE(accepts(R"({"optimizer": {"sgd": {"lr": {"cosin": {"from": 0.1}}}}})"));
    EXPECT_FALSE(accepts(R"({"optimizer": {"sgd": {"lr": "fast"}}})"));
    EXPECT_TRUE(accepts(R"({"stop_when": {"any": [{"epochs": 5}, {"match": {"of": "valid.loss", "phase": "a"}}]}})"));
    EXPECT_FALSE(accepts(R"({"stop_when": {"epoch": 5}})"));
    EXPECT_TRUE(accepts(R"({"phases": [{"name": "a", "stop_when": {"epochs": 5}}], "load": {"file": "x"}})"));
    EXPECT_FALSE(accepts(R"({"phases": [{"stop_wen": {"epochs": 5}}]})"));
    EXPECT_FALSE(accepts(R"({"keep_best": {"of": "valid.error", "mode": "least"}})"));
}

}  // namespace
}  // namespace weft::train
