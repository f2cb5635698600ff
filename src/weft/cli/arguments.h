// What was typed behind a command, split into words and options by the command's declaration; usage and help follow from it too.
// Callers: cli/main.cpp and the commands.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

struct Flag {
    std::string name;   // without its dashes
    std::string value;  // what it takes, as "DIR"; empty: nothing
    std::string doc;
    bool repeated = false;
};

class Arguments {
  public:
    const std::vector<std::string>& words() const { return words_; }
    bool has(std::string_view flag) const { return values_.find(flag) != values_.end(); }
    std::optional<std::string> value(std::string_view flag) const;
    std::vector<std::string> values(std::string_view flag) const;
    /// The value as an integer of at least `least`; ConfigError else.
    std::optional<std::int64_t> integer(std::string_view flag, std::int64_t least) const;
    /// The value as a number; ConfigError else.
    std::optional<double> number(std::string_view flag) const;

  private:
    friend struct Command;
    std::vector<std::string> words_;
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct Command {
    std::string name;
    std::string words;  // what it takes besides flags, for the usage: "FILE"
    std::string doc;
    std::vector<Flag> flags;
    std::size_t least_words = 0, most_words = 0;
    int (*run)(const Arguments& arguments) = nullptr;  // the exit status

    /// ConfigError("weft train: unknown option '--quite'; did you mean '--quiet'?")
    Arguments parse(std::span<const std::string> typed) const;
    std::string usage() const;
    std::string help() const;
};

}  // namespace weft::cli
