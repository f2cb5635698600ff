#include "weft/train/registry.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/prepare.h"
#include "weft/data/registry.h"
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
            made.push_back({step.name, step.takes.empty() ? step.doc : text(step.doc, ". Takes ", step.takes)});
        }
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

/// Completes options that name parts of other kinds.
void choose_inner(Json& options, const Entry& entry) {
    for (const Option& option : entry.options) {
        if (option.also.empty()) continue;
        Json& value = options[option.name];
        bool plain_string = value.is_string() && option.fallback.is_string();
        if (value.is_object() || (value.is_string() && !plain_string)) {
            Position where = value.where();
            value = choose(value, option.also).resolved();
            value.set_where(where);
        }
    }
}

}  // namespace

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{
        {"data", "a data set", "the sets of `data:` (train, valid, test)", data_entries()},
        {"prepare", "a step of preparation",
         "the list `data: prepare:`; what a step learns, it learns from train alone", prepare_entries()},
        {"model", "a layer", "the list `model: sequential:`; the input width of each layer is inferred",
         entries_of(layers())},
        {"init", "initial values", "the option `init:` of layers with weights", entries_of(initialisers())},
        {"cost", "a cost", "`cost:`, one or a list whose sum is minimised", entries_of(costs())},
        {"optimizer", "an optimizer", "`optimizer:`", entries_of(optimizers())},
        {"schedule", "a schedule", "a rate of an optimizer that changes while it trains; epochs count from 1",
         entries_of(schedules())},
        {"stop", "a stop rule", "`stop_when:`", entries_of(stop_rules())},
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
    Json all = Json::object({{entry->name, options, where}});
    all.set_where(where);
    return all;
}

Chosen choose(const Json& description, const Kind& kind) {
    if (!description.is_string() && !(description.is_object() && description.size() == 1)) {
        description.refuse(text("expected the name of ", kind.a_thing, ", alone or with its options below it, found ",
                                description.describe()));
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
    // A mapping whose one key is no option is the value of a bare option that names a part: "no_improvement", "init".
    if (!given.is_null() && !given.is_object() && !chosen.entry->bare.empty()) {
        Position where = given.where();
        given = Json::object({{chosen.entry->bare, given, where}});
        given.set_where(where);
    }
    chosen.options = complete(given, chosen.entry->options, chosen.entry->name);
    choose_inner(chosen.options, *chosen.entry);
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
    return out + "\n" + help_on(entry.options);
}

}  // namespace weft::train
