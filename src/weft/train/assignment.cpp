#include "weft/train/assignment.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/train/config.h"
#include "weft/train/keys.h"
#include "weft/train/registry.h"

namespace weft::train {
namespace {

Json replaced(const Json& value, std::string_view path, const Json& fresh, const Position& where);

Json replaced_in_list(const Json& value, std::string_view key, std::string_view rest, const Json& fresh,
                      const Position& where) {
    std::size_t index = 0;
    auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc() || end != key.data() + key.size() || index > value.size()) {
        throw ConfigError(text(where, "'", key, "' is no place in a list of ", value.size(), " (counted from 0; ",
                               value.size(), " adds one)"));
    }
    std::vector<Json> items = value.items();
    if (index == items.size()) items.emplace_back();
    items[index] = replaced(items[index], rest, fresh, where);
    Json list = Json::array(std::move(items));
    list.set_where(value.where());
    return list;
}

/// `value` with what stands at `path` below it replaced by `fresh`.
Json replaced(const Json& value, std::string_view path, const Json& fresh, const Position& where) {
    if (path.empty()) return fresh;
    std::size_t dot = path.find('.');
    std::string_view key = path.substr(0, dot), rest = dot == path.npos ? "" : path.substr(dot + 1);
    if (key.empty() || (dot != path.npos && rest.empty()))
        throw ConfigError(text(where, "a name is missing beside a '.'"));
    if (value.is_array()) return replaced_in_list(value, key, rest, fresh, where);
    std::vector<Json::Member> members;
    if (value.is_object()) members = value.members();
    // A bare name (optimizer: adam) is short for a mapping without options: optimizer.adam.lr goes on below it.
    if (value.is_string() && value.as_string() != key) {
        throw ConfigError(text(where, "there is ", value.describe(), " where '", key, "' is looked for"));
    }
    for (Json::Member& member : members) {
        if (member.key != key) continue;
        member.value = replaced(member.value, rest, fresh, where);
        return [&] {
            Json all = Json::object(std::move(members));
            all.set_where(value.where());
            return all;
        }();
    }
    Json below;
    below.set_where(where);
    members.push_back({std::string(key), replaced(below, rest, fresh, where), where});
    Json all = Json::object(std::move(members));
    all.set_where(value.where().line ? value.where() : where);
    return all;
}

/// The first name of a path, and what is behind it.
std::pair<std::string_view, std::string_view> parted(std::string_view path) {
    std::size_t dot = path.find('.');
    return {path.substr(0, dot), dot == path.npos ? "" : path.substr(dot + 1)};
}

void check_parts(const Json& value, std::string_view path, const std::vector<Option>& keys, const Position& where);

/// `there`: the part that stands where the path says `name`.
[[noreturn]] void refuse_name(std::string_view there, std::string_view name, const Kind& kind, const Position& where) {
    std::vector<std::string_view> names{there};
    for (const Entry* entry : kind.entries) names.push_back(entry->name);
    bool known = std::find(names.begin() + 1, names.end(), name) != names.end();
    std::string way_out = known ? text("; another one is put in its place as a whole: {", name, ": {...}}")
                                : did_you_mean(name, nearest(name, {there}).empty() ? names : std::vector{there});
    throw ConfigError(text(where, "the path says '", name, "' where '", there, "' stands", way_out));
}

/// A path that goes on below what is (if it is anything yet) a part of this kind.
void check_part(const Json& value, std::string_view path, const Kind& kind, const Position& where) {
    bool mapping = value.is_object() && value.size() == 1;
    if (path.empty() || (!mapping && !value.is_string())) return;
    const std::string& there = mapping ? value.members()[0].key : value.as_string();
    auto [name, rest] = parted(path);
    if (name.empty() || there.find("${") != there.npos) return;
    if (name != there) refuse_name(there, name, kind, where);
    if (!mapping) return;
    for (const Entry* entry : kind.entries) {
        if (entry->name != there) continue;
        const Json& below = value.members()[0].value;
        std::string_view next = parted(rest).first;
        auto named = [&](std::string_view option) { return below.find(option) || next == option; };
        bool options = std::any_of(entry->options.begin(), entry->options.end(),
                                   [&](const Option& option) { return named(option.name); });
        if (!below.is_object() && !below.is_null() && options && next != entry->bare)
            throw ConfigError(text(where, "'", there, "' stands there with a value alone, ", json_text(below),
                                   ", which would be lost: say {", there, ": {", entry->bare, ": ", json_text(below),
                                   ", ", next, ": ...}}"));
        if (below.is_object() && (options || entry->bare.empty()))
            return check_parts(below, rest, entry->options, where);
        // {residual: {linear: 10}}: the value of the one option that may stand bare.
        Json bare = Json::object({{entry->bare, below, below.where()}});
        if (!entry->bare.empty()) return check_parts(bare, text(entry->bare, ".", rest), entry->options, where);
    }
}

/// A path that goes on below the value of an option.
void check_option(const Json& value, std::string_view path, const Option& option, const Position& where) {
    if (path.empty()) return;
    auto [key, rest] = parted(path);
    if (value.is_array()) {
        std::size_t index = 0;
        auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
        if (error != std::errc() || end != key.data() + key.size() || index >= value.size()) return;
        const Json& item = value.item(index);
        if (!option.list_of.empty()) return check_part(item, rest, kind_named(option.list_of), where);
        return check_parts(item, rest, option.keys, where);
    }
    if (!option.also.empty()) return check_part(value, path, kind_named(option.also), where);
    if (!option.keys.empty()) return check_parts(value, path, option.keys, where);
    const Json* member = option.map_of.empty() ? nullptr : value.find(key);
    if (!member) return;
    Option inner = option;
    inner.also = inner.list_of.empty() ? option.map_of : "", inner.map_of = "";
    check_option(*member, rest, inner, where);
}

/// That a path of --set names the parts that are there: `keys` are what the mapping may hold. What no declaration tells is left to later checks.
void check_parts(const Json& value, std::string_view path, const std::vector<Option>& keys, const Position& where) {
    auto [key, rest] = parted(path);
    const Json* member = value.find(key);
    if (!member) return;
    for (const Option& option : keys)
        if (option.name == key) check_option(*member, rest, option, where);
}

}  // namespace

Json with_assignment(const Json& config, const std::string& assignment) {
    Position where;
    where.file = std::make_shared<const std::string>("--set " + assignment);
    std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) throw ConfigError(text(where, "expected path.to.value=VALUE"));
    std::string value = assignment.substr(equals + 1);
    std::size_t first = value.find_first_not_of(' ');
    bool plain = first == std::string::npos || std::string_view("[{\"'").find(value[first]) == std::string_view::npos;
    Json fresh = plain ? plain_scalar(value) : parse_config(value, "--set " + assignment);
    if (plain) fresh.set_where(where);
    return with_value(config, std::string_view(assignment).substr(0, equals), fresh, where);
}

Json with_value(const Json& config, std::string_view path, const Json& value, const Position& where) {
    check_parts(config, path, file_keys(), where);
    return replaced(config, path, value, where);
}

}  // namespace weft::train
