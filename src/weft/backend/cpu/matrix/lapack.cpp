#include <limits>

#include "weft/backend/cpu/matrix/orthogonal.h"
#include "weft/found.h"

#if WEFT_HAVE_LAPACK
#include "weft/backend/cpu/late_library.h"
#include "weft/backend/cpu/matrix/lapack_names.h"

namespace weft::cpu::matrix {
namespace {

template <class T>
bool all_finite(Matrix<T> a) {
    return std::all_of(a.data, a.data + a.size(), [](T x) { return std::isfinite(size_of_number(x)); });
}

// Whether a pivot, or a triangle's diagonal, holds a number whose reciprocal may be beyond the type's range. BLAS multiplies by
// reciprocals, so that what would be a proper quotient is infinite or NaN there; weft's own code divides.
template <class T>
bool denormal_diagonal(Matrix<T> a) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        Real<T> size = size_of_number(a(i, i));
        if (size > 0 && size < std::numeric_limits<Real<T>>::min()) return true;
    }
    return false;
}

/// One problem of one type; with no scratch it only counts what it would take, asking LAPACK for its share.
template <class T>
class Lapack {
  public:
    Lapack(const Problem& problem, int* asked, T* const* in, void* out, std::byte* scratch)
        : p_(problem),
          asked_(asked),
          in_(in),
          out_(out),
          pieces_(scratch),
          measures_(!scratch),
          m_(narrow(p_.m)),
          n_(narrow(p_.n)),
          k_(narrow(p_.k)),
          least_(std::min(m_, n_)),
          rows_(std::max(1, m_)),
          order_(std::max(1, n_)) {}
    std::size_t bytes() const { return pieces_.bytes(); }

    Outcome run() {
        switch (p_.kind) {
            case Factorization::cholesky:
                return cholesky();
            case Factorization::lu:
                return lu();
            case Factorization::lu_solve:
                return lu_solve();
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
            default:
                return pinv();
        }
    }

  private:
    using R = Real<T>;
    using C = std::complex<R>;
    using Names = Routines<T>;
    static int narrow(std::int64_t size) { return static_cast<int>(size); }
    T* out(std::int64_t at = 0) const { return measures_ ? nullptr : static_cast<T*>(out_) + at; }
    T* in(std::size_t i = 0) const { return measures_ ? nullptr : in_[i]; }

    struct Work {
        T* data;
        int length;
    };
    // Calls a routine with a work array; in measuring, asks it how long that should be. The answer is a number of T, which may have been
    // rounded down. LAPACK's info.
    template <class Call>
    int with_work(Call&& call) {
        int info = 0;
        if (measures_) {
            T answer(0);
            call(Work{&answer, -1}, &info);
            double told = static_cast<double>(real_part(answer)) * (1 + 4 * std::numeric_limits<R>::epsilon());
            asked_[calls_] = std::max(1, static_cast<int>(std::ceil(told)));
        }
        int length = measures_ ? asked_[calls_] : p_.work[calls_];
        ++calls_;
        T* data = pieces_.take<T>(length);
        if (!measures_) call(Work{data, length}, &info);
        return info;
    }

    Outcome cholesky() {
        if (measures_) return Outcome::done;
        int info = 0;
        std::copy(in(), in() + p_.n * p_.n, out());
        Names::potrf("L", &n_, out(), &order_, &info, 1);
        Matrix<T> l{out(), p_.n, p_.n};
        for (std::int64_t j = 1; j < p_.n; ++j) std::fill(l.column(j), l.column(j) + j, T(0));
        return info == 0 ? Outcome::done : Outcome::indefinite;
    }

