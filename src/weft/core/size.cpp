// Expressions over named sizes are kept in one normal form: a sum of integer multiples of products of atoms, where an atom is a
// name or the floor quotient of two expressions. Equal normal forms share an index.
#include "weft/core/size.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "weft/base/error.h"

namespace weft {

struct SizeTable {
    struct Atom {
        std::string name;  // empty: a quotient
        Size numerator, denominator;
        auto key() const { return std::tuple(name, numerator.code_, denominator.code_); }
    };
    using Product = std::vector<int>;             // indices of atoms, sorted; empty: the constant term
    using Sum = std::map<Product, std::int64_t>;  // no zero coefficients

    std::mutex mutex;
    std::vector<Atom> atoms;
    std::map<std::tuple<std::string, std::int64_t, std::int64_t>, int> atom_index;
    std::vector<Sum> sums;
    std::map<Sum, std::int64_t> sum_index;

    static SizeTable& get() {
        static SizeTable* table = new SizeTable;  // never destroyed: sizes outlive every order of destruction
        return *table;
    }
    int atom(Atom a) {
        auto [at, fresh] = atom_index.try_emplace(a.key(), static_cast<int>(atoms.size()));
        if (fresh) atoms.push_back(std::move(a));
        return at->second;
    }
    Sum sum_of(Size s) const {
        if (s.known()) return s.code_ == 0 ? Sum{} : Sum{{{}, s.code_}};
        // A number as low as that is no size, nor an expression that was written: users may type any number.
        auto place = static_cast<std::size_t>(s.code_ - Size::first_name);
        if (place >= sums.size()) throw ShapeError(text("a size is negative: ", s.code_));
        return sums[place];
    }
    // A sum that is a plain number becomes one; a negative number is refused by name.
    Size intern(Sum sum) {
        std::erase_if(sum, [](auto& term) { return term.second == 0; });
        if (sum.empty()) return 0;
        if (sum.size() == 1 && sum.begin()->first.empty()) {
            if (sum.begin()->second < 0) throw ShapeError(text("a size came out negative: ", sum.begin()->second));
            return sum.begin()->second;
        }
        auto [at, fresh] = sum_index.try_emplace(sum, static_cast<std::int64_t>(sums.size()));
        if (fresh) sums.push_back(std::move(sum));
        Size result;
        result.code_ = Size::first_name + at->second;
        return result;
    }
    Size of_atom(Atom a) { return intern(Sum{{{atom(std::move(a))}, 1}}); }
};

namespace {

using Sum = SizeTable::Sum;

std::int64_t checked(bool overflow, std::int64_t value) {
    if (overflow) throw ShapeError("a size is larger than 64 bits hold");
    return value;
}
std::int64_t add_checked(std::int64_t a, std::int64_t b) {
    std::int64_t r = 0;
    bool overflow = __builtin_add_overflow(a, b, &r);
    return checked(overflow, r);
}
std::int64_t mul_checked(std::int64_t a, std::int64_t b) {
    std::int64_t r = 0;
    bool overflow = __builtin_mul_overflow(a, b, &r);
    return checked(overflow, r);
}

Size combine(Size a, Size b, std::int64_t sign) {
    SizeTable& table = SizeTable::get();
    std::lock_guard lock(table.mutex);
    Sum sum = table.sum_of(a);
    for (auto& [product, coefficient] : table.sum_of(b)) {
        auto& into = sum[product];
        into = add_checked(into, mul_checked(sign, coefficient));
    }
    return table.intern(std::move(sum));
}

std::string bracketed(Size size) {
    std::string words = size.str();
    return words.find_first_of(" */") == std::string::npos ? words : "(" + words + ")";
}

}  // namespace

Size Size::symbol(std::string_view name) {
    if (name.empty()) throw ShapeError("a named size needs a name");
    SizeTable& table = SizeTable::get();
    std::lock_guard lock(table.mutex);
    return table.of_atom({std::string(name), {}, {}});
}

std::int64_t Size::value() const {
    if (!known())
        throw ShapeError(text("the size '", str(), "' is not known yet: it is bound when the function is called"));
    return code_;
}

Size operator+(Size a, Size b) {
    return a.known() && b.known() ? Size(add_checked(a.code_, b.code_)) : combine(a, b, 1);
}

Size operator-(Size a, Size b) {
    if (!a.known() || !b.known()) return combine(a, b, -1);
    if (a.code_ < b.code_) throw ShapeError(text("a size came out negative: ", a.code_, " - ", b.code_));
    return a.code_ - b.code_;
}

Size operator*(Size a, Size b) {
    if (a.known() && b.known()) return mul_checked(a.code_, b.code_);
    SizeTable& table = SizeTable::get();
    std::lock_guard lock(table.mutex);
    Sum sum, left = table.sum_of(a), right = table.sum_of(b);
    for (auto& [p, m] : left) {
        for (auto& [q, n] : right) {
            SizeTable::Product product;
            std::merge(p.begin(), p.end(), q.begin(), q.end(), std::back_inserter(product));
            auto& into = sum[product];
            into = add_checked(into, mul_checked(m, n));
        }
    }
    return table.intern(std::move(sum));
}

Size operator/(Size a, Size b) {
    if (b == Size(0)) throw ShapeError(text("a size was divided by zero: ", a.str(), " // 0"));
    if (b == Size(1)) return a;
    if (a == b) return 1;
    if (a.known() && b.known()) return a.code_ / b.code_;
    SizeTable& table = SizeTable::get();
    std::lock_guard lock(table.mutex);
    Sum sum = table.sum_of(a), divisor = table.sum_of(b);
    if (divisor.size() == 1) {  // exact division by one term, where each term of the numerator allows it
        auto& [q, n] = *divisor.begin();
        Sum quotient;
        for (auto& [p, m] : sum) {
            if (m % n != 0 || !std::includes(p.begin(), p.end(), q.begin(), q.end())) break;
            SizeTable::Product rest;
            std::set_difference(p.begin(), p.end(), q.begin(), q.end(), std::back_inserter(rest));
            quotient[rest] = m / n;
        }
        if (quotient.size() == sum.size()) return table.intern(std::move(quotient));
    }
    if (b.known()) {  // multiples of the divisor come out: (n - 2)//2 + 1 is n//2
        Sum whole, rest;
        for (auto& [p, m] : sum) {
            std::int64_t n = b.value(), left = ((m % n) + n) % n;
            if (left) rest[p] = left;
            if (m != left) whole[p] = (m - left) / n;
        }
        if (!whole.empty()) {
            Size remaining = table.intern(std::move(rest));
            Sum total = remaining.known() ? Sum{{{}, remaining.value() / b.value()}}
                                          : table.sum_of(table.of_atom({"", remaining, b}));
            for (auto& [p, m] : whole) total[p] = add_checked(total[p], m);
            return table.intern(std::move(total));
        }
    }
    return table.of_atom({"", a, b});
}

std::string Size::str() const {
    if (known()) return std::to_string(code_);
    SizeTable& table = SizeTable::get();
    Sum sum;
    std::vector<SizeTable::Atom> atoms;
    {
        std::lock_guard lock(table.mutex);
        sum = table.sum_of(*this);
        atoms = table.atoms;
    }
    std::string out;
    for (auto at = sum.rbegin(); at != sum.rend(); ++at) {  // the constant term last
        auto& [product, coefficient] = *at;
        std::string term;
        for (int index : product) {
            auto& atom = atoms[static_cast<std::size_t>(index)];
            if (!term.empty()) term += "*";
            term += atom.name.empty() ? bracketed(atom.numerator) + "//" + bracketed(atom.denominator) : atom.name;
        }
        std::int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
        if (term.empty())
            term = std::to_string(magnitude);
        else if (magnitude != 1)
            term = std::to_string(magnitude) + "*" + term;
        if (out.empty())
            out = coefficient < 0 ? "-" + term : term;
        else
            out += (coefficient < 0 ? " - " : " + ") + term;
    }
    return out;
}

Size Size::substitute(const std::function<std::optional<std::int64_t>(std::string_view)>& lookup) const {
    if (known()) return *this;
    SizeTable& table = SizeTable::get();
    Sum sum;
    std::vector<SizeTable::Atom> atoms;
    {
        std::lock_guard lock(table.mutex);
        sum = table.sum_of(*this);
        atoms = table.atoms;
    }
    Size plus = 0, minus = 0;  // kept apart, since a partial sum may be negative where the whole is not
    for (auto& [product, coefficient] : sum) {
        Size term = coefficient < 0 ? -coefficient : coefficient;
        for (int index : product) {
            auto& atom = atoms[static_cast<std::size_t>(index)];
            if (atom.name.empty()) {
                term = term * (atom.numerator.substitute(lookup) / atom.denominator.substitute(lookup));
            } else if (auto value = lookup(atom.name)) {
                term = term * Size(*value);
            } else {
                term = term * symbol(atom.name);
            }
        }
        (coefficient < 0 ? minus : plus) = (coefficient < 0 ? minus : plus) + term;
    }
    return plus - minus;
}

bool may_equal(Size a, Size b) {
    if (a == b) return true;
    if (a.known() && b.known()) return false;
    SizeTable& table = SizeTable::get();
    std::lock_guard lock(table.mutex);
    Sum left = table.sum_of(a), right = table.sum_of(b);
    bool multiples = left.size() == 1 && right.size() == 1 && left.begin()->first == right.begin()->first;
    if (multiples) return false;  // 2*n and 3*n: equal only where there is nothing
    left.erase(SizeTable::Product{});
    right.erase(SizeTable::Product{});
    return left != right;  // the same but for the constant term: they differ whatever the names stand for
}

}  // namespace weft
