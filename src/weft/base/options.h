// Options that a thing takes by name, declared once: from the declaration follow the check of what a user wrote, the
// defaults, and the help. Callers: data/ and train/ (every registry whose entries take options).
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/json.h"

namespace weft {

struct Option {
    std::string name;
    Json fallback;  // the value if the user gives none; its kind is the kind that the option takes
    std::string doc;
    bool required = false;
    Json::Kind kind = Json::Kind::null;                       // what it takes if there is no fallback; null: anything
    std::vector<std::string> choices = {};                    // of a string: what it may be
    double least = -std::numeric_limits<double>::infinity();  // of an integer or a number, both included
    double most = std::numeric_limits<double>::infinity();
    bool several = false;      // an integer within the range, or a list of them, or one of the choices
    std::string also = {};     // the kind of thing whose name, or name with options, may stand here instead: "schedule"
    std::string list_of = {};  // a list of things of this kind may stand here
    std::string map_of = {};   // a mapping of names to things of this kind; beside list_of, to lists of them
    std::vector<Option> keys = {};  // of a mapping, or of each mapping in a list: what it holds
    bool brief = false;             // left out of the complete options unless it is given
};

/// The user's options, checked, with every option that was left out at its fallback, in the order of the declaration.
/// `given` may be null: nothing given. ConfigError: an unknown name (with the nearest known one), another kind, a
/// missing option.
Json complete(const Json& given, const std::vector<Option>& options, std::string_view what);

/// A line an option: "  size  how many pictures (integer >= 1; default 10000)".
std::string help_on(const std::vector<Option>& options);

}  // namespace weft
