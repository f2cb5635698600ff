// Passes of Stockham's algorithm over points that are vectors. The first pass reads, and the last one writes, what is given in a suitable
// order, so that points pass through working memory no more often than there are passes.
#include "weft/backend/cpu/isa/fourier.h"

#include "weft/backend/cpu/isa/fourier_butterflies.h"
#include "weft/backend/cpu/isa/fourier_fold.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class R>
struct FourierRun : FourierButterflies<R> {
    using Base = FourierButterflies<R>;
    using Base::lanes, Base::numbers, Base::all, Base::load_parts, Base::store_parts, Base::load_pairs,
        Base::store_pairs, Base::times, Base::exchanged, Base::turn, Base::load, Base::store;
    using typename Base::Point, typename Base::Vector;
    using Passes = FourierPasses<R>;
    using Place = FourierPlace<R>;

    // Where points of a pass come from and go to.
    struct Working {
        R* data;
        static constexpr bool between = true;  // more passes follow, which want their factors
        WEFT_INLINE Point get(const Working& w, std::int64_t i) { return load_parts(w.data + i * numbers); }
        WEFT_INLINE void put(const Working& w, std::int64_t i, Point x) { store_parts(w.data + i * numbers, x); }
    };
    struct Beside {
        R* data;
        std::int64_t point;  // in numbers
        bool swapped;
        Vector factor;
        static constexpr bool between = false;
        WEFT_INLINE Point get(const Beside& b, std::int64_t i) {
            return exchanged(load_pairs(b.data + i * b.point), b.swapped);
        }
        WEFT_INLINE void put(const Beside& b, std::int64_t i, Point x) {
            x = exchanged(x, b.swapped);
            store_pairs(b.data + i * b.point, {x.re * b.factor, x.im * b.factor});
        }
    };
    struct Parts {
        R* data;
        std::int64_t point;
        const R* turns;
        static constexpr bool between = false;
        WEFT_INLINE void put(const Parts& p, std::int64_t i, Point x) {
            Point turn = load_parts(p.turns + i * p.point);
            store_parts(p.data + i * p.point, times(x, turn.re, turn.im));
        }
    };

    // to[q + done (radix p + k)] = factor(p, k) sum over j of from[q + done (p + rest j)] exp(-2 pi i j k / radix)
    template <int radix, class From, class To>
    static void pass(const From& from, const To& to, const R* factors, std::int64_t rest, std::int64_t done) {
        for (std::int64_t p = 0; p < rest; ++p, factors += 2 * (radix - 1)) {
            for (std::int64_t q = 0; q < done; ++q) {
                Point x[radix];
#pragma GCC unroll 8
                for (int j = 0; j < radix; ++j) x[j] = From::get(from, q + done * (p + rest * j));
                Base::template transform<radix>(x);
                if (To::between && rest > 1) {
#pragma GCC unroll 8
                    for (int k = 1; k < radix; ++k) x[k] = times(x[k], factors + 2 * (k - 1));
                }
#pragma GCC unroll 8
                for (int k = 0; k < radix; ++k) To::put(to, q + done * (radix * p + k), x[k]);
            }
        }
    }

    // The same for any odd radix: of a pair of points k and radix - k each sum is made once.
    static void odd_pass(std::int64_t radix, const R* from, R* to, const R* factors, const R* roots, std::int64_t rest,
                         std::int64_t done) {
        Point sums[Passes::largest_radix / 2], differences[Passes::largest_radix / 2];
        std::int64_t half = radix / 2;
        for (std::int64_t p = 0; p < rest; ++p, factors += 2 * (radix - 1)) {
            for (std::int64_t q = 0; q < done; ++q) {
                auto at = [&](std::int64_t j) { return load_parts(from + (q + done * (p + rest * j)) * numbers); };
                Point first = at(0), total = first;
                for (std::int64_t j = 0; j < half; ++j) {
                    Point a = at(j + 1), b = at(radix - 1 - j);
                    sums[j] = Point::sum(a, b), differences[j] = Point::difference(a, b);
                    total = Point::sum(total, sums[j]);
                }
                R* row = to + (q + done * radix * p) * numbers;
                store_parts(row, total);
                for (std::int64_t k = 1; k <= half; ++k) {
                    Point even = first, odd{};
                    for (std::int64_t j = 0, place = k; j < half; ++j) {
                        even = Base::more(even, all(roots[2 * place]), sums[j]);
                        odd = Base::more(odd, all(roots[2 * place + 1]), differences[j]);
                        place = place + k >= radix ? place + k - radix : place + k;
                    }
                    Point above{even.re - odd.im, even.im + odd.re}, below{even.re + odd.im, even.im - odd.re};
                    store_parts(row + k * done * numbers, times(above, factors + 2 * (k - 1)));
                    store_parts(row + (radix - k) * done * numbers, times(below, factors + 2 * (radix - k - 1)));
                }
            }
        }
    }

    static bool plain(std::int64_t radix) { return radix <= 5 || radix == 8; }
    template <class From, class To>
    static void pass_of(std::int64_t radix, const From& from, const To& to, const R* factors, std::int64_t rest,
                        std::int64_t done) {
        if (radix == 2) return pass<2>(from, to, factors, rest, done);
        if (radix == 3) return pass<3>(from, to, factors, rest, done);
        if (radix == 4) return pass<4>(from, to, factors, rest, done);
        if (radix == 5) return pass<5>(from, to, factors, rest, done);
        return pass<8>(from, to, factors, rest, done);
    }

