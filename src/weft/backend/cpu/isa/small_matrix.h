// The textbook algorithms of matrix/basic.h and own.cpp with several numbers in the place of one: each lane holds a matrix of its own and chooses its
// pivots itself, and no lane reads another. Nothing is fused, so every instruction set gives the same bits, for any lane, and for a single number.
// Everything is a source's own, since it is compiled for that source's instruction set. Callers: isa/small_matrices.cpp, small_factorization.cpp.
#pragma once

#include <cmath>
#include <limits>

#include "weft/backend/cpu/isa/small_matrices.h"

namespace weft::cpu {
namespace {

/// What the algorithms ask of numbers: of one, or of a vector of them.
template <class T, int lanes>
struct Numbers {
    typedef T V __attribute__((vector_size(lanes * sizeof(T)), may_alias));
    using Mask = decltype(V() < V());
    static V all(T value) { return V{} + value; }
    static bool some(const Mask& mask) {
        bool found = false;
        for (int l = 0; l < lanes; ++l) found |= mask[l] != 0;
        return found;
    }
    static void mark(const Mask& mask, bool* marked) {
        for (int l = 0; l < lanes; ++l) marked[l] |= mask[l] != 0;
    }
    template <class F>
    static V each(V x, F&& f) {
        for (int l = 0; l < lanes; ++l) x[l] = f(x[l]);
        return x;
    }
};
template <class T>
struct Numbers<T, 1> {
    using V = T;
    using Mask = bool;
    static V all(T value) { return value; }
    static bool some(bool mask) { return mask; }
    static void mark(bool mask, bool* marked) { *marked |= mask; }
    template <class F>
    static V each(V x, F&& f) {
        return f(x);
    }
};

template <class T, int lanes>
class Small {
  public:
    static void factor(const SmallProblem& problem, const T* a, const T* b, T* out, bool* bad) {
        Small small{problem, bad};
        for (int l = 0; l < lanes; ++l) bad[l] = false;
        auto* first = reinterpret_cast<const V*>(a);
        auto* second = reinterpret_cast<const V*>(b);
        auto* to = reinterpret_cast<V*>(out);
        int n = problem.n;
        switch (problem.kind) {
            case Factorization::cholesky:
                return small.cholesky(first, to);
            case Factorization::lu:
                return small.lu(first, to, to + n * n);
            case Factorization::det:
            case Factorization::slogdet:
                return small.determinant(first, first + n * n, to);
            case Factorization::lu_solve:
                return small.lu_solve(first, first + n * n, second, to);
            default:
                for (int i = 0; i < n * problem.k; ++i) to[i] = second[i];
                return small.triangle(first, problem.lower, problem.transposed, problem.unit_diagonal, to);
        }
    }

  private:
    using N = Numbers<T, lanes>;
    using V = typename N::V;
    using Mask = typename N::Mask;

    Small(const SmallProblem& problem, bool* bad) : n_(problem.n), k_(problem.k), p_(problem), bad_(bad) {}

    static V all(T value) { return N::all(value); }
    static V size_of(const V& x) { return x < all(0) ? -x : x; }
    void refuse(const Mask& mask) { N::mark(mask, bad_); }
    static void add_scaled(V* y, const V& factor, const V* x, int count) {
        for (int i = 0; i < count; ++i) y[i] += factor * x[i];
    }

    void cholesky(const V* a, V* to) {
        for (int j = 0; j < n_; ++j) {
            V* column = to + j * n_;
            for (int i = 0; i < n_; ++i) column[i] = i < j ? V{} : a[i + j * n_];
            for (int k = 0; k < j; ++k) add_scaled(column + j, -to[j + k * n_], to + j + k * n_, n_ - j);
            refuse(((column[j] > all(0)) & (column[j] <= all(std::numeric_limits<T>::max()))) == Mask{});
            V root = N::each(column[j], [](T x) { return std::sqrt(x); });
            column[j] = root;
            for (int i = j + 1; i < n_; ++i) column[i] /= root;
        }
    }

