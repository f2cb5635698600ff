#include "weft/train/schema.h"

#include <cmath>

#include "weft/base/error.h"
#include "weft/train/keys.h"
#include "weft/train/parts.h"
#include "weft/train/registry.h"

namespace weft::train {
namespace {

Json object(std::initializer_list<Json::Member> members) { return Json::object(std::vector<Json::Member>(members)); }
Json reference(std::string_view kind) { return object({{"$ref", text("#/$defs/", kind), {}}}); }
Json of_type(const char* type) { return object({{"type", type, {}}}); }
Json list_of(Json item) { return object({{"type", "array", {}}, {"items", std::move(item), {}}}); }
Json any_of(std::vector<Json> ways) {
    if (ways.size() == 1) return ways[0];
    return object({{"anyOf", Json::array(std::move(ways)), {}}});
}

/// Any value may be made of variables instead.
Json variable() { return reference("variable"); }

void add_range(Json& schema, const Option& option) {
    if (std::isfinite(option.least)) schema["minimum"] = option.least;
    if (std::isfinite(option.most) && option.most < 1e300) schema["maximum"] = option.most;
}

/// `whole`: what is required must be there; else it may come from elsewhere (an included file, what stands beside `phases:`).
Json mapping(const std::vector<Option>& keys, bool whole = true);

/// A plain value of the option's own kind; null: anything.
Json plain(const Option& option) {
    Json::Kind kind = option.fallback.is_null() ? option.kind : option.fallback.kind();
    Json schema;
    switch (kind) {
        case Json::Kind::null:
            return Json::object();
        case Json::Kind::boolean:
            return of_type("boolean");
        case Json::Kind::integer:
        case Json::Kind::number:
            schema = of_type(kind == Json::Kind::integer ? "integer" : "number");
            add_range(schema, option);
            return schema;
        case Json::Kind::string:
            schema = of_type("string");
            if (!option.choices.empty()) {
                Json names = Json::array();
                for (const std::string& choice : option.choices) names.push_back(choice);
                schema["enum"] = names;
            }
            return schema;
        case Json::Kind::array:
            return option.keys.empty() ? of_type("array") : list_of(mapping(option.keys, false));
        case Json::Kind::object:
            return option.keys.empty() ? of_type("object") : mapping(option.keys);
    }
    __builtin_unreachable();
}

/// The ways in which an option's value may be written.
std::vector<Json> ways(const Option& option) {
    std::vector<Json> all;
    if (option.several && option.keys.empty()) {  // integers, one or a list, or a word
        Json integer = of_type("integer");
        add_range(integer, option);
        all = {integer, list_of(integer)};
        for (const std::string& choice : option.choices) all.push_back(object({{"const", choice, {}}}));
        return all;
    }
    if (!option.also.empty()) all.push_back(reference(option.also));
    if (!option.list_of.empty()) {
        Json item = reference(option.list_of);
        all.push_back(list_of(any_of({item, list_of(item)})));  // a list in it is one after another
    }
    if (!option.map_of.empty()) {
        Json item = reference(option.map_of);
        if (!option.list_of.empty()) item = list_of(item);
        all.push_back(object({{"type", "object", {}}, {"additionalProperties", item, {}}}));
    }
    if (option.several) all.push_back(list_of(plain(option)));
    // Where parts may stand, what is left is a plain number or word: `lr: 0.1`.
    Json::Kind kind = option.fallback.is_null() ? option.kind : option.fallback.kind();
    bool parts_alone = !all.empty() && !option.several &&
                       (kind == Json::Kind::array || kind == Json::Kind::object || kind == Json::Kind::null ||
                        kind == Json::Kind::string);
    if (!parts_alone) all.push_back(plain(option));
    return all;
}

/// What every layer takes is written once.
constexpr const char* common = "layer";
bool is_common(const Option& option) {
    for (const Option& one : layer_options())
        if (option.brief && one.name == option.name && one.doc == option.doc) return true;
    return false;
}

Json value_of(const Option& option) {
    std::vector<Json> all = ways(option);
    bool anything = all.size() == 1 && all[0].is_object() && all[0].size() == 0;
    if (!anything) all.push_back(variable());
    if (!anything && !option.required) all.push_back(of_type("null"));
    Json schema = any_of(std::move(all));
    schema["description"] = option.doc;
    if (!option.required && !option.fallback.is_null()) schema["default"] = option.fallback;
    return schema;
}

Json mapping(const std::vector<Option>& keys, bool whole) {
    Json properties = Json::object(), required = Json::array();
    for (const Option& option : keys) {
        properties[option.name] =
            is_common(option) ? reference(text(common, "/properties/", option.name)) : value_of(option);
        if (option.required) required.push_back(option.name);
    }
    Json schema = of_type("object");
    schema["properties"] = properties, schema["additionalProperties"] = false;
    if (whole && required.size()) schema["required"] = required;
    return schema;
}

/// What stands behind an entry's name: its options, or the value of its bare option.
Json behind_name(const Entry& entry) {
    std::vector<Json> all{mapping(entry.options)};
    for (const Option& option : entry.options) {
        if (option.name != entry.bare) continue;
        for (Json& way : ways(option)) {
            if (way.find("type") && *way.find("type") == Json("object")) continue;  // a mapping holds options
            all.push_back(std::move(way));
        }
        all.push_back(variable());
    }
    bool needs = all[0].find("required") != nullptr;
    if (!needs) all.push_back(of_type("null"));
    Json schema = any_of(std::move(all));
    schema["description"] = entry.doc;
    return schema;
}

/// A name alone (where nothing is required), or {name: options}.
Json kind_schema(const Kind& kind) {
    Json names = Json::array(), properties = Json::object();
    for (const Entry* entry : kind.entries) {
        bool needs = false;
        for (const Option& option : entry->options) needs = needs || option.required;
        if (!needs) names.push_back(entry->name);
        // A step of preparation without options may have one argument of a form of its own.
        bool free = kind.name == "prepare" && entry->options.empty();
        properties[entry->name] = free ? object({{"description", entry->doc, {}}}) : behind_name(*entry);
    }
    Json one = of_type("object");
    one["properties"] = properties, one["additionalProperties"] = false;
    one["minProperties"] = 1, one["maxProperties"] = 1;
    std::vector<Json> ways{one, variable()};
    if (names.size()) ways.push_back(object({{"enum", names, {}}}));
    if (!kind.list.empty()) ways.push_back(of_type("array"));
    Json schema = any_of(std::move(ways));
    schema["description"] = text(kind.a_thing, " by its name: ", kind.doc);
    return schema;
}

}  // namespace

Json experiment_schema() {
    Json definitions = Json::object();
    definitions["variable"] = object({{"type", "string", {}},
                                      {"pattern", "\\$\\{.+\\}", {}},
                                      {"description", "${name}, ${width * 2}, ${env:NAME:-value}", {}}});
    Json options = Json::object();
    for (const Option& option : layer_options()) options[option.name] = value_of(option);
    definitions[common] = object({{"properties", options, {}}});
    for (const Kind& kind : kinds()) definitions[kind.name] = kind_schema(kind);
    Json schema = mapping(file_keys(), false);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema", schema["title"] = "an experiment of weft";
    schema["$defs"] = definitions;
    return schema;
}

}  // namespace weft::train
