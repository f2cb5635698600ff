#include "weft/backend/cpu/matrix/exponential.h"
#include "weft/backend/cpu/matrix/general_eigen.h"
#include "weft/backend/cpu/matrix/orthogonal.h"

namespace weft::cpu::matrix {
namespace {

/// One problem of one type; with no scratch it only counts what it would take.
template <class T>
class Own {
  public:
    Own(const Problem& problem, T* const* in, void* out, std::byte* scratch)
        : p_(problem), in_(in), out_(static_cast<T*>(out)), pieces_(scratch), measures_(!scratch) {}
    std::size_t bytes() const { return pieces_.bytes(); }

    Outcome run() {
        switch (p_.kind) {
            case Factorization::cholesky:
                return cholesky();
            case Factorization::lu:
                return lu();
            case Factorization::lu_solve:
                return lu_solve();
            case Factorization::det:
            case Factorization::slogdet:
                return determinant();
            case Factorization::triangular_solve:
                return triangular();
            case Factorization::qr:
                return qr();
            case Factorization::eigh:
            case Factorization::eigvalsh:
                return eigh();
            case Factorization::eig:
            case Factorization::eigvals:
                return eig();
            case Factorization::svd:
            case Factorization::svdvals:
                return svd();
            case Factorization::pinv:
                return pinv();
            case Factorization::expm:
            case Factorization::expm_frechet:
                return expm();
        }
        __builtin_unreachable();
    }

  private:
    using R = Real<T>;
    using C = std::complex<R>;
    Matrix<T> input(std::size_t i, std::int64_t rows, std::int64_t columns) const {
        return {measures_ ? nullptr : in_[i], rows, columns};
    }
    Matrix<T> a() const { return input(0, p_.m, p_.n); }
    Matrix<T> result(std::int64_t at, std::int64_t rows, std::int64_t columns) const {
        return {measures_ ? nullptr : out_ + at, rows, columns};
    }

    Outcome cholesky() {  // Golub & Van Loan 2013, 4.2.5, column by column
        if (measures_) return Outcome::done;
        Matrix<T> a = this->a(), l = result(0, p_.n, p_.n);
        l.fill(T(0));
        for (std::int64_t j = 0; j < p_.n; ++j) {
            T* column = l.column(j);
            std::copy(a.column(j) + j, a.column(j) + p_.n, column + j);
            for (std::int64_t k = 0; k < j; ++k) add_scaled(column + j, -conjugate(l(j, k)), l.column(k) + j, p_.n - j);
            R pivot = real_part(column[j]);
            if (!(pivot > 0) || !std::isfinite(pivot)) return Outcome::indefinite;
            R root = std::sqrt(pivot);
            column[j] = T(root);
            for (std::int64_t i = j + 1; i < p_.n; ++i) column[i] /= root;
        }
        return Outcome::done;
    }

    Outcome lu() {
        if (measures_) return Outcome::done;
        Matrix<T> a = this->a(), to = result(0, p_.n, p_.n);
        std::copy(a.data, a.data + a.size(), to.data);
        factor_lu(to, out_ + to.size());
        return Outcome::done;
    }

    Outcome lu_solve() {
        if (measures_) return Outcome::done;
        Matrix<T> lu = input(0, p_.n, p_.n), b = input(1, p_.n, p_.k), x = result(0, p_.n, p_.k);
        std::copy(b.data, b.data + b.size(), x.data);
        return matrix::solve_lu(lu, lu.data + lu.size(), p_.transposed, x) ? Outcome::done : Outcome::singular;
    }

    Outcome determinant() {
        if (measures_) return Outcome::done;
        Matrix<T> lu = input(0, p_.n, p_.n);
        const T* exchanged = lu.data + lu.size();
        T product(1), sign(1);
        R logarithm = 0;
        for (std::int64_t i = 0; i < p_.n; ++i) {
            T factor = static_cast<std::int64_t>(real_part(exchanged[i])) == i ? lu(i, i) : -lu(i, i);
            R size = std::abs(factor);
            product = times(product, factor);
            if constexpr (is_complex_v<T>)
                sign = size == 0 ? T(0) : times(sign, factor / size);
            else
                sign *= factor > 0 ? T(1) : factor < 0 ? T(-1) : factor;  // 0 and NaN stay
            logarithm += std::log(size);
        }
        if (p_.kind == Factorization::det)
            out_[0] = product;
        else
            out_[0] = sign, out_[1] = T(logarithm);
        return Outcome::done;
    }

    Outcome triangular() {
        if (measures_) return Outcome::done;
        Matrix<T> b = input(1, p_.n, p_.k), x = result(0, p_.n, p_.k);
        std::copy(b.data, b.data + b.size(), x.data);
        return solve_triangle(a(), p_.lower, p_.transposed, p_.unit_diagonal, x) ? Outcome::done : Outcome::singular;
    }

    Outcome qr() {
        T* taus = pieces_.take<T>(p_.least());
        if (measures_) return Outcome::done;
        Matrix<T> q = result(0, p_.m, p_.q_columns());
        factor_qr(a(), q, result(q.size(), p_.q_columns(), p_.n), taus);
        return Outcome::done;
    }

    Outcome eigh() {
        R* values = pieces_.take<R>(p_.n);
        Matrix<T> vectors = p_.kind == Factorization::eigh ? result(p_.n, p_.n, p_.n) : pieces_.matrix<T>(p_.n, p_.n);
        if (measures_) return Outcome::done;
        if (!jacobi_eigen(a(), values, vectors)) return Outcome::unsettled;
        for (std::int64_t i = 0; i < p_.n; ++i) out_[i] = T(values[i]);
        return Outcome::done;
    }

