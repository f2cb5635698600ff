#include "weft/runtime/debug.h"

#include <sstream>

#include "weft/base/environment.h"
#include "weft/base/nearest.h"

namespace weft {
namespace {

DebugModes parse(std::string_view names) {
    DebugModes modes;
    std::istringstream list{std::string(names)};
    for (std::string name; std::getline(list, name, ',');) {
        if (name == "nan")
            modes.nan = true;
        else if (name == "rewrites")
            modes.rewrites = true;
        else if (name == "trace")
            modes.trace = true;
        else
            throw ValueError(
                text("WEFT_DEBUG: there is no mode '", name, "'", did_you_mean(name, {"nan", "rewrites", "trace"})));
    }
    return modes;
}

DebugModes& modes() {
    static DebugModes modes = parse(environment("WEFT_DEBUG").value_or(""));
    return modes;
}

}  // namespace

const DebugModes& debug_modes() { return modes(); }
void debug(std::string_view names) { modes() = parse(names); }

}  // namespace weft
