// The commands of the program, one function each: takes what was typed, returns the exit status, throws the library's errors.
// Callers: cli/main.cpp, which lists them.
#pragma once

#include "weft/base/error.h"
#include "weft/base/json.h"
#include "weft/cli/arguments.h"

namespace weft::cli {

inline constexpr int done = 0, wrong_input = 2, failed = 3, interrupted = 130;

int train(const Arguments& arguments);
int resume(const Arguments& arguments);
int evaluate(const Arguments& arguments);
int likelihood(const Arguments& arguments);
int sample(const Arguments& arguments);
int predict(const Arguments& arguments);
int sweep(const Arguments& arguments);
int cross_validate(const Arguments& arguments);
int show(const Arguments& arguments);
int monitor(const Arguments& arguments);
int plot(const Arguments& arguments);
int diff(const Arguments& arguments);
int serve(const Arguments& arguments);
int data(const Arguments& arguments);
int explain(const Arguments& arguments);
int doctor(const Arguments& arguments);
int help(const Arguments& arguments);
int schema(const Arguments& arguments);

/// A file that was named, and is not there or damaged, is the input's mistake.
template <class F>
auto as_input(F f) {
    try {
        return f();
    } catch (const FileError& error) {
        throw ConfigError(error.what());
    }
}

/// All of them; help.cpp prints the list, main.cpp runs one.
const std::vector<Command>& commands();

/// What --set and --seed change.
std::vector<std::string> assignments_of(const Arguments& arguments);
/// The experiment that the first word names, with --set and --seed applied.
Json read_description(const Arguments& arguments);

/// Flags that choose how to compute; refuses a device that is not there.
void use_machine(const Arguments& arguments);

}  // namespace weft::cli
