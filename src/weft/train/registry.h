// What an experiment's file can name, and where: kinds (layers, costs, optimizers, ...) of entries, each declared once with
// its doc and its options. Help, checks, defaults and the complete description that a run keeps follow from the
// declarations; a file never names code. Callers: train/experiment.cpp, cli/help.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/base/json.h"
#include "weft/base/options.h"

namespace weft::train {

struct Entry {
    std::string name, doc;
    std::vector<Option> options = {};
    std::string bare = {};  // the option that a value without a name is for: "linear: 10" gives units
};

/// An entry and how it is made. `Make` takes the checked, complete options.
template <class Make>
struct Part : Entry {
    Make make;
};

struct Kind {
    std::string name;     // as `weft help` and error messages call it: "model"
    std::string a_thing;  // "a layer"
    std::string doc;
    std::vector<const Entry*> entries;
    std::string several = {};  // where more than one can go: "several go into a list"
    std::string list = {};     // the entry for which a list stands alone
};

/// All kinds, in the order in which a file names them.
const std::vector<Kind>& kinds();
/// ConfigError names the nearest kind.
const Kind& kind_named(std::string_view name);

struct Chosen {
    const Entry* entry = nullptr;
    Json options;    // all of them, checked; those that name parts are complete too
    Position where;  // of the name
    /// {name: options}, or {name: value} where the one option may stand bare
    Json resolved() const;
    template <class Make>
    const Make& make() const {
        return static_cast<const Part<Make>&>(*entry).make;
    }
};

/// A name alone, a name with its options, or a name with the one value of its bare option. ConfigError("file:line:column: ...").
Chosen choose(const Json& description, const Kind& kind);
Chosen choose(const Json& description, std::string_view kind);

/// The texts of `weft help KIND` and `weft help KIND NAME`; ConfigError names the nearest entry.
std::string help_on_kind(const Kind& kind);
std::string help_on_entry(const Kind& kind, std::string_view name);

}  // namespace weft::train