    // The first of the largest below the diagonal comes up to row j, in each lane from where it is.
    V exchange(V* a, int j) {
        V number = all(static_cast<T>(j)), largest = size_of(a[j + j * n_]);
        for (int i = j + 1; i < n_; ++i) {
            V size = size_of(a[i + j * n_]);
            Mask more = size > largest;
            largest = more ? size : largest, number = more ? all(static_cast<T>(i)) : number;
        }
        swap_rows(a, n_, j, number);
        return number;
    }
    // Rows j and `number`, which is no less, of a matrix of so many columns.
    void swap_rows(V* a, int columns, int j, const V& number) {
        for (int i = j + 1; i < n_; ++i) {
            Mask here = number == all(static_cast<T>(i));
            if (!N::some(here)) continue;
            for (int c = 0; c < columns; ++c) {
                V upper = a[j + c * n_], lower = a[i + c * n_];
                a[j + c * n_] = here ? lower : upper, a[i + c * n_] = here ? upper : lower;
            }
        }
    }

    void lu(const V* from, V* a, V* exchanged) {
        for (int i = 0; i < n_ * n_; ++i) a[i] = from[i];
        for (int j = 0; j < n_; ++j) {
            exchanged[j] = exchange(a, j);
            V pivot = a[j + j * n_];
            Mask none = pivot == all(0);  // such a column is passed over
            for (int i = j + 1; i < n_; ++i) a[i + j * n_] = none ? a[i + j * n_] : a[i + j * n_] / pivot;
            for (int c = j + 1; c < n_; ++c) {
                V factor = -a[j + c * n_];
                for (int i = j + 1; i < n_; ++i) {
                    V& x = a[i + c * n_];
                    x = none ? x : x + factor * a[i + j * n_];
                }
            }
        }
    }

    void triangle(const V* a, bool lower, bool transposed, bool unit, V* b) {
        for (int i = 0; !unit && i < n_; ++i) refuse(a[i + i * n_] == all(0));
        for (int c = 0; c < k_; ++c) {
            V* x = b + c * n_;
            for (int step = 0; step < n_; ++step) {
                int i = lower != transposed ? step : n_ - 1 - step;
                int first = lower ? i + 1 : 0, last = lower ? n_ : i;  // the rest of column i of the triangle
                const V* column = a + i * n_;
                V value = x[i];
                if (transposed)
                    for (int j = first; j < last; ++j) value -= column[j] * x[j];
                if (!unit) value /= column[i];
                x[i] = value;
                if (!transposed) add_scaled(x + first, -value, column + first, last - first);
            }
        }
    }

    void lu_solve(const V* lu, const V* exchanged, const V* b, V* x) {
        for (int i = 0; i < n_ * k_; ++i) x[i] = b[i];
        bool transposed = p_.transposed;
        for (int i = 0; !transposed && i < n_; ++i) swap_rows(x, k_, i, exchanged[i]);
        triangle(lu, !transposed, transposed, !transposed, x);
        triangle(lu, transposed, transposed, transposed, x);
        for (int i = n_; transposed && i-- > 0;) swap_rows(x, k_, i, exchanged[i]);
    }

    void determinant(const V* lu, const V* exchanged, V* out) {
        V product = all(1), sign = all(1), logarithm{};
        for (int i = 0; i < n_; ++i) {
            V factor = lu[i + i * n_];
            factor = exchanged[i] == all(static_cast<T>(i)) ? factor : -factor;
            product *= factor;
            if (p_.kind == Factorization::det) continue;
            V size = size_of(factor);
            sign *= factor > all(0) ? all(1) : factor < all(0) ? all(-1) : factor;  // 0 and NaN stay
            logarithm += N::each(size, [](T x) { return std::log(x); });
        }
        if (p_.kind == Factorization::det)
            out[0] = product;
        else
            out[0] = sign, out[1] = logarithm;
    }

    int n_, k_;
    const SmallProblem& p_;
    bool* bad_;
};

}  // namespace
}  // namespace weft::cpu
