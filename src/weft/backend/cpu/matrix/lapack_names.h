// LAPACK's own (Fortran) interface, which OpenBLAS holds: the few routines that are called are declared here, so no header of it is
// needed. Characters have a length behind all other arguments, as gfortran passes it. Caller: matrix/lapack.cpp.
#pragma once

#include <complex>
#include <cstddef>

extern "C" {
#define WEFT_DECLARE_BOTH(p, T)                                                                                 \
    void p##potrf_(const char*, const int*, T*, const int*, int*, std::size_t);                                 \
    void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                                         \
    void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*, int*, \
                   std::size_t);                                                                                \
    void p##trtrs_(const char*, const char*, const char*, const int*, const int*, const T*, const int*, T*,     \
                   const int*, int*, std::size_t, std::size_t, std::size_t);                                    \
    void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
#define WEFT_DECLARE_REAL(p, T)                                                                                      \
    WEFT_DECLARE_BOTH(p, T)                                                                                          \
    void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);              \
    void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, int*, \
                   std::size_t, std::size_t);                                                                        \
    void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, const int*, T*,  \
                  const int*, int*, std::size_t, std::size_t);                                                       \
    void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*,      \
                   const int*, int*, int*, std::size_t);
#define WEFT_DECLARE_COMPLEX(p, T, R)                                                                              \
    WEFT_DECLARE_BOTH(p, T)                                                                                        \
    void p##ungqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);            \
    void p##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*, const int*, int*, \
                   const int*, int*, std::size_t, std::size_t);                                                    \
    void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*,    \
                  const int*, R*, int*, std::size_t, std::size_t);                                                 \
    void p##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*, const int*, T*,    \
                   const int*, R*, int*, int*, std::size_t);
WEFT_DECLARE_REAL(s, float)
WEFT_DECLARE_REAL(d, double)
WEFT_DECLARE_COMPLEX(c, std::complex<float>, float)
WEFT_DECLARE_COMPLEX(z, std::complex<double>, double)
}

namespace weft::cpu::matrix {

/// The routines of a type, under one name each.
template <class T>
struct Routines;
#define WEFT_ROUTINES(T, p, orthogonal, hermitian)                  \
    template <>                                                     \
    struct Routines<T> {                                            \
        static constexpr auto potrf = p##potrf_;                    \
        static constexpr auto getrf = p##getrf_;                    \
        static constexpr auto getrs = p##getrs_;                    \
        static constexpr auto trtrs = p##trtrs_;                    \
        static constexpr auto geqrf = p##geqrf_;                    \
        static constexpr auto generate_q = p##orthogonal##qr_;      \
        static constexpr auto hermitian_eigen = p##hermitian##evd_; \
        static constexpr auto geev = p##geev_;                      \
        static constexpr auto gesdd = p##gesdd_;                    \
    };
WEFT_ROUTINES(float, s, org, sy)
WEFT_ROUTINES(double, d, org, sy)
WEFT_ROUTINES(std::complex<float>, c, ung, he)
WEFT_ROUTINES(std::complex<double>, z, ung, he)

}  // namespace weft::cpu::matrix
