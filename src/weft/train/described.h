// An experiment written in a program instead of a file, with the names of the file: part("model", "linear", 10) is what `{linear: 10}` is
// there, so checks, defaults and messages are the same; in place of file, line and column they name the line of the program. What was
// written so can be written out (Experiment::yaml), and a file's run and a program's have the same bytes.
// Callers: users' programs, the Python package (wf.experiment).
#pragma once

#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "weft/base/json.h"

namespace weft::train {

/// A mapping, as in keys({{"units", 10}, {"bias", false}}).
Json keys(std::initializer_list<std::pair<std::string_view, Json>> members);

/// What a file names by `name` where a part of this kind stands (`weft help`): "model", "cost", "optimizer", ... `options`: a mapping of them,
/// the one value that stands for itself (10 in `linear: 10`), or nothing. ConfigError as of a file, with the place of the caller.
Json part(std::string_view kind, std::string_view name, Json options = {},
          std::source_location where = std::source_location::current());

/// The same value, in which all that has no place yet stands at the caller's.
Json placed(Json value, std::source_location where = std::source_location::current());

}  // namespace weft::train
