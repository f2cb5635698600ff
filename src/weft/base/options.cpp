#include "weft/base/options.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/nearest.h"

namespace weft {
namespace {

void check_name(const Json::Member& member, const std::vector<Option>& options, std::string_view what) {
    std::vector<std::string_view> names;
    for (const Option& option : options) {
        if (option.name == member.key) return;
        names.push_back(option.name);
    }
    throw ConfigError(text(member.where, "unknown key '", member.key, "' in ", what, did_you_mean(member.key, names)));
}

void check_range(const Option& option, const Json& value) {
    double number = value.as_number();
    if (!std::isfinite(number)) value.refuse(text("expected a finite number, found ", json_text(value)));
    bool below = !(number >= option.least), above = !(number <= option.most);
    // 1000000, and not 1e+06.
    auto plain = [](double bound) {
        bool whole = bound == std::floor(bound) && std::abs(bound) < 1e15;
        return whole ? text(static_cast<std::int64_t>(bound)) : text(bound);
    };
    if (below) value.refuse(text("expected ", plain(option.least), " or more, found ", json_text(value)));
    if (above) value.refuse(text("expected ", plain(option.most), " or less, found ", json_text(value)));
}

void check_choice(const Option& option, const Json& value) {
    const std::string& word = value.as_string();
    if (option.choices.empty() || std::count(option.choices.begin(), option.choices.end(), word)) return;
    std::vector<std::string_view> known(option.choices.begin(), option.choices.end());
    value.refuse(text("'", word, "' is not known", did_you_mean(word, known)));
}

void check_several(const Option& option, const Json& value) {
    if (value.is_string() && !option.choices.empty()) return check_choice(option, value);
    const std::vector<Json> alone{value};
    for (const Json& item : value.is_array() ? value.items() : alone) {
        (void)item.as_integer();
        check_range(option, item);
    }
}

void check_kind(const Option& option, const Json& value) {
    if (option.several && option.keys.empty()) return check_several(option, value);
    Json::Kind wanted = option.fallback.is_null() ? option.kind : option.fallback.kind();
    if (!option.also.empty() && (value.is_object() || (value.is_string() && wanted != Json::Kind::string))) return;
    if (!option.list_of.empty() && value.is_array()) return;
    if (!option.map_of.empty() && value.is_object()) return;
    if (!option.keys.empty() && option.several && value.is_array()) return;
    switch (wanted) {  // each throws if the value is of another kind
        case Json::Kind::null:
            return;
        case Json::Kind::boolean:
            (void)value.as_bool();
            return;
        case Json::Kind::integer:
            (void)value.as_integer();
            return check_range(option, value);
        case Json::Kind::number:
            (void)value.as_number();
            return check_range(option, value);
        case Json::Kind::string:
            break;
        case Json::Kind::array:
            (void)value.items();
            return;
        case Json::Kind::object:
            (void)value.members();
            return;
    }
    check_choice(option, value);
}

/// What a mapping with known keys holds, or each mapping of a list.
Json complete_keys(const Option& option, const Json& value) {
    if (option.keys.empty() || value.is_null()) return value;
    if (!value.is_array()) return complete(value, option.keys, option.name);
    Json list = Json::array();
    for (const Json& item : value.items()) list.push_back(complete(item, option.keys, option.name));
    list.set_where(value.where());
    return list;
}

}  // namespace

Json complete(const Json& given, const std::vector<Option>& options, std::string_view what) {
    Json result = Json::object();
    result.set_where(given.where());
    if (!given.is_null()) {
        for (const Json::Member& member : given.members()) check_name(member, options, what);
    }
    for (const Option& option : options) {
        const Json* value = given.find(option.name);
        if (!value && option.required)
            given.refuse(text(what, " needs the key '", option.name, "' (", option.doc, ")"));
        bool left_out = !value || (value->is_null() && !option.required);
        if (left_out && option.brief) continue;
        try {
            if (!left_out) check_kind(option, *value);
        } catch (const ConfigError& error) {
            throw ConfigError(text(error.what(), " (", what, ", '", option.name, "': ", option.doc, ")"));
        }
        result[option.name] = complete_keys(option, left_out ? option.fallback : *value);
    }
    return result;
}

namespace {

std::string_view word_of(Json::Kind kind) {
    switch (kind) {
        case Json::Kind::boolean:
            return "true or false";
        case Json::Kind::integer:
            return "integer";
        case Json::Kind::number:
            return "number";
        case Json::Kind::string:
            return "text";
        case Json::Kind::array:
            return "list";
        case Json::Kind::object:
            return "mapping";
        case Json::Kind::null:
            break;
    }
    return "";
}

/// " >= 1", " 0 to 1"; nothing of what is no number, and of bounds that stand for none.
std::string range_of(const Option& option, Json::Kind kind) {
    constexpr double none = 1e9;
    if (kind != Json::Kind::number && kind != Json::Kind::integer && !option.several) return "";
    bool least = option.least > -none, most = option.most < none;
    if (least && most) return text(" ", option.least, " to ", option.most);
    return least ? text(" >= ", option.least) : most ? text(" <= ", option.most) : "";
}

/// "keep, drop or pad"
std::string one_of(const std::vector<std::string>& choices) {
    std::string all;
    for (const std::string& choice : choices)
        all += text(all.empty() ? "" : &choice == &choices.back() ? " or " : ", ", choice);
    return all;
}

/// "integer >= 1", "number 0 to 1", "keep, drop or pad", "number or schedule".
std::string type_of(const Option& option) {
    Json::Kind kind = option.fallback.is_null() ? option.kind : option.fallback.kind();
    bool parts = !option.also.empty() || !option.list_of.empty();
    std::string type(option.several && option.keys.empty() ? "integer" : word_of(kind));
    if (parts && kind != Json::Kind::number && kind != Json::Kind::integer) type = "";
    if (!option.choices.empty() && !option.several) type = one_of(option.choices);
    type += range_of(option, kind);
    // What is a word where nothing is said is one number otherwise.
    if (option.several) type += option.fallback.is_string() ? "" : ", or a list of them";
    if (option.several && !option.choices.empty()) type += ", " + one_of(option.choices);
    auto add = [&](const std::string& way) { type += (type.empty() ? "" : " or ") + way; };
    if (!option.also.empty()) add(option.also);
    if (!option.list_of.empty()) add(text("list of ", option.list_of));
    if (!option.map_of.empty()) type += text(" of names to ", option.map_of);
    return type;
}

}  // namespace

std::string help_on(const std::vector<Option>& options) {
    std::size_t width = 0;
    for (const Option& option : options) width = std::max(width, option.name.size());
    std::string out;
    for (const Option& option : options) {
        std::string name = option.name + std::string(width - option.name.size(), ' ');
        std::string type = type_of(option);
        std::string value = option.required             ? "required"
                            : option.fallback.is_null() ? "optional"
                                                        : text("default ", json_text(option.fallback));
        out += text("  ", name, "  ", option.doc, " (", type, type.empty() ? "" : "; ", value, ")\n");
    }
    return out;
}

}  // namespace weft
