#include "weft/train/registry.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/augment.h"
#include "weft/data/prepare.h"
#include "weft/data/registry.h"
#include "weft/train/monitor.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

template <class Make>
std::vector<const Entry*> entries_of(const std::vector<Part<Make>>& parts) {
    std::vector<const Entry*> entries;
    for (const Part<Make>& part : parts) entries.push_back(&part);
    return entries;
}

/// data/ keeps its own registries; they are listed and explained like all others.
std::vector<const Entry*> data_entries() {
    static const std::vector<Entry> all = [] {
        std::vector<Entry> made;
        for (const data::Source& source : data::sources()) made.push_back({source.name, source.doc, source.options});
        return made;
    }();
    std::vector<const Entry*> entries;
    for (const Entry& entry : all) entries.push_back(&entry);
    return entries;
}

std::vector<const Entry*> prepare_entries() {
    static const std::vector<Entry> all = [] {
        std::vector<Entry> made;
        for (const data::StepKind& step : data::step_kinds()) {
            made.push_back(
                {step.name, step.takes.empty() ? step.doc : text(step.doc, ". Takes ", step.takes), step.options});
        }
        return made;
    }();
    std::vector<const Entry*> entries;
    for (const Entry& entry : all) entries.push_back(&entry);
    return entries;
}

std::vector<const Entry*> augment_entries() {
    static const std::vector<Entry> all = [] {
        std::vector<Entry> made;
        for (const data::AugmenterKind& step : data::augmenter_kinds())
            made.push_back({step.name, step.doc, step.options});
        return made;
    }();
    std::vector<const Entry*> entries;
    for (const Entry& entry : all) entries.push_back(&entry);
    return entries;
}

std::vector<std::string_view> names_of(const Kind& kind) {
    std::vector<std::string_view> names;
    for (const Entry* entry : kind.entries) names.push_back(entry->name);
    return names;
}

const Entry& entry_named(const Kind& kind, std::string_view name, const Position& where) {
    for (const Entry* entry : kind.entries) {
        if (entry->name == name) return *entry;
    }
    throw ConfigError(text(where, "unknown name '", name, "' for ", kind.a_thing, did_you_mean(name, names_of(kind))));
}

/// A mapping that is the value of the bare option, since its one key names a part: `residual: {linear: 10}`.
bool is_bare_part(const Json& given, const Entry& entry) {
    const Option* bare = nullptr;
    for (const Option& option : entry.options) {
        if (given.find(option.name)) return false;
        if (option.name == entry.bare) bare = &option;
    }
    if (!bare || bare->also.empty() || given.size() != 1) return false;
    std::vector<std::string_view> names = names_of(kind_named(bare->also));
    return std::find(names.begin(), names.end(), given.members()[0].key) != names.end();
}

Json resolved_part(const Json& value, std::string_view kind) {
    Json resolved;
    if (value.is_array()) {
        resolved = Json::array();
        for (const Json& item : value.items()) resolved.push_back(resolved_part(item, kind));
    } else {
        resolved = choose(value, kind).resolved();
    }
    resolved.set_where(value.where());
    return resolved;
}

/// Completes options that name parts of other kinds: one, a list of them, a mapping of names to them.
void choose_inner(Json& options, const Entry& entry) {
    for (const Option& option : entry.options) {
        Json* value = options.find(option.name);
        if (!value) continue;
        // Where nothing but a part may stand, choose() says so.
        bool part_alone = option.fallback.is_null() && option.kind == Json::Kind::null && !value->is_null();
        bool list = !option.list_of.empty() && value->is_array();
        if (!option.also.empty() && !list && (part_alone || value->is_object() || value->is_string()))
            *value = resolved_part(*value, option.also);
        if (!option.list_of.empty() && value->is_array()) *value = resolved_part(*value, option.list_of);
        if (!option.map_of.empty() && value->is_object()) {
            std::vector<Json::Member> members = value->members();
            for (Json::Member& member : members) member.value = resolved_part(member.value, option.map_of);
            Json all = Json::object(std::move(members));
            all.set_where(value->where());
            *value = all;
        }
    }
}

}  // namespace

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{
        {"data", "a data set", "the sets of `data:` (train, valid, test)", data_entries()},
        {"prepare", "a step of preparation",
         "the list `data: prepare:`; what a step learns, it learns from train alone", prepare_entries()},
        {"augment", "a step of augmentation",
         "the list `data: augment:`, applied to examples of train whenever they are seen; each keeps its shape",
         augment_entries()},
        {"model", "a layer", "`model:`, most often {sequential: [layers]}; the input width of each layer is inferred",
         entries_of(layers()), "several go into {sequential: [layers]}"},
        {"join", "a join", "the option `join:` where several values become one", entries_of(joins())},
        {"init", "initial values", "the option `init:` of layers with weights", entries_of(initialisers())},
        {"cost", "a cost", "`cost:`, one or a list whose sum is minimised", entries_of(costs()),
         "several go into a list"},
        {"optimizer", "an optimizer", "`optimizer:`", entries_of(optimizers())},
        {"schedule", "a schedule", "a rate of an optimizer that changes while it trains; epochs count from 1",
         entries_of(schedules())},
        {"channel", "a channel", "the list `monitor: channels:`, what stands in the log", entries_of(channels())},
        {"stop", "a stop rule", "`stop_when:`", entries_of(stop_rules()), "several go into {any: [rules]}"},
        {"distribution", "a distribution",
         "`sweep: over:`, what the values of a key are drawn from; a list is `choice`", entries_of(distributions()), "",
         "choice"},
    };
    return all;
}

