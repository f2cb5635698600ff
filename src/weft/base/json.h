// A tree of plain values: null, truth, integers, numbers, strings, arrays, and objects that keep their order. It is
// what JSON holds, and what every other description of data (YAML, options) is read into. A value remembers where in
// which file it stood and, if it is a scalar, how it was written, so that a later check can point at the user's text.
// Callers: io/ (headers), data/ and train/ (options, experiment files, saved state, log.jsonl).
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft {

/// A place in a text, counted from 1; line 0 if the value was made by a program.
struct Position {
    std::shared_ptr<const std::string> file;
    int line = 0, column = 0;
    /// "file:3:14", or "" if there is none.
    std::string str() const;
};
/// "file:3:14: ", or nothing for a place that is not known: what a message begins with.
std::ostream& operator<<(std::ostream& out, const Position& position);

class Json {
  public:
    enum class Kind : std::uint8_t { null, boolean, integer, number, string, array, object };
    struct Member;

    Json() = default;
    Json(std::nullptr_t) {}
    Json(std::string value) : kind_(Kind::string), string_(std::move(value)) {}
    Json(std::string_view value) : Json(std::string(value)) {}
    Json(const char* value) : Json(std::string(value)) {}
    /// Integers beyond int64 become numbers.
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Json(T value) {
        if constexpr (std::is_same_v<T, bool>) {
            kind_ = Kind::boolean, integer_ = value;
        } else if constexpr (std::is_floating_point_v<T>) {
            kind_ = Kind::number, number_ = static_cast<double>(value);
        } else if (std::is_unsigned_v<T> && static_cast<std::uint64_t>(value) > INT64_MAX) {
            kind_ = Kind::number, number_ = static_cast<double>(value);
        } else {
            kind_ = Kind::integer, integer_ = static_cast<std::int64_t>(value);
        }
    }
    static Json array(std::vector<Json> items = {});
    static Json object(std::vector<Member> members = {});

    Kind kind() const { return kind_; }
    bool is_null() const { return kind_ == Kind::null; }
    bool is_bool() const { return kind_ == Kind::boolean; }
    bool is_integer() const { return kind_ == Kind::integer; }
    bool is_number() const { return kind_ == Kind::number || kind_ == Kind::integer; }
    bool is_string() const { return kind_ == Kind::string; }
    bool is_array() const { return kind_ == Kind::array; }
    bool is_object() const { return kind_ == Kind::object; }

    // Each throws ConfigError("file:line:column: expected an integer, found the string 'ten'") if the value is of
    // another kind.
    bool as_bool() const;
    std::int64_t as_integer() const;
    /// Integers too, and the strings "NaN", "Infinity" and "-Infinity", as which such numbers are written.
    double as_number() const;
    const std::string& as_string() const;
    const std::vector<Json>& items() const;
    const std::vector<Member>& members() const;

    /// Of an array or an object; 0 for a scalar.
    std::size_t size() const;
    /// The member of this name, or nothing.
    const Json* find(std::string_view key) const;
    Json* find(std::string_view key);
    /// The member of this name; ConfigError names the nearest there is.
    const Json& at(std::string_view key) const;
    /// Of an array; ConfigError if it has fewer.
    const Json& item(std::size_t index) const;
    /// The member of this name, made (null) if there is none; a null becomes an object.
    Json& operator[](std::string_view key);
    /// A null becomes an array.
    void push_back(Json item);

    const Position& where() const { return where_; }
    void set_where(Position where) { where_ = std::move(where); }
    /// A scalar as it was written ("1e-3", "007"); empty if a program made it.
    const std::string& source() const { return source_; }
    void set_source(std::string source) { source_ = std::move(source); }

    /// The value in words, for messages: "the string 'ten'", "an array of 3".
    std::string describe() const;
    /// Throws ConfigError: where the value stood, then `what`.
    [[noreturn]] void refuse(const std::string& what) const;
    /// Same kinds and values in the same order; where they stood does not matter.
    friend bool operator==(const Json& a, const Json& b);

  private:
    Kind kind_ = Kind::null;
    std::int64_t integer_ = 0;  // also a truth value
    double number_ = 0;
    std::string string_;
    std::vector<Json> items_;
    std::vector<Member> members_;
    Position where_;
    std::string source_;
};

struct Json::Member {
    std::string key;
    Json value;
    Position where;  // of the key
};

struct JsonLimits {
    int depth = 200;  // arrays and objects inside each other
};

/// Reads one JSON value (RFC 8259), strictly: no comments, no trailing commas, no duplicate keys, valid UTF-8.
/// FileError("name:line:column: what is wrong").
Json parse_json(std::string_view text, std::string_view name = "json", JsonLimits limits = {});

/// The value as JSON. `indent` 0: on one line, as in {"epoch": 3, "loss": 0.5}; else a member a line, so many spaces a
/// level. Numbers are the shortest text that reads back as the same bits; a number never loses its kind (1.0
/// stays 1.0). JSON has no NaN and no infinities: they are written as the strings "NaN", "Infinity", "-Infinity".
std::string json_text(const Json& value, int indent = 0);

}  // namespace weft
