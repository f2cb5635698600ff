#include "weft/runtime/interpreter_factorization.h"

#include "weft/graph/node.h"
#include "weft/ops/fft.h"
#include "weft/runtime/interpreter_matrices.h"

namespace weft::oracle {
namespace {

template <class F>
void with_number(DType dtype, F&& f) {
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (is_complex<T>)
            f(T());
        else if constexpr (std::is_floating_point_v<T>)
            f(T());
    });
}

Wide read(const Elements& from, const Dims& at) {
    Wide value;
    with_number(from.dtype(), [&](auto number) {
        using T = decltype(number);
        if constexpr (is_complex<T>)
            value = {from.at<T>(at).real(), from.at<T>(at).imag()};
        else
            value = from.at<T>(at);
    });
    return value;
}

void write(const Elements& to, const Dims& at, Wide value) {
    with_number(to.dtype(), [&](auto number) {
        using T = decltype(number);
        if constexpr (is_complex<T>) {
            using R = typename T::value_type;
            to.at<T>(at) = T(static_cast<R>(value.real()), static_cast<R>(value.imag()));
        } else {
            to.at<T>(at) = static_cast<T>(value.real());
        }
    });
}

std::size_t length(std::int64_t size) { return static_cast<std::size_t>(size); }

Dims joined(Dims front, std::initializer_list<std::size_t> back) {
    for (std::size_t i : back) front.push_back(static_cast<std::int64_t>(i));
    return front;
}

Wides matrix_at(const Elements& from, const Dims& batch) {
    const Dims& dims = from.dims();
    Wides a(length(dims[dims.size() - 2]), length(dims[dims.size() - 1]));
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.columns(); ++j) a(i, j) = read(from, joined(batch, {i, j}));
    return a;
}

/// What is written for one matrix: a matrix, or numbers one after another.
class Result {
  public:
    Result(const Elements& to, const Dims& batch) : to_(to), batch_(batch) {}
    void matrix(const Wides& x) {
        for (std::size_t i = 0; i < x.rows(); ++i)
            for (std::size_t j = 0; j < x.columns(); ++j) write(to_, joined(batch_, {i, j}), x(i, j));
    }
    void number(Wide x) { write(to_, joined(batch_, {next_++}), x); }
    void packed(const Wides& x) {
        for (std::size_t j = 0; j < x.columns(); ++j)
            for (std::size_t i = 0; i < x.rows(); ++i) number(x(i, j));
    }
    void numbers(const std::vector<long double>& values) {
        for (long double value : values) number(value);
    }

  private:
    const Elements& to_;
    const Dims& batch_;
    std::size_t next_ = 0;
};

/// L and U packed by Doolittle's formulas, rows exchanged as LAPACK does: for the largest |re| + |im|.
void lu(Wides a, Result& to) {
    std::size_t n = a.rows();
    auto size = [](Wide x) { return std::abs(x.real()) + std::abs(x.imag()); };
    std::vector<std::size_t> exchanged(n);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < n; ++i)
            if (size(a(i, k)) > size(a(pivot, k))) pivot = i;
        exchanged[k] = pivot;
        for (std::size_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
        for (std::size_t i = k + 1; i < n; ++i) {
            a(i, k) = a(k, k) == Wide(0) ? Wide(0) : a(i, k) / a(k, k);
            for (std::size_t j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
        }
    }
    to.packed(a);
    for (std::size_t pivot : exchanged) to.number(static_cast<long double>(pivot));
}

Wides cholesky(const Wides& a) {
    Wides l(a.rows(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            Wide rest = a(i, j);
            for (std::size_t k = 0; k < j; ++k) rest -= l(i, k) * std::conj(l(j, k));
            if (i == j && !(rest.real() > 0)) throw ValueError("not positive definite");
            l(i, j) = i == j ? Wide(std::sqrt(rest.real())) : rest / l(j, j);
        }
    }
    return l;
}