    Outcome eig() {
        Matrix<C> h = pieces_.matrix<C>(p_.n, p_.n), z = pieces_.matrix<C>(p_.n, p_.n);
        C* room = pieces_.take<C>(2 * p_.n);
        if (measures_) return Outcome::done;
        Matrix<T> from = a();
        for (std::int64_t i = 0; i < from.size(); ++i) h.data[i] = C(from.data[i]);
        if (!schur(h, z, room)) return Outcome::unsettled;
        C* to = reinterpret_cast<C*>(out_);
        for (std::int64_t i = 0; i < p_.n; ++i) to[i] = h(i, i);
        if (p_.kind == Factorization::eig) schur_vectors(h, z, Matrix<C>{to + p_.n, p_.n, p_.n}, room);
        return Outcome::done;
    }

    // Of the matrix or, if it is wide, of its adjoint A^H = U S V^H, so that A = V S U^H.
    Outcome singular_values(Matrix<T> a, R* values, Matrix<T> left, Matrix<T> right) {
        bool wide = a.rows < a.columns, vectors = p_.kind != Factorization::svdvals;
        std::int64_t large = std::max(a.rows, a.columns), small = std::min(a.rows, a.columns);
        Matrix<T> tall = pieces_.matrix<T>(large, small), turns = pieces_.matrix<T>(small, vectors ? small : 0);
        Matrix<T> u = pieces_.matrix<T>(large, vectors ? (p_.complete ? large : small) : 0);
        if (measures_) return Outcome::done;
        for (std::int64_t j = 0; j < small; ++j)
            for (std::int64_t i = 0; i < large; ++i) tall(i, j) = wide ? conjugate(a(j, i)) : a(i, j);
        if (!jacobi_svd(tall, values, vectors ? turns : Matrix<T>{nullptr, 0, 0})) return Outcome::unsettled;
        if (!vectors) return Outcome::done;
        std::int64_t rank = 0;  // of vectors that are more than noise
        R least = 2 * negligible(norm(values, small));
        for (; rank < small && values[rank] > least; ++rank)
            for (std::int64_t i = 0; i < large; ++i) u(i, rank) = tall(i, rank) / values[rank];
        complete_basis(u, rank);
        for (std::int64_t j = 0; j < left.columns; ++j)
            for (std::int64_t i = 0; i < left.rows; ++i) left(i, j) = wide ? turns(i, j) : u(i, j);
        for (std::int64_t j = 0; j < right.columns; ++j)
            for (std::int64_t i = 0; i < right.rows; ++i) right(i, j) = conjugate(wide ? u(j, i) : turns(j, i));
        return Outcome::done;
    }

    Outcome svd() {
        R* values = pieces_.take<R>(p_.least());
        bool vectors = p_.kind == Factorization::svd;
        Matrix<T> u = result(0, p_.m, p_.q_columns()), vh = result(u.size() + p_.least(), p_.vh_rows(), p_.n);
        Outcome outcome = singular_values(a(), values, u, vh);
        Matrix<T> s = result(vectors ? u.size() : 0, p_.least(), 1);
        for (std::int64_t i = 0; !measures_ && i < p_.least(); ++i) s(i, 0) = T(values[i]);
        return outcome;
    }

    Outcome pinv() {
        R* values = pieces_.take<R>(p_.least());
        Matrix<T> u = pieces_.matrix<T>(p_.m, p_.least()), vh = pieces_.matrix<T>(p_.least(), p_.n);
        Matrix<T> v = pieces_.matrix<T>(p_.n, p_.least()), uh = pieces_.matrix<T>(p_.least(), p_.m);
        Outcome outcome = singular_values(a(), values, u, vh);
        if (measures_ || outcome != Outcome::done) return outcome;
        pseudo_inverse(u, values, vh, real_part(in_[1][0]), v, uh, result(0, p_.n, p_.m));
        return Outcome::done;
    }

    Outcome expm() {
        bool direction = p_.kind == Factorization::expm_frechet;
        std::int64_t n = p_.n, size = direction ? 2 * n : n;
        Matrix<T> spare[exponential_matrices];
        for (Matrix<T>& one : spare) one = pieces_.matrix<T>(size, size);
        T* exchanged = pieces_.take<T>(size);
        Matrix<T> whole = direction ? pieces_.matrix<T>(size, size) : a();
        Matrix<T> to = direction ? pieces_.matrix<T>(size, size) : result(0, n, n);
        if (measures_) return Outcome::done;
        if (direction) {
            Matrix<T> a = this->a(), e = input(1, n, n);
            whole.fill(T(0));
            for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t i = 0; i < n; ++i)
                    whole(i, j) = whole(n + i, n + j) = a(i, j), whole(i, n + j) = e(i, j);
        }
        exponential(whole, to, spare, exchanged);
        for (std::int64_t j = 0; direction && j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) result(0, n, n)(i, j) = to(i, n + j);
        return Outcome::done;
    }

    const Problem& p_;
    T* const* in_;
    T* out_;
    Pieces pieces_;
    bool measures_;
};

}  // namespace

template <class T>
std::size_t own_scratch(const Problem& problem) {
    Own<T> own(problem, nullptr, nullptr, nullptr);
    (void)own.run();
    return own.bytes();
}

template <class T>
Outcome own_factorization(const Problem& problem, T* const* in, void* out, std::byte* scratch) {
    std::byte none;  // where nothing is needed, its address says that this is not to measure
    return Own<T>(problem, in, out, scratch ? scratch : &none).run();
}

#define INSTANTIATE(T)                                   \
    template std::size_t own_scratch<T>(const Problem&); \
    template Outcome own_factorization<T>(const Problem&, T* const*, void*, std::byte*);
WEFT_MATRIX_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace weft::cpu::matrix
