#include "weft/train/config.h"

#include <charconv>
#include <limits>

#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/io/file.h"
#include "weft/train/yaml.h"

namespace weft::train {
namespace {

constexpr std::uint64_t most_config_bytes = 16 << 20;
constexpr std::size_t line_width = 100;

bool starts_like_json(std::string_view text) {
    std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

bool is_json_file(std::string_view name) { return name.size() > 5 && name.substr(name.size() - 5) == ".json"; }

/// Whether the word is an optional sign and then nothing but the characters of a number (yaml.org, 10.3.2).
bool looks_like_number(std::string_view word) {
    if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
    if (word.empty() || word.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return false;
    if (word[0] == '.') return word.size() > 1 && word[1] >= '0' && word[1] <= '9';
    return word[0] >= '0' && word[0] <= '9';
}

Json number_from(std::string_view word) {
    std::string_view digits = word[0] == '+' ? word.substr(1) : word;
    const char* end = digits.data() + digits.size();
    std::int64_t integer = 0;
    if (auto [at, error] = std::from_chars(digits.data(), end, integer); at == end && error == std::errc())
        return integer;
    double number = 0;
    if (auto [at, error] = std::from_chars(digits.data(), end, number); at == end && error == std::errc())
        return number;
    return std::string(word);
}

/// As json_text on one line, but exponents always stand behind a fraction: YAML 1.1 reads 5e-05 as a string.
std::string on_one_line(const Json& value) {
    if (value.kind() == Json::Kind::number) {
        std::string digits = json_text(value);
        std::size_t e = digits.find('e');
        if (e != digits.npos && digits[0] != '"' && digits.find('.') == digits.npos) digits.insert(e, ".0");
        return digits;
    }
    if (value.is_array()) {
        std::string out;
        for (const Json& item : value.items()) out += (out.empty() ? "" : ", ") + on_one_line(item);
        return "[" + out + "]";
    }
    if (value.is_object()) {
        std::string out;
        for (const Json::Member& member : value.members()) {
            out += (out.empty() ? "" : ", ") + json_text(Json(member.key)) + ": " + on_one_line(member.value);
        }
        return "{" + out + "}";
    }
    return json_text(value);
}

void write(std::string& out, const Json& value, std::size_t indent, bool open) {
    std::string line = on_one_line(value);
    if (!(open && value.size()) && indent + line.size() <= line_width) {
        out += line;
        return;
    }
    if (!value.size()) {
        out += line;
        return;
    }
    const std::string margin(indent + 2, ' ');
    const char* between = "";
    out += value.is_array() ? "[\n" : "{\n";
    if (value.is_array()) {
        for (const Json& item : value.items()) {
            out += between + margin;
            write(out, item, indent + 2, false);
            between = ",\n";
        }
    } else {
        for (const Json::Member& member : value.members()) {
            out += between + margin + json_text(Json(member.key)) + ": ";
            write(out, member.value, indent + 2, false);
            between = ",\n";
        }
    }
    out += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

}  // namespace

Json plain_scalar(std::string_view word) {
    if (word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL") return nullptr;
    if (word == "true" || word == "True" || word == "TRUE") return true;
    if (word == "false" || word == "False" || word == "FALSE") return false;
    if (word == ".nan" || word == ".NaN") return std::numeric_limits<double>::quiet_NaN();
    if (word == ".inf" || word == "+.inf") return std::numeric_limits<double>::infinity();
    if (word == "-.inf") return -std::numeric_limits<double>::infinity();
    return looks_like_number(word) ? number_from(word) : Json(std::string(word));
}

Json parse_config(std::string_view text, std::string_view name) {
    try {
        if (is_json_file(name)) return parse_json(text, name);
        if (starts_like_json(text)) {
            // JSON is YAML, so what is no JSON here may still be YAML (flow style).
            try {
                return parse_json(text, name);
            } catch (const FileError&) {
                if (!WEFT_HAVE_YAML) throw;
            }
        }
    } catch (const FileError& error) {
        throw ConfigError(error.what());
    }
    return parse_yaml(text, name);
}

Json load_config(const std::filesystem::path& path) {
    std::string text = io::read_file(path, most_config_bytes);
    return parse_config(text, path.string());
}

std::string config_text(const Json& config) {
    std::string out;
    write(out, config, 0, true);
    return out + "\n";
}

}  // namespace weft::train