    Outcome lu() {
        int* exchanged = pieces_.take<int>(p_.n);
        if (measures_) return Outcome::done;
        int info = 0;
        std::copy(in(), in() + p_.n * p_.n, out());
        Names::getrf(&n_, &n_, out(), &order_, exchanged, &info);
        if (Matrix<T> lu{out(), p_.n, p_.n}; denormal_diagonal(lu)) {
            std::copy(in(), in() + lu.size(), lu.data);
            factor_lu(lu, lu.data + lu.size());
            return Outcome::done;
        }
        for (std::int64_t i = 0; i < p_.n; ++i) out(p_.n * p_.n)[i] = T(static_cast<R>(exchanged[i] - 1));
        return Outcome::done;
    }

    Outcome lu_solve() {
        int* exchanged = pieces_.take<int>(p_.n);
        if (measures_) return Outcome::done;
        Matrix<T> lu{in(), p_.n, p_.n};
        for (std::int64_t i = 0; i < p_.n; ++i) {
            if (lu(i, i) == T(0)) return Outcome::singular;
            exchanged[i] = static_cast<int>(real_part(lu.data[lu.size() + i])) + 1;
        }
        int info = 0;
        std::copy(in(1), in(1) + p_.n * p_.k, out());
        if (denormal_diagonal(lu)) {
            (void)solve_lu(lu, lu.data + lu.size(), p_.transposed, Matrix<T>{out(), p_.n, p_.k});
            return Outcome::done;
        }
        Names::getrs(p_.transposed ? "T" : "N", &n_, &k_, lu.data, &order_, exchanged, out(), &order_, &info, 1);
        return Outcome::done;
    }

    Outcome triangular() {
        if (measures_) return Outcome::done;
        int info = 0;
        std::copy(in(1), in(1) + p_.n * p_.k, out());
        if (Matrix<T> a{in(), p_.n, p_.n}; !p_.unit_diagonal && denormal_diagonal(a))
            return solve_triangle(a, p_.lower, p_.transposed, false, Matrix<T>{out(), p_.n, p_.k}) ? Outcome::done
                                                                                                   : Outcome::singular;
        Names::trtrs(p_.lower ? "L" : "U", p_.transposed ? "T" : "N", p_.unit_diagonal ? "U" : "N", &n_, &k_, in(),
                     &order_, out(), &order_, &info, 1, 1, 1);
        return info == 0 ? Outcome::done : Outcome::singular;
    }

    Outcome qr() {
        T* taus = pieces_.take<T>(p_.least());
        int columns = narrow(p_.q_columns());
        (void)with_work(
            [&](Work w, int* info) { Names::geqrf(&m_, &n_, in(), &rows_, taus, w.data, &w.length, info); });
        if (!measures_) {
            Matrix<T> a{in(), p_.m, p_.n}, r{out(p_.m * columns), columns, p_.n};
            r.fill(T(0));
            for (std::int64_t j = 0; j < r.columns; ++j)
                for (std::int64_t i = 0; i <= std::min(j, r.rows - 1); ++i) r(i, j) = a(i, j);
            std::copy(in(), in() + p_.m * p_.least(), out());
        }
        (void)with_work([&](Work w, int* info) {
            Names::generate_q(&m_, &columns, &least_, out(), &rows_, taus, w.data, &w.length, info);
        });
        return Outcome::done;
    }

    Outcome eigh() {
        const char* job = p_.kind == Factorization::eigh ? "V" : "N";
        R* values = pieces_.take<R>(p_.n);
        std::int64_t integers = 3 + 5 * p_.n, reals = 1 + 5 * p_.n + 2 * p_.n * p_.n;
        int* whole = pieces_.take<int>(integers);
        int whole_length = narrow(integers);
        int info = 0;
        if (!measures_ && !all_finite(Matrix<T>{in(), p_.n, p_.n})) return Outcome::unsettled;
        if constexpr (is_complex_v<T>) {
            R* real = pieces_.take<R>(reals);
            int real_length = narrow(reals);
            info = with_work([&](Work w, int* said) {
                R answer;
                int number, length = w.length < 0 ? -1 : real_length, count = w.length < 0 ? -1 : whole_length;
                Names::hermitian_eigen(job, "L", &n_, in(), &order_, values, w.data, &w.length,
                                       w.length < 0 ? &answer : real, &length, w.length < 0 ? &number : whole, &count,
                                       said, 1, 1);
            });
        } else {
            info = with_work([&](Work w, int* said) {
                int number, count = w.length < 0 ? -1 : whole_length;
                Names::hermitian_eigen(job, "L", &n_, in(), &order_, values, w.data, &w.length,
                                       w.length < 0 ? &number : whole, &count, said, 1, 1);
            });
        }
        if (measures_ || info != 0) return measures_ ? Outcome::done : Outcome::unsettled;
        for (std::int64_t i = 0; i < p_.n; ++i) out()[i] = T(values[i]);
        if (p_.kind == Factorization::eigh) std::copy(in(), in() + p_.n * p_.n, out(p_.n));
        return Outcome::done;
    }