Wides triangle_of(const Wides& a, const FactorizationAttributes& how) {
    Wides t(a.rows(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.rows(); ++j)
            if (i == j ? !how.unit_diagonal : (how.lower == (i > j))) t(i, j) = a(i, j);
    for (std::size_t i = 0; how.unit_diagonal && i < a.rows(); ++i) t(i, i) = 1;
    return t;
}

Wides solved(const Wides& a, bool turned, Wides b) {
    if (!eliminate(turned ? transposed(a, false) : a, b)) throw ValueError("singular");
    return b;
}

void eigen(Wides a, bool vectors, Result& to) {
    std::size_t n = a.rows();
    Wides z = schur(a);
    for (std::size_t i = 0; i < n; ++i) to.number(a(i, i));
    for (std::size_t k = 0; vectors && k < n; ++k) {
        Wides x(n, 1);
        x(k, 0) = 1;
        for (std::size_t i = k; i-- > 0;) {
            Wide sum = 0, gap = a(k, k) - a(i, i);
            for (std::size_t j = i + 1; j <= k; ++j) sum += a(i, j) * x(j, 0);
            x(i, 0) = sum / (gap == Wide(0) ? Wide(1e-19L) : gap);
        }
        x = z * x;
        to.packed(scaled(x, 1 / size_of_all(x)));
    }
}

Wides pseudo_inverse(const Wides& a, long double cut) {
    Wides u(0, 0), vh(0, 0), inverse(a.columns(), a.rows());
    std::vector<long double> s;
    singular(a, false, u, s, vh);
    for (std::size_t k = 0; k < s.size(); ++k) {
        if (s[k] <= cut * s[0]) continue;
        for (std::size_t i = 0; i < a.columns(); ++i)
            for (std::size_t j = 0; j < a.rows(); ++j) inverse(i, j) += std::conj(vh(k, i)) / s[k] * std::conj(u(j, k));
    }
    return inverse;
}

Wides directional(const Wides& a, const Wides& e) {
    std::size_t n = a.rows();
    Wides whole(2 * n, 2 * n), part(n, n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) whole(i, j) = whole(n + i, n + j) = a(i, j), whole(i, n + j) = e(i, j);
    Wides all = exponential(whole);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) part(i, j) = all(i, n + j);
    return part;
}

void factorize(const FactorizationAttributes& how, std::span<const Elements> from, const Dims& batch, Result& to) {
    Wides a = matrix_at(from[0], batch);
    std::size_t m = a.rows(), n = a.columns(), least = std::min(m, n);
    switch (how.kind) {
        case Factorization::cholesky:
            return to.matrix(cholesky(a));
        case Factorization::lu:
            return lu(a, to);
        case Factorization::lu_solve:
            return to.matrix(solved(a, how.transposed, matrix_at(from[2], batch)));
        case Factorization::det:
            return to.number(determinant(a));
        case Factorization::slogdet: {
            Wide found = determinant(a);
            to.number(found == Wide(0) ? found : found / std::abs(found));
            return to.number(std::log(std::abs(found)));
        }
        case Factorization::triangular_solve:
            return to.matrix(solved(triangle_of(a, how), how.transposed, matrix_at(from[1], batch)));
        case Factorization::qr: {
            Wides q(m, how.complete ? m : least), r(q.columns(), n);
            householder(a, q.columns(), q, r);
            to.packed(q);
            return to.packed(r);
        }
        case Factorization::eigh:
        case Factorization::eigvalsh: {
            std::vector<long double> values;
            Wides vectors(0, 0);
            hermitian(a, values, vectors);
            to.numbers(values);
            return how.kind == Factorization::eigh ? to.packed(vectors) : void();
        }
        case Factorization::eig:
        case Factorization::eigvals:
            return eigen(a, how.kind == Factorization::eig, to);
        case Factorization::svd:
        case Factorization::svdvals: {
            Wides u(0, 0), vh(0, 0);
            std::vector<long double> s;
            singular(a, how.complete, u, s, vh);
            bool vectors = how.kind == Factorization::svd;
            if (vectors) to.packed(u);
            to.numbers(s);
            return vectors ? to.packed(vh) : void();
        }
        case Factorization::pinv:
            return to.matrix(pseudo_inverse(a, read(from[1], batch).real()));
        case Factorization::expm:
            return to.matrix(exponential(a));
        case Factorization::expm_frechet:
            return to.matrix(directional(a, matrix_at(from[1], batch)));
    }
}

}  // namespace

void run_factorization(const Node& node, std::span<const Elements> from, const Elements& to) {
    auto& how = node.attributes_as<FactorizationAttributes>();
    const Dims& dims = from[0].dims();
    for_each_index(Dims(dims.begin(), dims.end() - 2), [&](const Dims& batch) {
        Result result(to, batch);
        factorize(how, from, batch, result);
    });
}

// The definition, in long double. Of real numbers there is half of the points; the other half, backwards, is its conjugate.
void run_fourier(const Node& node, const Elements& from, const Elements& to) {
    auto& a = node.attributes_as<FourierAttributes>();
    auto axis = static_cast<std::size_t>(a.axis);
    std::int64_t n = a.points > 0 ? a.points : from.dims()[axis];
    for_each_index(to.dims(), [&](const Dims& at) {
        Wide sum = 0;
        Dims place = at;
        for (std::int64_t k = 0; k < n; ++k) {
            bool given = k < from.dims()[axis];
            place[axis] = given ? k : n - k;
            Wide x = given ? read(from, place) : std::conj(read(from, place));
            long double turn = static_cast<long double>(at[axis] * k % n) / static_cast<long double>(n);
            sum += x * std::polar(1.0L, (a.inverse ? 2 : -2) * std::acos(-1.0L) * turn);
        }
        write(to, at, sum * static_cast<long double>(a.factor));
    });
}

}  // namespace weft::oracle
