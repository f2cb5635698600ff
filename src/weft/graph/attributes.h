// What an operation is told beside its inputs: axes, a stride, a dtype. A plain struct that names its members to a visitor;
// equality, hash, printing and the binding of named sizes follow from that. Immutable once a node holds it.
//
//     struct ReduceAttributes {
//         Axes axes;
//         bool keepdims = false;
//         template <class V> void members(V& visit) { visit("axes", axes); visit("keepdims", keepdims); }
//     };
//
// Callers: ops/ (declare them), graph/gather (hash them), compile/ (read them).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/base/error.h"
#include "weft/base/hash.h"
#include "weft/core/literal.h"
#include "weft/core/shape.h"

namespace weft {

/// A position along an axis (the start of a slice): like a Size it may be named, but it takes no part in which sizes are equal,
/// so that the slice of the next batch is the same program.
struct Offset {
    Size value = 0;
    friend bool operator==(Offset, Offset) = default;
    friend std::ostream& operator<<(std::ostream& out, Offset offset) { return out << offset.value; }
};
using Offsets = SmallVector<Offset, 4>;

/// What a structural key is made of: `words` tell programs apart, `sizes` only by which are one and which are equal,
/// `offsets` not at all. Sizes and offsets are what a binding fills in.
struct KeyParts {
    std::vector<std::uint64_t> words;
    std::vector<Size> sizes;
    std::vector<Offset> offsets;
    void clear() { words.clear(), sizes.clear(), offsets.clear(); }
};

using SizeLookup = std::function<std::optional<std::int64_t>(std::string_view)>;

class Attributes {
  public:
    virtual ~Attributes() = default;
    virtual void key(KeyParts& parts) const = 0;
    virtual void print(std::ostream& out) const = 0;  ///< "axes=(0, 1), keepdims=True"
    virtual std::shared_ptr<const Attributes> substitute(const SizeLookup& lookup) const = 0;
};
using AttributesHandle = std::shared_ptr<const Attributes>;

namespace detail {

/// A template, so that only who declares attributes instantiates what it does.
template <class Parts = KeyParts>
struct KeyVisitor {
    Parts& parts;
    void word(std::uint64_t w) { parts.words.push_back(w); }
    void operator()(const char*, bool v) { word(v); }
    void operator()(const char*, std::int64_t v) { word(static_cast<std::uint64_t>(v)); }
    void operator()(const char*, double v) { word(std::bit_cast<std::uint64_t>(v)); }
    void operator()(const char*, DType v) { word(static_cast<std::uint64_t>(v)); }
    template <class E>
    requires std::is_enum_v<E>
    void operator()(const char*, E v) { word(static_cast<std::uint64_t>(v)); }
    void operator()(const char*, const std::string& v) {
        Hasher hasher;
        hasher.add(std::string_view(v));
        word(hasher.result().high), word(hasher.result().low);
    }
    void operator()(const char*, const Literal& v) {
        word(static_cast<std::uint64_t>(v.kind)), word(static_cast<std::uint64_t>(v.integer));
        word(std::bit_cast<std::uint64_t>(v.real)), word(std::bit_cast<std::uint64_t>(v.imaginary));
    }
    void operator()(const char*, const Dims& v) {
        word(v.size());
        for (std::int64_t x : v) word(static_cast<std::uint64_t>(x));
    }
    void operator()(const char*, Size v) { parts.sizes.push_back(v); }
    void operator()(const char*, const Shape& v) {
        word(v.size());
        for (Size x : v) parts.sizes.push_back(x);
    }
    void operator()(const char*, const Offsets& v) {
        word(v.size());
        for (Offset x : v) parts.offsets.push_back(x);
    }
};

struct PrintVisitor {
    std::ostream& out;
    bool first = true;
    template <class T>
    void operator()(const char* name, const T& value) {
        out << (first ? "" : ", ") << name << '=';
        first = false;
        if constexpr (std::is_same_v<T, bool>)
            out << (value ? "True" : "False");
        else if constexpr (std::is_same_v<T, Offsets>) {
            for (std::size_t i = 0; i < value.size(); ++i) out << (i ? ", " : "(") << value[i];
            out << ')';
        } else if constexpr (std::is_enum_v<T>) {
            if constexpr (requires { name_of(value); })
                out << name_of(value);
            else
                out << static_cast<int>(value);
        } else
            out << value;
    }
};

struct SubstituteVisitor {
    const SizeLookup& lookup;
    template <class T>
    void operator()(const char*, T& value) {
        if constexpr (std::is_same_v<T, Size>)
            value = value.substitute(lookup);
        else if constexpr (std::is_same_v<T, Shape>) {
            for (Size& size : value) size = size.substitute(lookup);
        } else if constexpr (std::is_same_v<T, Offsets>) {
            for (Offset& offset : value) offset.value = offset.value.substitute(lookup);
        }
    }
};

}  // namespace detail

template <class T>
class AttributesOf final : public Attributes {
  public:
    explicit AttributesOf(T value) : value(std::move(value)) {}
    /// What `make()` returns, made where it stays.
    template <class Make>
    AttributesOf(std::in_place_t, Make&& make) : value(make()) {}
    const T value;

    void key(KeyParts& parts) const override {
        detail::KeyVisitor<> visit{parts};
        const_cast<T&>(value).members(visit);  // the visitor only reads
    }
    void print(std::ostream& out) const override {
        detail::PrintVisitor visit{out};
        const_cast<T&>(value).members(visit);
    }
    AttributesHandle substitute(const SizeLookup& lookup) const override {
        T copy = value;
        detail::SubstituteVisitor visit{lookup};
        copy.members(visit);
        return std::make_shared<AttributesOf>(std::move(copy));
    }
};

template <class T>
AttributesHandle attributes(T value) {
    return std::make_shared<AttributesOf<T>>(std::move(value));
}

/// The same of what `make()` returns: nothing is copied.
template <class Make>
AttributesHandle attributes_made(Make&& make) {
    return std::make_shared<AttributesOf<std::invoke_result_t<Make>>>(std::in_place, make);
}

}  // namespace weft