    Outcome eig() {
        const char* job = p_.kind == Factorization::eig ? "V" : "N";
        if (!measures_ && !all_finite(Matrix<T>{in(), p_.n, p_.n})) return Outcome::unsettled;
        C* to = measures_ ? nullptr : static_cast<C*>(out_);
        int one = 1, info = 0;
        if constexpr (is_complex_v<T>) {
            R answer, *real = pieces_.take<R>(2 * p_.n);
            if (measures_) real = &answer;  // even asking writes here
            C* vectors = measures_ || *job == 'N' ? nullptr : to + p_.n;
            info = with_work([&](Work w, int* said) {
                Names::geev("N", job, &n_, in(), &order_, to, nullptr, &one, vectors, &order_, w.data, &w.length, real,
                            said, 1, 1);
            });
        } else {
            R *re = pieces_.take<R>(p_.n), *im = pieces_.take<R>(p_.n);
            Matrix<R> pairs = pieces_.matrix<R>(p_.n, *job == 'V' ? p_.n : 0);
            info = with_work([&](Work w, int* said) {
                Names::geev("N", job, &n_, in(), &order_, re, im, nullptr, &one, pairs.data, &order_, w.data, &w.length,
                            said, 1, 1);
            });
            if (!measures_ && info == 0) join_pairs(re, im, pairs, to);
        }
        return info == 0 ? Outcome::done : Outcome::unsettled;
    }
    // A pair of conjugate vectors lies as real parts, then imaginary parts of the first.
    void join_pairs(const R* re, const R* im, Matrix<R> pairs, C* to) const {
        for (std::int64_t j = 0; j < p_.n; ++j) to[j] = C(re[j], im[j]);
        Matrix<C> v{to + p_.n, p_.n, p_.n};
        for (std::int64_t j = 0; j < pairs.columns; ++j) {
            bool pair = im[j] != 0;
            for (std::int64_t i = 0; i < p_.n; ++i) {
                v(i, j) = C(pairs(i, j), pair ? pairs(i, j + 1) : 0);
                if (pair) v(i, j + 1) = std::conj(v(i, j));
            }
            j += pair;
        }
    }

