// Module: a handle to any module that maps a Tensor to a Tensor (a layer, a user's struct, a function), its type put aside; copies
// share the module. Sequential: modules one after another. Callers: models that are put together when the program runs.
#pragma once

#include <utility>

#include "weft/nn/module.h"

namespace weft::nn {

/// What maps a Tensor to a Tensor: by an Operand, which keeps the user's line for errors, or by a Tensor.
template <class M>
concept Mapping =
    std::is_invocable_r_v<Tensor, const M&, const Operand&> || std::is_invocable_r_v<Tensor, const M&, const Tensor&>;

class Module {
  public:
    template <class M>
    requires(!std::is_same_v<std::decay_t<M>, Module> && Mapping<std::decay_t<M>>) Module(M&& module)
        : held_(std::make_shared<Held<std::decay_t<M>>>(std::forward<M>(module))) {}

    Tensor operator()(const Operand& x) const { return held_->call(x); }
    void members(Visitor& visit) { held_->members(visit); }
    std::string_view held_type() const { return held_->type(); }
    /// The module inside, or null if it is of another type.
    template <class M>
    M* get() const {
        auto* held = dynamic_cast<Held<M>*>(held_.get());
        return held ? &held->module : nullptr;
    }

  private:
    struct Anything {
        virtual ~Anything() = default;
        virtual Tensor call(const Operand& x) const = 0;
        virtual void members(Visitor& visit) = 0;
        virtual std::string_view type() const = 0;
    };
    template <class M>
    struct Held final : Anything {
        explicit Held(M module) : module(std::move(module)) {}
        M module;
        Tensor call(const Operand& x) const override {
            if constexpr (std::is_invocable_v<const M&, const Operand&>)
                return module(x);
            else
                return module(x.as_tensor());
        }
        void members(Visitor& visit) override {
            if constexpr (HasMembers<M>) module.members(visit);
        }
        std::string_view type() const override {
            if constexpr (requires { module.held_type(); })
                return module.held_type();
            else if constexpr (std::is_pointer_v<M>)
                return "function";
            else
                return type_name<M>();
        }
    };
    std::shared_ptr<Anything> held_;
};

/// Modules one after another; their parts are named "0", "1", ... or as `add` is told. Without modules: the identity.
class Sequential {
  public:
    Sequential() = default;
    template <class... M>
    requires(sizeof...(M) > 1 || (sizeof...(M) == 1 && (!std::is_same_v<std::decay_t<M>, Sequential> &&
                                                        ...))) explicit Sequential(M&&... modules) {
        (add(Module(std::forward<M>(modules))), ...);
    }

    void add(Module module, std::string name = "");
    std::size_t size() const { return modules_.size(); }
    Module& operator[](std::size_t i);
    Tensor operator()(const Operand& x) const;

    template <class V>
    void members(V& visit) {
        for (auto& [name, module] : modules_) visit(name, module);
    }

  private:
    std::vector<std::pair<std::string, Module>> modules_;
};

/// Hands on what it is given.
struct Identity {
    Tensor operator()(const Operand& x) const { return x.as_tensor(); }
    template <class V>
    void members(V&) {}
};

}  // namespace weft::nn
