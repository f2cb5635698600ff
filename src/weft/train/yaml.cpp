#include "weft/train/yaml.h"

#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/train/config.h"

#if WEFT_HAVE_YAML
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <sstream>
#endif

namespace weft::train {

#if WEFT_HAVE_YAML
namespace {

/// What most often lies behind yaml-cpp's words, and how to mend it.
std::string_view way_out(std::string_view message) {
    struct Hint {
        std::string_view begins, says;
    };
    static constexpr Hint hints[] = {
        {"illegal flow end", "; a ']' or '}' here closes what another bracket opened"},
        {"illegal tab", "; indent with spaces"},
        {"illegal map value",
         "; a name needs ': ' behind it (perhaps on the line before), a text that holds ': ' needs quotes"},
        {"end of map flow not found",
         "; a '}' is missing, or a quote, or ${...} inside {...} is not in quotes: {units: \"${width}\"}"},
        {"end of sequence flow not found", "; a ']' is missing, or a quote, or ${...} inside [...] is not in quotes"},
        {"the referenced anchor is not defined", "; &name in front of a value makes one, before *name repeats it"},
        {"end of map not found", "; the keys of one mapping begin in the same column"},
        {"end of sequence not found", "; the entries of one list begin in the same column, with '- '"},
        {"unknown escape character", "; in \"...\" a backslash is written \\\\, in '...' as it is"},
    };
    for (const Hint& hint : hints) {
        if (message.starts_with(hint.begins)) return hint.says;
    }
    return "";
}

bool is_indented_by_tab(std::string_view source, int line) {
    for (; line > 0; --line) {
        if (source.find('\n') == source.npos) return false;
        source.remove_prefix(source.find('\n') + 1);
    }
    std::size_t first = source.find_first_not_of(' ');
    return first != source.npos && source[first] == '\t';
}

/// Builds the tree from yaml-cpp's events: these carry every place, and duplicate keys that a finished tree would hide.
class TreeBuilder : public YAML::EventHandler {
  public:
    TreeBuilder(std::string_view name, std::string_view source)
        : file_(std::make_shared<const std::string>(name)), unseen_(source) {}

