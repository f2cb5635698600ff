// The reader of JSON: recursive descent, its depth limited, every refusal with line and column.
#include <charconv>
#include <unordered_set>

#include "weft/base/error.h"
#include "weft/base/json.h"
#include "weft/base/utf8.h"

namespace weft {
namespace {

class Parser {
  public:
    Parser(std::string_view text, std::string_view name, JsonLimits limits)
        : text_(text), file_(std::make_shared<const std::string>(name)), limits_(limits) {}

    Json document() {
        Json value = this->value(0);
        skip_space();
        if (at_ < text_.size()) fail(weft::text("expected the end, found ", found()));
        return value;
    }

  private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool ended() const { return at_ >= text_.size(); }
    Position here() const { return {file_, line_, static_cast<int>(at_ - line_start_) + 1}; }
    [[noreturn]] void fail(const std::string& what) const { throw FileError(weft::text(here(), what)); }

    std::string found() const {
        if (ended()) return "the end of the text";
        std::size_t length = utf8_length(text_.substr(at_));
        unsigned char byte = static_cast<unsigned char>(text_[at_]);
        if (length == 0 || byte < 0x20 || byte == 0x7f) return weft::text("a byte of value ", static_cast<int>(byte));
        return weft::text("'", text_.substr(at_, length), "'");
    }

    void skip_space() {
        for (; !ended(); ++at_) {
            char c = text_[at_];
            if (c == '\n') {
                ++line_;
                line_start_ = at_ + 1;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                return;
            }
        }
    }

    Json value(int depth) {
        skip_space();
        Position where = here();
        std::size_t start = at_;
        Json value = read(depth);
        value.set_where(std::move(where));
        bool is_scalar = !value.is_array() && !value.is_object();
        if (is_scalar) value.set_source(std::string(text_.substr(start, at_ - start)));
        return value;
    }

    Json read(int depth) {
        switch (peek()) {
            case '{':
                return object(depth + 1);
            case '[':
                return array(depth + 1);
            case '"':
                return Json(string());
            case 't':
                return word("true", Json(true));
            case 'f':
                return word("false", Json(false));
            case 'n':
                return word("null", Json());
            default:
                break;
        }
        if (peek() == '-' || (peek() >= '0' && peek() <= '9')) return number();
        fail(weft::text("expected a value, found ", found()));
    }

    Json word(std::string_view word, Json value) {
        if (text_.substr(at_, word.size()) != word) fail(weft::text("expected '", word, "'"));
        at_ += word.size();
        return value;
    }

    void enter(int depth) {
        if (depth > limits_.depth) fail(weft::text("values are nested more than ", limits_.depth, " deep"));
        ++at_;
        skip_space();
    }

    /// After an item: true if another follows, false if the closing bracket was taken.
    bool more(char close) {
        skip_space();
        if (peek() != ',' && peek() != close) fail(weft::text("expected ',' or '", close, "', found ", found()));
        return text_[at_++] == ',';
    }

    Json array(int depth) {
        std::vector<Json> items;
        enter(depth);
        if (peek() == ']') return ++at_, Json::array();
        do items.push_back(value(depth));
        while (more(']'));
        return Json::array(std::move(items));
    }

    Json object(int depth) {
        std::vector<Json::Member> members;
        std::unordered_set<std::string> keys;
        enter(depth);
        if (peek() == '}') return ++at_, Json::object();
        do {
            skip_space();
            if (peek() != '"') fail(weft::text("expected a key in quotes, found ", found()));
            Position where = here();
            std::string key = string();
            if (!keys.insert(key).second) throw FileError(weft::text(where, "the key '", key, "' stands there twice"));
            skip_space();
            if (peek() != ':') fail(weft::text("expected ':' after the key '", key, "', found ", found()));
            ++at_;
            members.push_back({std::move(key), value(depth), std::move(where)});
        } while (more('}'));
        return Json::object(std::move(members));
    }

    std::string string() {
        std::string out;
        for (++at_; peek() != '"' || ended();) {
            if (ended()) fail("a string has no closing quote");
            if (peek() == '\\') {
                escape(out);
                continue;
            }
            if (static_cast<unsigned char>(peek()) < 0x20)
                fail("a string holds a control character; write it as \\u00xx");
            std::size_t length = utf8_length(text_.substr(at_));
            if (length == 0) fail("a string is not valid UTF-8");
            out.append(text_.substr(at_, length));
            at_ += length;
        }
        ++at_;
        return out;
    }

    void escape(std::string& out) {
        static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (letter == 'u') return append_utf8(out, escaped_code());
        std::size_t which = letters.find(letter);
        if (letter == '\0' || which == std::string_view::npos) fail("unknown escape in a string");
        out.push_back(meanings[which]);
        at_ += 2;
    }

    std::uint32_t escaped_code() {
        std::uint32_t code = hex4();
        if (code >= 0xdc00 && code < 0xe000) fail("a low surrogate without its high one");
        if (code < 0xd800 || code >= 0xe000) return code;
        if (text_.substr(at_, 2) != "\\u") fail("a high surrogate without its low one");
        std::uint32_t low = hex4();
        if (low < 0xdc00 || low >= 0xe000) fail("a high surrogate without its low one");
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }

    std::uint32_t hex4() {
        std::uint32_t code = 0;
        std::string_view digits = text_.substr(at_ + 2, 4);
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() != 4 || end != digits.data() + 4) fail("\\u needs four hexadecimal digits");
        at_ += 6;
        return code;
    }

    void digits(const char* after) {
        if (peek() < '0' || peek() > '9') fail(weft::text("expected a digit after ", after, ", found ", found()));
        while (peek() >= '0' && peek() <= '9') ++at_;
    }

    Json number() {
        std::size_t start = at_;
        bool whole = true;
        if (peek() == '-') ++at_;
        bool zero = peek() == '0';
        std::size_t first = at_;
        digits("'-'");
        if (zero && at_ > first + 1) fail("a number has leading zeros");
        if (peek() == '.') {
            whole = false;
            ++at_;
            digits("'.'");
        }
        if (peek() == 'e' || peek() == 'E') {
            whole = false;
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            digits("the exponent");
        }
        return convert(text_.substr(start, at_ - start), whole);
    }

    Json convert(std::string_view digits, bool whole) const {
        const char* end = digits.data() + digits.size();
        std::int64_t integer = 0;
        if (whole && std::from_chars(digits.data(), end, integer).ec == std::errc()) return Json(integer);
        double number = 0;
        if (std::from_chars(digits.data(), end, number).ec != std::errc()) {
            fail(weft::text("the number ", digits, " lies outside float64's range"));
        }
        return Json(number);
    }

    std::string_view text_;
    std::shared_ptr<const std::string> file_;
    JsonLimits limits_;
    std::size_t at_ = 0, line_start_ = 0;
    int line_ = 1;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name, JsonLimits limits) {
    return Parser(text, name, limits).document();
}

}  // namespace weft