    static void read(const Place& from, R* work, std::int64_t n, std::int64_t count) {
        if (from.order == FourierOrder::beside) {
            for (std::int64_t i = 0; i < n; ++i)
                store_parts(work + i * numbers, exchanged(load_pairs(from.data + i * from.point, count), from.swapped));
            return;
        }
        if (from.order == FourierOrder::anyhow) {
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < lanes; ++j) {
                    const R* x = from.data + i * from.point + (j < count ? j : 0) * from.lane;
                    work[i * numbers + j] = x[from.swapped], work[i * numbers + lanes + j] = x[!from.swapped];
                }
            return;
        }
        for (std::int64_t i = 0; i < n; i += lanes) {
            Vector re[lanes], im[lanes];
            for (int j = 0; j < lanes; ++j) {  // lanes that are not there do as the first
                const R* row = from.data + (j < count ? j : 0) * from.lane;
                Point x = from.order == FourierOrder::parts ? load_parts(row + 2 * i)
                                                            : exchanged(load_pairs(row + 2 * i, n - i), from.swapped);
                re[j] = x.re, im[j] = x.im;
            }
            turn(re), turn(im);
            for (int j = 0; j < lanes; ++j) store_parts(work + (i + j) * numbers, {re[j], im[j]});
        }
    }

    static void write(const Place& to, const R* work, std::int64_t n, std::int64_t count) {
        Vector factor = all(to.factor);
        auto finished = [&](std::int64_t i) {
            Point x = exchanged(load_parts(work + i * numbers), to.swapped);
            return Point{x.re * factor, x.im * factor};
        };
        if (to.order == FourierOrder::parts) {
            Parts parts{to.data, to.point, to.turns};
            for (std::int64_t i = 0; i < n; ++i) Parts::put(parts, i, load_parts(work + i * numbers));
        } else if (to.order == FourierOrder::beside) {
            for (std::int64_t i = 0; i < n; ++i) store_pairs(to.data + i * to.point, finished(i), count);
        } else if (to.order == FourierOrder::along) {
            for (std::int64_t i = 0; i < n; i += lanes) {
                Vector re[lanes], im[lanes];
                for (int j = 0; j < lanes; ++j) {
                    Point x = finished(i + j);
                    re[j] = x.re, im[j] = x.im;
                }
                turn(re), turn(im);
                for (std::int64_t j = 0; j < count; ++j)
                    store_pairs(to.data + j * to.lane + 2 * i, {re[j], im[j]}, n - i);
            }
        } else {
            for (std::int64_t i = 0; i < n; ++i) {
                R point[numbers];
                store_parts(point, finished(i));
                for (std::int64_t j = 0; j < count; ++j) {
                    R* x = to.data + i * to.point + j * to.lane;
                    x[0] = point[j], x[1] = point[lanes + j];
                }
            }
        }
    }

    static void transform(const Passes& passes, const Place& from, const Place& to, std::int64_t count, R* work) {
        bool whole = count == lanes, small = passes.count > 0 && plain(passes.radices[passes.count - 1]);
        bool reads = whole && small && from.order == FourierOrder::beside && plain(passes.radices[0]);
        bool writes = small && (to.order == FourierOrder::parts || (whole && to.order == FourierOrder::beside));
        Working here{work}, there{work + fourier_work(passes.n, lanes) / 2};
        Beside source{from.data, from.point, from.swapped, {}};
        if (!reads) read(from, here.data, passes.n, count);
        const R *factors = passes.factors, *roots = passes.roots;
        std::int64_t rest = passes.n, done = 1;
        for (std::int64_t i = 0; i < passes.count; ++i) {
            std::int64_t radix = passes.radices[i];
            bool first = reads && i == 0, last = writes && i + 1 == passes.count;
            rest /= radix;
            auto run = [&](const auto& target) {
                if (first) return pass_of(radix, source, target, factors, rest, done);
                pass_of(radix, here, target, factors, rest, done);
            };
            if (!plain(radix)) {
                odd_pass(radix, here.data, there.data, factors, roots, rest, done);
                roots += 2 * radix;
            } else if (!last) {
                run(there);
            } else if (to.order == FourierOrder::parts) {
                run(Parts{to.data, to.point, to.turns});
            } else {
                run(Beside{to.data, to.point, to.swapped, all(to.factor)});
            }
            Working done_here = here;
            here = there, there = done_here;
            factors += 2 * rest * (radix - 1), done *= radix;
        }
        if (!writes) write(to, here.data, passes.n, count);
    }

    static void multiply(R* to, const R* a, const R* b, std::int64_t count, bool conjugate) {
        Vector sign = all(conjugate ? R(-1) : R(1));
        for (std::int64_t i = 0; i < count; i += lanes) {
            Point x = load_pairs(a + 2 * i, count - i), y = load_pairs(b + 2 * i, count - i);
            Point product = times(x, y.re, y.im);
            store_pairs(to + 2 * i, {product.re, product.im * sign}, count - i);
        }
    }
};

}  // namespace

extern const FourierKernels<float> fourier_kernels_f32 = {FourierRun<float>::lanes, FourierRun<float>::transform,
                                                          FourierRun<float>::multiply, FourierFold<float>::fold};
extern const FourierKernels<double> fourier_kernels_f64 = {FourierRun<double>::lanes, FourierRun<double>::transform,
                                                           FourierRun<double>::multiply, FourierFold<double>::fold};

}  // namespace weft::cpu::WEFT_ISA
