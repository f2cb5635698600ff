#include "weft/cli/arguments.h"

#include <algorithm>
#include <charconv>

#include "weft/base/error.h"
#include "weft/base/nearest.h"

namespace weft::cli {

std::optional<std::string> Arguments::value(std::string_view flag) const {
    auto found = values_.find(flag);
    return found == values_.end() ? std::nullopt : std::optional<std::string>(found->second.back());
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
    auto found = values_.find(flag);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<std::int64_t> Arguments::integer(std::string_view flag, std::int64_t least) const {
    std::optional<std::string> word = value(flag);
    if (!word) return std::nullopt;
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), number);
    if (error != std::errc() || end != word->data() + word->size() || number < least) {
        throw ConfigError(text("--", flag, ": expected an integer of ", least, " or more, found '", *word, "'"));
    }
    return number;
}

std::optional<double> Arguments::number(std::string_view flag) const {
    std::optional<std::string> word = value(flag);
    if (!word) return std::nullopt;
    double number = 0;
    auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), number);
    if (error != std::errc() || end != word->data() + word->size())
        throw ConfigError(text("--", flag, ": expected a number, found '", *word, "'"));
    return number;
}

Arguments Command::parse(std::span<const std::string> typed) const {
    Arguments result;
    bool flags_end = false;
    for (std::size_t i = 0; i < typed.size(); ++i) {
        const std::string& word = typed[i];
        if (flags_end || word.size() < 2 || word[0] != '-') {
            result.words_.push_back(word);
            continue;
        }
        if (word == "--") {
            flags_end = true;
            continue;
        }
        std::size_t equals = word.find('=');
        std::string given = word.substr(0, equals);
        auto flag =
            std::find_if(flags.begin(), flags.end(), [&](const Flag& known) { return "--" + known.name == given; });
        if (flag == flags.end()) {
            std::vector<std::string> names;
            for (const Flag& known : flags) names.push_back("--" + known.name);
            std::vector<std::string_view> views(names.begin(), names.end());
            throw ConfigError(text("weft ", name, ": unknown option '", given, "'", did_you_mean(given, views)));
        }
        if (flag->value.empty() && equals != word.npos)
            throw ConfigError(text("weft ", name, ": ", given, " takes no value"));
        std::string value = equals == word.npos ? "" : word.substr(equals + 1);
        if (!flag->value.empty() && equals == word.npos) {
            if (++i == typed.size())
                throw ConfigError(text("weft ", name, ": ", given, " takes a value: ", given, " ", flag->value));
            value = typed[i];
        }
        std::vector<std::string>& values = result.values_[flag->name];
        if (!values.empty() && !flag->repeated) throw ConfigError(text("weft ", name, ": ", given, " stands twice"));
        values.push_back(value);
    }
    std::size_t count = result.words_.size();
    if (count < least_words) throw ConfigError(text("weft ", name, ": ", words, " is missing\n", usage()));
    if (count > most_words)
        throw ConfigError(text("weft ", name, ": '", result.words_[most_words], "' is one word too many\n", usage()));
    return result;
}

std::string Command::usage() const {
    std::string out = text("usage: weft ", name, words.empty() ? "" : " ", words);
    for (const Flag& flag : flags) {
        out += text(" [--", flag.name, flag.value.empty() ? "" : " ", flag.value, "]", flag.repeated ? "..." : "");
    }
    return out;
}

std::string Command::help() const {
    std::size_t width = 0;
    auto shown = [](const Flag& flag) { return text("--", flag.name, flag.value.empty() ? "" : " ", flag.value); };
    for (const Flag& flag : flags) width = std::max(width, shown(flag).size());
    std::string out = text(usage(), "\n\n", doc, "\n");
    if (!flags.empty()) out += "\n";
    for (const Flag& flag : flags) {
        out += text("  ", shown(flag), std::string(width + 2 - shown(flag).size(), ' '), flag.doc, "\n");
    }
    return out;
}

}  // namespace weft::cli
