#include "weft/base/json.h"

#include <cmath>
#include <limits>
#include <utility>

#include "weft/base/error.h"
#include "weft/base/nearest.h"

namespace weft {
namespace {

std::string_view in_words(Json::Kind kind) {
    switch (kind) {
        case Json::Kind::null:
            return "nothing";
        case Json::Kind::boolean:
            return "true or false";
        case Json::Kind::integer:
            return "an integer";
        case Json::Kind::number:
            return "a number";
        case Json::Kind::string:
            return "a string";
        case Json::Kind::array:
            return "a list";
        case Json::Kind::object:
            return "a mapping";
    }
    __builtin_unreachable();
}

[[noreturn]] void refuse_kind(const Json& value, Json::Kind wanted) {
    value.refuse(text("expected ", in_words(wanted), ", found ", value.describe()));
}

}  // namespace

std::string Position::str() const {
    if (line == 0) return file ? *file : "";
    return text(file ? *file : "", file ? ":" : "", line, column ? text(":", column) : "");
}

std::ostream& operator<<(std::ostream& out, const Position& position) {
    std::string place = position.str();
    return place.empty() ? out : out << place << ": ";
}

Json Json::array(std::vector<Json> items) {
    Json value;
    value.kind_ = Kind::array;
    value.items_ = std::move(items);
    return value;
}

Json Json::object(std::vector<Member> members) {
    Json value;
    value.kind_ = Kind::object;
    value.members_ = std::move(members);
    return value;
}

bool Json::as_bool() const {
    if (!is_bool()) refuse_kind(*this, Kind::boolean);
    return integer_ != 0;
}

std::int64_t Json::as_integer() const {
    if (!is_integer()) refuse_kind(*this, Kind::integer);
    return integer_;
}

double Json::as_number() const {
    if (is_integer()) return static_cast<double>(integer_);
    if (is_string() && string_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (is_string() && string_ == "Infinity") return std::numeric_limits<double>::infinity();
    if (is_string() && string_ == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (kind_ != Kind::number) refuse_kind(*this, Kind::number);
    return number_;
}

const std::string& Json::as_string() const {
    if (!is_string()) refuse_kind(*this, Kind::string);
    return string_;
}

const std::vector<Json>& Json::items() const {
    if (!is_array()) refuse_kind(*this, Kind::array);
    return items_;
}

const std::vector<Json::Member>& Json::members() const {
    if (!is_object()) refuse_kind(*this, Kind::object);
    return members_;
}

std::size_t Json::size() const { return is_array() ? items_.size() : members_.size(); }

const Json* Json::find(std::string_view key) const {
    for (const Member& member : members_) {
        if (member.key == key) return &member.value;
    }
    return nullptr;
}

Json* Json::find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).find(key)); }

const Json& Json::at(std::string_view key) const {
    if (const Json* value = find(key)) return *value;
    std::vector<std::string_view> keys;
    for (const Member& member : members()) keys.push_back(member.key);
    refuse(text("'", key, "' is missing", did_you_mean(key, keys)));
}

const Json& Json::item(std::size_t index) const {
    if (index >= items().size()) refuse(text("item ", index, " is missing: the list has ", items_.size()));
    return items_[index];
}

Json& Json::operator[](std::string_view key) {
    if (is_null()) kind_ = Kind::object;
    if (!is_object()) refuse_kind(*this, Kind::object);
    if (Json* value = find(key)) return *value;
    members_.push_back({std::string(key), Json(), {}});
    return members_.back().value;
}

void Json::push_back(Json item) {
    if (is_null()) kind_ = Kind::array;
    if (!is_array()) refuse_kind(*this, Kind::array);
    items_.push_back(std::move(item));
}

std::string Json::describe() const {
    switch (kind_) {
        case Kind::null:
            return "nothing";
        case Kind::boolean:
            return integer_ ? "'true'" : "'false'";
        case Kind::integer:
            return text("the integer ", source_.empty() ? json_text(*this) : source_);
        case Kind::number:
            return text("the number ", source_.empty() ? json_text(*this) : source_);
        case Kind::string:
            return text("the string '", string_.size() > 60 ? string_.substr(0, 57) + "..." : string_, "'");
        case Kind::array:
            return text("a list of ", items_.size());
        case Kind::object:
            return members_.empty() ? "an empty mapping" : text("a mapping with '", members_[0].key, "'");
    }
    __builtin_unreachable();
}

void Json::refuse(const std::string& what) const { throw ConfigError(text(where_, what)); }

bool operator==(const Json& a, const Json& b) {
    if (a.kind_ != b.kind_ || a.string_ != b.string_ || a.integer_ != b.integer_) return false;
    bool same_number = a.number_ == b.number_ || (std::isnan(a.number_) && std::isnan(b.number_));
    if (!same_number || a.items_ != b.items_ || a.members_.size() != b.members_.size()) return false;
    for (std::size_t i = 0; i < a.members_.size(); ++i) {
        if (a.members_[i].key != b.members_[i].key || !(a.members_[i].value == b.members_[i].value)) return false;
    }
    return true;
}

}  // namespace weft
