#include "weft/train/variables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/train/config.h"
#include "weft/train/expression.h"

namespace weft::train {
namespace {

constexpr std::size_t most_values = 1'000'000, most_shown = 60;
constexpr std::string_view env_prefix = "env:";

std::vector<std::string_view> names_in(const Json& value) {
    std::vector<std::string_view> names;
    if (!value.is_object()) return names;
    for (const Json::Member& member : value.members()) names.push_back(member.key);
    return names;
}

std::size_t values_in(const Json& value) {
    std::size_t total = 1;
    if (value.is_array())
        for (const Json& item : value.items()) total += values_in(item);
    if (value.is_object())
        for (const Json::Member& member : value.members()) total += values_in(member.value);
    return total;
}

class Substitution {
  public:
    /// `let`: a mapping.
    explicit Substitution(const Json& let) : let_(let) {
        for (const Json::Member& member : let_.members()) {
            if (!is_variable_name(member.key)) {
                throw ConfigError(
                    text(member.where, "'", member.key,
                         "' cannot name a variable: names are letters, digits and _, a letter first (and not 'env')"));
            }
        }
    }

    Json value(const Json& written) {
        count(1, written);
        if (written.is_string()) return of_text(written);
        if (written.is_array()) return of_list(written);
        if (written.is_object()) return of_mapping(written);
        return written;
    }
    /// Variables that nobody uses are looked at, too: a mistake in one is a mistake.
    void check_all() {
        for (const Json::Member& member : let_.members()) (void)variable(member.key);
    }

  private:
    void count(std::size_t more, const Json& written) {
        if ((values_ += more) > most_values)
            written.refuse(text("variables make more than ", most_values,
                                " values of this file; a variable holds too much, too often"));
    }
    Json of_list(const Json& written) {
        std::vector<Json> items;
        for (const Json& item : written.items()) items.push_back(value(item));
        Json list = Json::array(std::move(items));
        list.set_where(written.where());
        return list;
    }
    Json of_mapping(const Json& written) {
        std::vector<Json::Member> members;
        for (const Json::Member& member : written.members()) {
            if (member.key.find("${") != std::string::npos)
                throw ConfigError(
                    text(member.where, "'", member.key, "': a key is a plain name; ${...} may stand in values"));
            members.push_back({member.key, value(member.value), member.where});
        }
        Json mapping = Json::object(std::move(members));
        mapping.set_where(written.where());
        return mapping;
    }

    Json of_text(const Json& written) {
        const std::string& whole = written.as_string();
        if (whole.find("${") == std::string::npos) return written;
        std::string out;
        for (std::size_t at = 0; at < whole.size();) {
            std::size_t begin = whole.find("${", at);
            out += whole.substr(at, begin - at);
            if (begin == std::string::npos) break;
            if (begin > at && whole[begin - 1] == '$') {  // $${ is ${
                out += "{", at = begin + 2;
                continue;
            }
            std::size_t end = whole.find('}', begin);
            if (end == std::string::npos)
                written.refuse(text("'", whole.substr(0, most_shown), "': '}' is missing behind '${'"));
            Json one = evaluated(written, whole.substr(begin + 2, end - begin - 2));
            if (begin == 0 && end + 1 == whole.size()) return one;
            if (one.is_array() || one.is_object())
                written.refuse(text("'", whole, "': ", one.describe(), " cannot stand inside a text"));
            out += one.is_string() ? one.as_string() : json_text(one);
            at = end + 1;
        }
        Json result(out);
        result.set_where(written.where());
        return result;
    }