    int singular_values(const char* job, R* values, T* u, T* vh) {
        int vh_rows = std::max(1, narrow(p_.vh_rows()));
        int* whole = pieces_.take<int>(8 * p_.least());
        if constexpr (is_complex_v<T>) {
            std::int64_t small = p_.least(), large = std::max(p_.m, p_.n);
            R* real = pieces_.take<R>(
                *job == 'N' ? 7 * small
                            : std::max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small));
            return with_work([&](Work w, int* said) {
                Names::gesdd(job, &m_, &n_, in(), &rows_, values, u, &rows_, vh, &vh_rows, w.data, &w.length, real,
                             whole, said, 1);
            });
        } else {
            return with_work([&](Work w, int* said) {
                Names::gesdd(job, &m_, &n_, in(), &rows_, values, u, &rows_, vh, &vh_rows, w.data, &w.length, whole,
                             said, 1);
            });
        }
    }

    Outcome svd() {
        bool vectors = p_.kind == Factorization::svd;
        if (!measures_ && !all_finite(Matrix<T>{in(), p_.m, p_.n})) return Outcome::unsettled;
        R* values = pieces_.take<R>(p_.least());
        std::int64_t first = vectors ? p_.m * p_.q_columns() : 0;
        T *u = vectors ? out() : nullptr, *vh = vectors ? out(first + p_.least()) : nullptr;
        if (singular_values(!vectors ? "N" : p_.complete ? "A" : "S", values, u, vh) != 0) return Outcome::unsettled;
        for (std::int64_t i = 0; !measures_ && i < p_.least(); ++i) out(first)[i] = T(values[i]);
        return Outcome::done;
    }

    Outcome pinv() {
        if (!measures_ && !all_finite(Matrix<T>{in(), p_.m, p_.n})) return Outcome::unsettled;
        R* values = pieces_.take<R>(p_.least());
        Matrix<T> u = pieces_.matrix<T>(p_.m, p_.least()), vh = pieces_.matrix<T>(p_.least(), p_.n);
        Matrix<T> v = pieces_.matrix<T>(p_.n, p_.least()), uh = pieces_.matrix<T>(p_.least(), p_.m);
        if (singular_values("S", values, u.data, vh.data) != 0) return Outcome::unsettled;
        if (!measures_) pseudo_inverse(u, values, vh, real_part(in(1)[0]), v, uh, Matrix<T>{out(), p_.n, p_.m});
        return Outcome::done;
    }

    const Problem& p_;
    int* asked_;  // of the problem, in measuring
    std::size_t calls_ = 0;
    T* const* in_;
    void* out_;
    Pieces pieces_;
    bool measures_;
    int m_, n_, k_, least_, rows_, order_;
};

}  // namespace

bool lapack_takes(const Problem& p) {
    constexpr std::int64_t most = std::numeric_limits<int>::max(), with_square_work = 16384;
    if (p.m == 0 || p.n == 0 || std::max({p.m, p.n, p.k}) > most || !is_there(LateLibrary::openblas)) return false;
    switch (p.kind) {
        case Factorization::cholesky:
        case Factorization::lu:
        case Factorization::lu_solve:
        case Factorization::triangular_solve:
        case Factorization::qr:
            return true;
        case Factorization::eigh:
        case Factorization::eigvalsh:
        case Factorization::eig:
        case Factorization::eigvals:
        case Factorization::svd:
        case Factorization::svdvals:
        case Factorization::pinv:
            return std::max(p.m, p.n) <= with_square_work;
        default:
            return false;
    }
}

template <class T>
std::size_t lapack_scratch(Problem& problem) {
    Lapack<T> lapack(problem, problem.work, nullptr, nullptr, nullptr);
    (void)lapack.run();
    return lapack.bytes();
}

template <class T>
Outcome lapack_factorization(const Problem& problem, T* const* in, void* out, std::byte* scratch) {
    std::byte none;  // where nothing is needed, its address says that this is not to measure
    return Lapack<T>(problem, nullptr, in, out, scratch ? scratch : &none).run();
}

}  // namespace weft::cpu::matrix

#else

namespace weft::cpu::matrix {
bool lapack_takes(const Problem&) { return false; }
template <class T>
std::size_t lapack_scratch(Problem&) {
    return 0;
}
template <class T>
Outcome lapack_factorization(const Problem&, T* const*, void*, std::byte*) {
    return Outcome::unsettled;  // nothing is taken, so nothing is asked
}
}  // namespace weft::cpu::matrix

#endif

namespace weft::cpu::matrix {
#define INSTANTIATE(T)                                \
    template std::size_t lapack_scratch<T>(Problem&); \
    template Outcome lapack_factorization<T>(const Problem&, T* const*, void*, std::byte*);
WEFT_MATRIX_TYPES(INSTANTIATE)
#undef INSTANTIATE
}  // namespace weft::cpu::matrix