    Json take() { return std::move(root_); }
    Position start() const { return position(start_); }
    Position position(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

    void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { finish(Json(), mark, anchor); }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        bool plain = tag.empty() || tag == "?";
        if (!plain) check_closed(mark);
        if (!plain && tag != "!" && tag != "tag:yaml.org,2002:str") refuse_tag(tag, mark);
        Json scalar = plain && !expects_key() ? plain_scalar(value) : Json(value);
        if (plain) scalar.set_source(value);
        finish(std::move(scalar), mark, anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        auto known = anchors_.find(anchor);
        if (known == anchors_.end()) throw ConfigError(text(position(mark), "this alias stands inside its own anchor"));
        Json copy = known->second;
        finish(std::move(copy), mark, 0);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(false, mark, tag, anchor);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(true, mark, tag, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

  private:
    struct Open {
        bool mapping = false;
        YAML::Mark mark;
        YAML::anchor_t anchor = 0;
        std::vector<Json> items;
        std::vector<Json::Member> members;
        std::optional<Json::Member> key;  // read, its value not yet
    };
    static constexpr std::size_t most_values = 1'000'000, deepest = 200;

    bool expects_key() const { return !stack_.empty() && stack_.back().mapping && !stack_.back().key; }
    /// yaml-cpp takes the end of a file for the end of a quoted text.
    void check_closed(const YAML::Mark& mark) {
        for (; seen_lines_ < mark.line && !unseen_.empty(); ++seen_lines_)
            unseen_.remove_prefix(std::min(unseen_.find('\n'), unseen_.size() - 1) + 1);
        std::string_view rest = unseen_;
        rest.remove_prefix(std::min(static_cast<std::size_t>(mark.column), rest.size()));  // columns count bytes
        char quote = rest.empty() ? ' ' : rest[0];
        if (quote != '\'' && quote != '"') return;
        for (std::size_t i = 1; i < rest.size(); ++i) {
            if (quote == '"' && rest[i] == '\\')
                ++i;
            else if (rest[i] == quote)
                return;
        }
        throw ConfigError(text(position(mark), "the quote that opens here is not closed"));
    }
    [[noreturn]] void refuse_tag(const std::string& tag, const YAML::Mark& mark) const {
        throw ConfigError(text(position(mark), "the tag '", tag, "' is not taken: a file holds data, never code"));
    }
    void open(bool mapping, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(tag, mark);
        if (expects_key())
            throw ConfigError(text(position(mark),
                                   "a key is a plain name, not a list or a mapping (perhaps a bracket is not closed)"));
        if (stack_.size() >= deepest) throw ConfigError(text(position(mark), "nested more than ", deepest, " deep"));
        stack_.emplace_back();
        stack_.back().mapping = mapping;
        stack_.back().mark = mark;
        stack_.back().anchor = anchor;
    }
    void close() {
        Open closed = std::move(stack_.back());
        stack_.pop_back();
        Json value = closed.mapping ? Json::object(std::move(closed.members)) : Json::array(std::move(closed.items));
        finish(std::move(value), closed.mark, closed.anchor);
    }
    static std::size_t count(const Json& value) {
        std::size_t total = 1;
        if (value.is_array())
            for (const Json& item : value.items()) total += count(item);
        if (value.is_object())
            for (const Json::Member& member : value.members()) total += count(member.value);
        return total;
    }
    void finish(Json value, const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (value.where().line == 0) value.set_where(position(mark));
        if (anchor) anchors_[anchor] = value;
        values_ += value.is_array() || value.is_object() ? count(value) : 1;
        if (values_ > most_values) throw ConfigError(text(position(mark), "more than ", most_values, " values"));
        if (stack_.empty()) {
            root_ = std::move(value);
            return;
        }
        Open& top = stack_.back();
        if (!top.mapping) return top.items.push_back(std::move(value));
        if (top.key) {
            top.key->value = std::move(value);
            top.members.push_back(std::move(*top.key));
            return top.key.reset();
        }
        if (!value.is_string()) throw ConfigError(text(position(mark), "a key is a name, found ", value.describe()));
        if (value.as_string() == "<<")
            throw ConfigError(
                text(position(mark),
                     "'<<' is no key here: YAML 1.2 merges no mappings; `include: FILE` lays this file over "
                     "another one, and `let:` gives values names"));
        for (const Json::Member& member : top.members) {
            if (member.key != value.as_string()) continue;
            throw ConfigError(text(position(mark), "'", member.key, "' stands twice; first at ", member.where.str()));
        }
        top.key = Json::Member{value.as_string(), Json(), position(mark)};
    }

    std::shared_ptr<const std::string> file_;
    std::string_view unseen_;  // from the line on that was looked at last: places only go forward
    int seen_lines_ = 0;
    Json root_;
    YAML::Mark start_;
    std::vector<Open> stack_;
    std::map<YAML::anchor_t, Json> anchors_;
    std::size_t values_ = 0;
};

}  // namespace

Json parse_yaml(std::string_view source, std::string_view name) {
    TreeBuilder builder(name, source);
    try {
        std::istringstream stream{std::string(source)};
        YAML::Parser parser(stream);
        if (!parser.HandleNextDocument(builder)) {
            Json nothing;
            nothing.set_where({std::make_shared<const std::string>(name), 1, 1});
            return nothing;
        }
        Json tree = builder.take();
        TreeBuilder second(name, source);
        if (parser.HandleNextDocument(second))
            throw ConfigError(
                text(second.start(), "a second document begins; a file holds one, so leave out the '---'"));
        return tree;
    } catch (const YAML::Exception& error) {
        bool tab = is_indented_by_tab(source, error.mark.line);
        throw ConfigError(text(builder.position(error.mark), error.msg,
                               tab ? "; the line begins with a tab: indent with spaces" : way_out(error.msg)));
    }
}

#else

Json parse_yaml(std::string_view, std::string_view name) {
    throw ConfigError(text(name,
                           ": this build of weft reads JSON only, because yaml-cpp was not found when it was built; ",
                           "install libyaml-cpp-dev (apt-get install libyaml-cpp-dev) and build again, ",
                           "or write the same description as JSON"));
}

#endif

}  // namespace weft::train
