// A module is a value that names its parts: a struct with
//
//     template <class Visitor> void members(Visitor& visit) { visit("hidden", hidden); visit("output", output); }
//
// (in a struct inside a function, where C++ has no member templates: void members(nn::Visitor& visit)).
// Parts are Parameters, modules, and vectors, arrays, optionals and pointers of these; numbers and strings are settings, which only
// printing shows. From members() follow the parameters, the checkpoint and its names ("hidden.weight", PyTorch's), and printing.
// Callers: layers and users' models declare members(); train_step, optimizers and checkpoints walk them.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/error.h"
#include "weft/graph/node.h"
#include "weft/graph/parameter.h"

namespace weft::nn {

class Visitor;

template <class T>
concept HasMembers = requires(T& module, Visitor& visit) {
    module.members(visit);
};

/// The name of a type without its namespace and template arguments: "Mlp".
std::string_view unqualified(std::string_view pretty_function);
template <class T>
std::string_view type_name() {
    return unqualified(__PRETTY_FUNCTION__);
}

namespace detail {

template <class T>
inline constexpr bool is_sequence = false;
template <class T>
inline constexpr bool is_sequence<std::vector<T>> = true;
template <class T, std::size_t n>
inline constexpr bool is_sequence<std::array<T, n>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_optional<std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool is_optional<std::unique_ptr<T>> = true;
template <class T>
inline constexpr bool unknown_part = false;

}  // namespace detail

/// What members() shows its parts to: it keeps the path to where it stands.
class Visitor {
  public:
    virtual ~Visitor() = default;

    template <class T>
    void operator()(std::string_view name, T& part) {
        if constexpr (std::is_const_v<T>)
            (*this)(name, const_cast<std::remove_const_t<T>&>(part));  // cells are handles
        else if constexpr (std::is_same_v<T, Parameter>)
            cell(join(name), part);
        else if constexpr (HasMembers<T>)
            inside(name, type_of(part), [&] { part.members(*this); });
        else if constexpr (detail::is_sequence<T>) {
            inside(name, "", [&] {
                for (std::size_t i = 0; i < part.size(); ++i) (*this)(std::to_string(i), part[i]);
            });
        } else if constexpr (detail::is_optional<T>) {
            if (part) (*this)(name, *part);
        } else if constexpr (requires(std::ostream & out) { out << part; })
            setting(name, text(part));
        else
            static_assert(
                detail::unknown_part<T>,
                "a part of a module is a Parameter, a module (with members()), or a setting that can be printed");
    }

  protected:
    virtual void cell(const std::string& path, Parameter& parameter) = 0;
    virtual void enter(const std::string& path, std::string_view type) { (void)path, (void)type; }
    virtual void leave() {}
    virtual void setting(std::string_view name, const std::string& value) { (void)name, (void)value; }

  private:
    template <class T>
    static std::string_view type_of(const T& part) {
        if constexpr (requires { part.held_type(); })
            return part.held_type();
        else
            return type_name<T>();
    }
    template <class Body>
    void inside(std::string_view name, std::string_view type, Body body) {
        std::string outer = path_;
        path_ = join(name);
        enter(path_, type);
        body();
        leave();
        path_ = std::move(outer);
    }
    std::string join(std::string_view name) const {
        if (path_.empty() || name.empty()) return path_ + std::string(name);
        return path_ + "." + std::string(name);
    }
    std::string path_;
};

/// Any module, for the functions below: refers to it while they run.
class ModuleRef {
  public:
    template <class M>
    requires(!std::is_same_v<M, ModuleRef>) ModuleRef(const M& module)
        : module_(&module), visit_([](const void* m, Visitor& visit) { visit("", *static_cast<const M*>(m)); }) {}
    void visit(Visitor& visitor) const { visit_(module_, visitor); }

  private:
    const void* module_;
    void (*visit_)(const void*, Visitor&);
};

struct NamedParameter {
    std::string name;
    Parameter parameter;
};

/// Every cell under its path, in the order of members(); a cell that two parts share stands under both paths. Cells without a
/// name, or with the end of this one ("weight"), take the path as theirs.
std::vector<NamedParameter> named(ModuleRef model);
/// What is trained, in the order of members(), each cell once.
std::vector<Parameter> parameters(ModuleRef model);
/// Every cell, running statistics included, each once: what a checkpoint holds.
std::vector<Parameter> state(ModuleRef model);
using NamedArrays = std::map<std::string, Array, std::less<>>;
/// Gives every cell its array. All or nothing: ValueError for names that are missing or unexpected, ShapeError and DTypeError for
/// arrays that do not fit; then no cell has changed.
void load_state(ModuleRef model, const NamedArrays& arrays);
/// The tree with settings, shapes and counts, a line a module, and the totals.
std::string summary(ModuleRef model);
/// Trainable numbers of the model.
std::int64_t parameter_count(ModuleRef model);

/// The path of the layer to which a cell belongs ("fc2" of "fc2.weight"), or `type` if the cell has no path: for ModuleScope.
std::string_view layer_name(const Parameter& cell, std::string_view type);

}  // namespace weft::nn
