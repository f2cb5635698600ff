#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "weft/train/config.h"
#include "weft/train/yaml.h"

namespace weft::train {
namespace {

constexpr std::size_t widest_line = 100;

/// What YAML 1.1 takes for a truth value.
bool is_old_truth(std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    constexpr std::array<std::string_view, 6> words{"y", "n", "yes", "no", "on", "off"};
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words, paths and names of figures need no quotes; what else there is stands in JSON's.
std::string yaml_word(const std::string& word) {
    auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/'; };
    auto inside = [&](char c) { return plain(c) || c == '-' || c == '*' || c == ' '; };
    bool safe = !word.empty() && plain(word.front()) && plain(word.back()) &&
                std::all_of(word.begin(), word.end(), inside) && plain_scalar(word).is_string() && !is_old_truth(word);
    // Numbers of YAML 1.1 that are none of 1.2 (1_000, 0b1) begin with a digit or a dot.
    safe = safe && !std::isdigit(static_cast<unsigned char>(word.front())) && word.front() != '.';
    return safe ? word : json_text(Json(word));
}

std::string yaml_number(const Json& value) {
    double number = value.as_number();
    if (number != number) return ".nan";
    if (number - number != 0) return number > 0 ? ".inf" : "-.inf";
    std::string digits = json_text(value);
    std::size_t e = digits.find('e');  // YAML 1.1 reads 5e-05 as a string
    if (e != digits.npos && digits.find('.') == digits.npos) digits.insert(e, ".0");
    return digits;
}

std::string flow_text(const Json& value) {
    std::string out;
    if (value.is_array()) {
        for (const Json& item : value.items()) out += (out.empty() ? "" : ", ") + flow_text(item);
        return "[" + out + "]";
    }
    if (value.is_object()) {
        for (const Json::Member& member : value.members())
            out += (out.empty() ? "" : ", ") + yaml_word(member.key) + ": " + flow_text(member.value);
        return "{" + out + "}";
    }
    if (value.kind() == Json::Kind::number) return yaml_number(value);
    return value.is_string() ? yaml_word(value.as_string()) : json_text(value);
}

/// Behind "key:" or "-", which stands at `indent`.
void add_value(std::string& out, const Json& value, std::size_t indent);

/// `first`: the margin of the first line stands there already, behind a "-".
void add_members(std::string& out, const Json& value, std::size_t indent, bool first) {
    for (const Json::Member& member : value.members()) {
        if (!std::exchange(first, false)) out += std::string(indent, ' ');
        out += yaml_word(member.key) + ":";
        add_value(out, member.value, indent);
    }
}

void add_value(std::string& out, const Json& value, std::size_t indent) {
    std::string line = flow_text(value);
    if (!value.size() || indent + line.size() <= widest_line) {
        out += " " + line + "\n";
        return;
    }
    out += "\n";
    if (value.is_object()) return add_members(out, value, indent + 2, false);
    for (const Json& item : value.items()) {
        std::string short_item = flow_text(item);
        out += std::string(indent + 2, ' ') + "-";
        if (item.is_object() && item.size() && indent + 4 + short_item.size() > widest_line) {
            out += " ";
            add_members(out, item, indent + 4, true);
        } else if (item.is_object() && item.size() == 1) {  // - linear: {units: 10}
            out += " " + yaml_word(item.members()[0].key) + ": " + flow_text(item.members()[0].value) + "\n";
        } else {
            add_value(out, item, indent + 2);
        }
    }
}

}  // namespace

std::string yaml_text(const Json& value) {
    if (!value.is_object() || !value.size()) return flow_text(value) + "\n";
    std::string out;
    add_members(out, value, 0, false);
    return out;
}

}  // namespace weft::train