    /// What one ${...} comes to, said to stand where it is used.
    Json evaluated(const Json& written, std::string expression) {
        expression.erase(0, std::min(expression.find_first_not_of(' '), expression.size()));
        expression.erase(expression.find_last_not_of(' ') + 1);
        Json result;
        try {
            if (expression.starts_with(env_prefix))
                result = from_environment(std::string_view(expression).substr(env_prefix.size()));
            else
                result = evaluate(expression, [this](std::string_view name) { return named(name); });
        } catch (const ValueError& error) {
            if (expression.size() > most_shown) expression = expression.substr(0, most_shown) + "...";
            written.refuse(text("'${", expression, "}': ", error.what()));
        }
        count(values_in(result), written);  // it is copied
        result.set_where(written.where());
        if (result.is_number())
            result.set_source(text(json_text(result), " (of ${", expression, "}", hint(result, expression), ")"));
        return result;
    }

    /// Where an integer is expected, a quotient that is whole is still a number: as in Python.
    static std::string_view hint(const Json& result, std::string_view expression) {
        bool divides = expression.find('/') != expression.npos && expression.find("//") == expression.npos;
        bool whole = !result.is_integer() && result.as_number() == std::floor(result.as_number());
        return divides && whole ? "; '//' divides integers" : "";
    }

    static Json from_environment(std::string_view rest) {
        std::size_t otherwise = rest.find(":-");
        std::string name(rest.substr(0, otherwise));
        if (!is_variable_name(name)) {
            throw ValueError(text("'", name,
                                  "' cannot name a variable of the environment; it is written ${env:NAME} or ",
                                  "${env:NAME:-value}, and arithmetic goes through `let:`"));
        }
        if (std::optional<std::string> value = environment(name.c_str())) return plain_scalar(*value);
        if (otherwise != rest.npos) return plain_scalar(rest.substr(otherwise + 2));
        throw ValueError(text("the environment has no variable ", name,
                              "; set it, or give what holds without it: ${env:", name, ":-value}"));
    }

    /// A variable, or below it: "net.width".
    Json named(std::string_view path) {
        std::size_t dot = path.find('.');
        Json found = variable(path.substr(0, dot));
        while (dot != path.npos) {
            std::size_t next = path.find('.', dot + 1);
            std::string_view key = path.substr(dot + 1, next == path.npos ? next : next - dot - 1);
            const Json* below = found.find(key);
            if (!below)
                throw ValueError(
                    text("'", path, "': there is no '", key, "' in it", did_you_mean(key, names_in(found))));
            found = Json(*below);
            dot = next;
        }
        return found;
    }
    Json variable(std::string_view name) {
        if (auto known = known_.find(name); known != known_.end()) return known->second;
        const Json* written = let_.find(name);
        if (!written) {
            std::vector<std::string_view> names = names_in(let_);
            throw ValueError(
                text("there is no variable '", name, "'",
                     names.empty() ? text("; `let: {", name, ": VALUE}` makes one") : did_you_mean(name, names)));
        }
        if (std::find(open_.begin(), open_.end(), name) != open_.end()) {
            std::string circle;
            for (auto one = std::find(open_.begin(), open_.end(), name); one != open_.end(); ++one)
                circle += *one + " -> ";
            throw ValueError(
                text("variables need each other in a circle: ", circle, name, "; give one of them a plain value"));
        }
        open_.emplace_back(name);
        Json result = value(*written);
        open_.pop_back();
        return known_[std::string(name)] = result;
    }

    Json let_;
    std::map<std::string, Json, std::less<>> known_;
    std::vector<std::string> open_;  // variables whose values are being found
    std::size_t values_ = 0;
};

}  // namespace

Json with_variables(const Json& description) {
    if (!description.is_object()) return description;
    const Json* let = description.find("let");
    if (let && !let->is_null() && !let->is_object())
        let->refuse(text("`let:` is a mapping of names to values, as in {width: 500}; found ", let->describe()));
    Substitution substitution(let && !let->is_null() ? *let : Json::object());
    substitution.check_all();
    std::vector<Json::Member> others;
    for (const Json::Member& member : description.members()) {
        if (member.key != "let") others.push_back(member);
    }
    Json rest = Json::object(std::move(others));
    rest.set_where(description.where());
    return substitution.value(rest);
}

}  // namespace weft::train
