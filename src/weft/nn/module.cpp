#include "weft/nn/module.h"

#include <algorithm>
#include <set>

#include "weft/base/nearest.h"

namespace weft::nn {
namespace {

void give_name(Parameter& parameter, const std::string& path) {
    const std::string& name = parameter.name();
    if (name == path) return;
    std::string ending = "." + name;
    bool longer = path.size() > ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
    if (name.empty() || longer) parameter.rename(path);
}

class Collector final : public Visitor {
  public:
    std::vector<NamedParameter> cells;

  private:
    void cell(const std::string& path, Parameter& parameter) override {
        give_name(parameter, path);
        cells.push_back({path, parameter});
    }
};

std::vector<Parameter> each_once(ModuleRef model, bool trainable_alone) {
    std::vector<Parameter> result;
    std::set<const Cell*> seen;
    for (NamedParameter& entry : named(model)) {
        if (trainable_alone && !entry.parameter.trainable()) continue;
        if (seen.insert(entry.parameter.cell().get()).second) result.push_back(std::move(entry.parameter));
    }
    return result;
}

std::string quoted(const std::vector<std::string>& names) {
    constexpr std::size_t most = 5;
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) list += text(i ? ", '" : "'", names[i], "'");
    if (names.size() > most) list += text(" and ", names.size() - most, " more");
    return list;
}

void check_names(const std::vector<NamedParameter>& cells, const NamedArrays& arrays) {
    std::set<std::string_view> known;
    std::vector<std::string> missing, unexpected;
    for (const NamedParameter& entry : cells) {
        known.insert(entry.name);
        if (!arrays.count(entry.name)) missing.push_back(entry.name);
    }
    for (const auto& [name, array] : arrays) {
        if (!known.count(name)) unexpected.push_back(name);
    }
    if (missing.empty() && unexpected.empty()) return;
    std::string message = "load_state: the state does not fit the model;";
    if (!missing.empty()) message += " missing: " + quoted(missing);
    if (!unexpected.empty()) message += (missing.empty() ? " unexpected: " : "; unexpected: ") + quoted(unexpected);
    if (!unexpected.empty()) {
        message += did_you_mean(unexpected.front(), std::vector<std::string_view>(known.begin(), known.end()));
    }
    throw ValueError(message);
}

class Printer final : public Visitor {
  public:
    std::string print(ModuleRef model) {
        model.visit(*this);
        std::string result;
        std::int64_t total = 0, trained = 0;
        for (const Line& line : lines_) {
            result += std::string(line.depth * 2, ' ') + line.head;
            if (line.module) result += "(" + line.settings + ")";
            result += line.tail + "\n";
        }
        for (const auto& [cell, count] : counted_) {
            total += count;
            if (cell->trainable) trained += count;
        }
        return result + text(total, " numbers, ", trained, " of them trained\n");
    }

  private:
    struct Line {
        std::size_t depth;
        std::string head, settings, tail;
        bool module;
    };
    static std::string last_of(const std::string& path) {
        std::size_t dot = path.rfind('.');
        return dot == std::string::npos ? path : path.substr(dot + 1);
    }
    void enter(const std::string& path, std::string_view type) override {
        open_.push_back(lines_.size());
        std::string name = last_of(path);
        lines_.push_back(
            {open_.size() - 1, text(name, name.empty() || type.empty() ? "" : ": ", type), "", "", !type.empty()});
    }
    void leave() override { open_.pop_back(); }
    void setting(std::string_view name, const std::string& value) override {
        if (open_.empty()) return;
        std::string& settings = lines_[open_.back()].settings;
        settings += text(settings.empty() ? "" : ", ", name, "=", value);
    }
    void cell(const std::string& path, Parameter& parameter) override {
        lines_.push_back({open_.size(), text(last_of(path), " ", parameter.dtype(), " ", parameter.shape()), "",
                          parameter.trainable() ? "" : ", not trained", false});
        counted_.emplace(parameter.cell().get(), element_count(parameter.shape()).value());
    }
    std::vector<Line> lines_;
    std::vector<std::size_t> open_;
    std::map<const Cell*, std::int64_t> counted_;
};

}  // namespace

std::string_view unqualified(std::string_view pretty) {
    std::size_t start = pretty.find("T = ");
    if (start == std::string_view::npos) return "module";
    pretty.remove_prefix(start + 4);
    pretty = pretty.substr(0, std::min(pretty.find(';'), pretty.rfind(']')));
    while (!pretty.empty() && pretty.back() == '>') {  // template arguments, nested ones included
        int depth = 0;
        std::size_t at = pretty.size();
        do {
            --at;
            depth += pretty[at] == '>' ? 1 : pretty[at] == '<' ? -1 : 0;
        } while (depth > 0 && at > 0);
        pretty = pretty.substr(0, at);
    }
    std::size_t scope = pretty.rfind("::");
    if (scope != std::string_view::npos) pretty.remove_prefix(scope + 2);
    return pretty.empty() ? "function" : pretty;  // a lambda's type is called "<lambda(...)>"
}

std::vector<NamedParameter> named(ModuleRef model) {
    Collector collector;
    model.visit(collector);
    return std::move(collector.cells);
}

std::vector<Parameter> parameters(ModuleRef model) { return each_once(model, true); }
std::vector<Parameter> state(ModuleRef model) { return each_once(model, false); }

void load_state(ModuleRef model, const NamedArrays& arrays) {
    std::vector<NamedParameter> cells = named(model);
    check_names(cells, arrays);
    for (const NamedParameter& entry : cells) {
        const Array& array = arrays.find(entry.name)->second;
        if (!(shape_of(array.dims) == entry.parameter.shape())) {
            throw ShapeError(text("load_state: '", entry.name, "' has shape ", array.dims, " in the state, ",
                                  entry.parameter.shape(), " in the model"));
        }
        if (array.dtype != entry.parameter.dtype()) {
            throw DTypeError(text("load_state: '", entry.name, "' holds ", array.dtype, " in the state, ",
                                  entry.parameter.dtype(), " in the model; convert one of them"));
        }
    }
    for (NamedParameter& entry : cells) entry.parameter.set(Tensor(arrays.find(entry.name)->second));
}

std::string summary(ModuleRef model) { return Printer().print(model); }

std::int64_t parameter_count(ModuleRef model) {
    std::int64_t count = 0;
    for (const Parameter& parameter : parameters(model)) count += element_count(parameter.shape()).value();
    return count;
}

std::string_view layer_name(const Parameter& cell, std::string_view type) {
    std::string_view name = cell.name();
    std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? type : name.substr(0, dot);
}

}  // namespace weft::nn