const Kind& kind_named(std::string_view name) {
    std::vector<std::string_view> names;
    for (const Kind& kind : kinds()) {
        if (kind.name == name) return kind;
        names.push_back(kind.name);
    }
    throw ConfigError(text("unknown kind '", name, "'", did_you_mean(name, names)));
}

Json Chosen::resolved() const {
    // An entry whose one option may stand bare stays short: {epochs: 10}, {sequential: [layers]}.
    const Json* bare = options.size() == 1 ? options.find(entry->bare) : nullptr;
    bool is_short = bare && !bare->is_object() && !bare->is_null();
    Json all = Json::object({{entry->name, is_short ? *bare : options, where}});
    all.set_where(where);
    return all;
}

Chosen choose(const Json& description, const Kind& kind) {
    if (description.is_array() && !kind.list.empty()) {
        Json named = Json::object({{kind.list, description, description.where()}});
        named.set_where(description.where());
        return choose(named, kind);
    }
    if (!description.is_string() && !(description.is_object() && description.size() == 1)) {
        bool too_many = description.is_object() && description.size() > 1;
        std::string second =
            too_many ? text(" and '", description.members()[1].key, "'; ", kind.several,
                            kind.several.empty() ? "" : ", ", "options stand below the name, indented or in {...}")
                     : "";
        description.refuse(text("expected ", kind.list.empty() ? "" : "a list, or ", "the name of ", kind.a_thing,
                                ", alone or with its options below it, found ", description.describe(), second));
    }
    Chosen chosen;
    Json given;
    if (description.is_string()) {
        chosen.where = description.where();
        chosen.entry = &entry_named(kind, description.as_string(), chosen.where);
    } else {
        const Json::Member& member = description.members()[0];
        chosen.where = member.where;
        chosen.entry = &entry_named(kind, member.key, chosen.where);
        given = member.value;
    }
    if (given.is_null()) given.set_where(chosen.where);
    const Entry& entry = *chosen.entry;
    bool bare = !given.is_null() && (!given.is_object() || is_bare_part(given, entry));
    if (bare && entry.bare.empty()) {
        bool none =
            std::all_of(entry.options.begin(), entry.options.end(), [](const Option& option) { return option.brief; });
        given.refuse(text(
            entry.name, none ? " has no options of its own, so nothing stands behind it" : " takes its options by name",
            none ? "" : text(", as in {", entry.options[0].name, ": ...}"), "; found ", given.describe()));
    }
    if (bare) {
        Position where = given.where();
        given = Json::object({{entry.bare, given, where}});
        given.set_where(where);
    }
    chosen.options = complete(given, entry.options, entry.name);
    choose_inner(chosen.options, entry);
    return chosen;
}

Chosen choose(const Json& description, std::string_view kind) { return choose(description, kind_named(kind)); }

std::string help_on_kind(const Kind& kind) {
    std::size_t width = 0;
    for (const Entry* entry : kind.entries) width = std::max(width, entry->name.size());
    std::string out = text(kind.name, ": ", kind.doc, "\n\n");
    for (const Entry* entry : kind.entries) {
        out += text("  ", entry->name, std::string(width + 2 - entry->name.size(), ' '), entry->doc, "\n");
    }
    return out + text("\n`weft help ", kind.name, " NAME` shows the options of one.\n");
}

std::string help_on_entry(const Kind& kind, std::string_view name) {
    const Entry& entry = entry_named(kind, name, {});
    std::string out = text(kind.name, " ", entry.name, ": ", entry.doc, "\n");
    if (entry.options.empty()) return out + "\nIt has no options.\n";
    if (!entry.bare.empty())
        out += text("`", entry.name, ": VALUE` is short for `", entry.name, ": {", entry.bare, ": VALUE}`.\n");
    std::vector<Option> own, common;
    for (const Option& option : entry.options) (option.brief ? common : own).push_back(option);
    out += own.empty() ? "\nIt has no options of its own.\n" : "\n" + help_on(own);
    if (!common.empty()) out += text("\nAs ", kind.a_thing, " also:\n", help_on(common));
    return out;
}

}  // namespace weft::train
