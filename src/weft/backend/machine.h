// What this program runs on: the lines of `weft doctor` and of a report's environment. Callers: cli/, the Python package.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft {

/// An optional library: whether this build has it, its name, its package on Debian, and what is lost without it.
struct Library {
    bool found;
    std::string name, package, lost;
};
std::vector<Library> libraries();

/// A name and a value each: weft, compiler, processor, instructions, threads, libraries.
std::vector<std::pair<std::string, std::string>> machine();

}  // namespace weft
