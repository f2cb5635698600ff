// A JSON schema (json-schema.org, draft 2020-12) of experiments, for editors: made of the same declarations as checks and help, so it
// knows every key, every part by name, its options, their types, ranges, defaults and docs. Callers: cli/help.cpp, tests.
#pragma once

#include "weft/base/json.h"

namespace weft::train {

Json experiment_schema();

}  // namespace weft::train
