// The writer of JSON.
#include <charconv>
#include <cmath>
#include <utility>

#include "weft/base/json.h"
#include "weft/base/utf8.h"

namespace weft {
namespace {

void write_string(std::string& out, std::string_view value) {
    static constexpr char hex[] = "0123456789abcdef";
    out.push_back('"');
    while (!value.empty()) {
        unsigned char c = static_cast<unsigned char>(value[0]);
        std::size_t length = utf8_length(value);
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(value[0]);
        } else if (c == '\n') {
            out.append("\\n");
        } else if (c == '\t') {
            out.append("\\t");
        } else if (c < 0x20 || c == 0x7f) {
            out.append("\\u00");
            out.push_back(hex[c >> 4]);
            out.push_back(hex[c & 15]);
        } else if (length == 0) {
            append_utf8(out, 0xfffd);  // no valid UTF-8: a file name, say; the reader must still get valid JSON
        } else {
            out.append(value.substr(0, length));
        }
        value.remove_prefix(length ? length : 1);
    }
    out.push_back('"');
}

void write_number(std::string& out, double value) {
    if (std::isnan(value)) return write_string(out, "NaN");
    if (std::isinf(value)) return write_string(out, value > 0 ? "Infinity" : "-Infinity");
    char digits[32];
    auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    std::string_view shortest(digits, static_cast<std::size_t>(end - digits));
    out.append(shortest);
    if (shortest.find_first_of(".e") == std::string_view::npos) out.append(".0");
}

struct Writer {
    std::string& out;
    int indent;

    void new_line(int depth) const {
        out.push_back('\n');
        out.append(static_cast<std::size_t>(indent * depth), ' ');
    }
    void before_item(bool first, int depth) const {
        if (!first) out.append(indent ? "," : ", ");
        if (indent) new_line(depth);
    }
    void write(const Json& value, int depth) const {
        switch (value.kind()) {
            case Json::Kind::null:
                out.append("null");
                return;
            case Json::Kind::boolean:
                out.append(value.as_bool() ? "true" : "false");
                return;
            case Json::Kind::integer:
                out.append(std::to_string(value.as_integer()));
                return;
            case Json::Kind::number:
                return write_number(out, value.as_number());
            case Json::Kind::string:
                return write_string(out, value.as_string());
            case Json::Kind::array:
                return write_array(value, depth);
            case Json::Kind::object:
                return write_object(value, depth);
        }
    }
    void write_array(const Json& value, int depth) const {
        bool first = true;
        out.push_back('[');
        for (const Json& item : value.items()) {
            before_item(std::exchange(first, false), depth + 1);
            write(item, depth + 1);
        }
        if (indent && !first) new_line(depth);
        out.push_back(']');
    }
    void write_object(const Json& value, int depth) const {
        bool first = true;
        out.push_back('{');
        for (const Json::Member& member : value.members()) {
            before_item(std::exchange(first, false), depth + 1);
            write_string(out, member.key);
            out.append(": ");
            write(member.value, depth + 1);
        }
        if (indent && !first) new_line(depth);
        out.push_back('}');
    }
};

}  // namespace

std::string json_text(const Json& value, int indent) {
    std::string out;
    Writer{out, indent}.write(value, 0);
    return out;
}

}  // namespace weft
