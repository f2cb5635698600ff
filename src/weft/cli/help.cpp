// weft help: the commands, one command, the keys of an experiment, one kind of parts, one part. Everything printed follows from
// declarations.
#include <algorithm>
#include <iostream>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/cli/commands.h"
#include "weft/train/experiment.h"
#include "weft/train/schema.h"

namespace weft::cli {
namespace {

void print_overview() {
    std::size_t width = 0;
    for (const Command& command : commands()) width = std::max(width, command.name.size() + 1 + command.words.size());
    std::cout << "weft: trains neural networks, from a file to a trained network and its report\n\n";
    for (const Command& command : commands()) {
        std::string head = text("weft ", command.name, command.words.empty() ? "" : " ", command.words);
        std::cout << head << std::string(width + 7 - head.size(), ' ') << command.doc << "\n";
    }
    std::cout
        << "weft --version\n\nWhat a file can name: `weft help experiment`, and `weft help KIND`, where KIND is one of";
    for (const train::Kind& kind : train::kinds()) std::cout << " " << kind.name;
    std::cout << ".\nExit status: 0 done, 2 the input was wrong, 3 it failed while running, 130 interrupted, with a "
                 "checkpoint written.\n";
}

}  // namespace

int help(const Arguments& arguments) {
    const std::vector<std::string>& words = arguments.words();
    if (words.empty()) {
        print_overview();
        return done;
    }
    if (words[0] == "experiment") {
        std::cout << train::help_on_experiment();
        return done;
    }
    std::vector<std::string_view> names{"experiment"};
    // `data` is a command, and a kind of what a file names: both are shown.
    bool found = false;
    for (const Command& command : commands()) {
        names.push_back(command.name);
        if (words.size() == 2 || command.name != words[0]) continue;
        std::cout << command.help();
        found = true;
    }
    for (const train::Kind& kind : train::kinds()) {
        names.push_back(kind.name);
        if (kind.name != words[0]) continue;
        if (words.size() == 2)
            std::cout << train::help_on_entry(kind, words[1]);
        else
            std::cout << (found ? "\nIn an experiment's file:\n\n" : "") << train::help_on_kind(kind);
        found = true;
    }
    if (found) return done;
    throw ConfigError(text("weft help: unknown topic '", words[0], "'", did_you_mean(words[0], names)));
}

int schema(const Arguments&) {
    std::cout << json_text(train::experiment_schema(), 1) << "\n";
    return done;
}

}  // namespace weft::cli
