// The oracle's windows: each kind of convolution and pool by running over every (window, element of the window) pair. Gradients
// gather: for each element of the result, all pairs that meet it. Caller: runtime/interpreter.cpp.
#pragma once

#include "weft/ops/window.h"
#include "weft/runtime/interpreter_elements.h"

namespace weft::oracle {

/// f(window, step, place) for every window of `out`, every step inside a window of `kernel`, and the place in `in` that it
/// reads, where there is one. Window and step indices are spatial.
template <class F>
void for_each_pair(const WindowAttributes& a, const Dims& in, const Dims& out, const Dims& kernel, F&& f) {
    for_each_index(out, [&](const Dims& window) {
        for_each_index(kernel, [&](const Dims& step) {
            Dims place;
            for (std::size_t i = 0; i < in.size(); ++i) {
                std::int64_t p = window[i] * a.stride[i] - a.low[i] + step[i] * a.dilation[i], end = in[i];
                if (a.parts) {
                    Part part = part_of(in[i], out[i], window[i]);
                    p = part.first + step[i], end = part.end;
                }
                if (p < 0 || p >= end) return;
                place.push_back(p);
            }
            f(window, step, place);
        });
    });
}

inline Dims spatial(const Elements& x) { return Dims(x.dims().begin() + 2, x.dims().end()); }
inline Dims full(std::int64_t n, std::int64_t c, const Dims& rest) {
    Dims index{n, c};
    for (std::int64_t i : rest) index.push_back(i);
    return index;
}

template <class T>
void run_convolution(const WindowAttributes& a, std::span<const Elements> from, const Elements& to) {
    bool to_x = a.kind == WindowKind::convolution_input_gradient,
         to_w = a.kind == WindowKind::convolution_weight_gradient;
    const Elements &x = to_x ? to : from[0], &w = to_w ? to : from[1], &y = to_x ? from[0] : to_w ? from[1] : to;
    std::int64_t shared = w.dims()[1], outputs = w.dims()[0] / a.groups;
    std::vector<Sum<T>> sums(static_cast<std::size_t>(Layout{to.dtype(), to.dims(), {}}.size()));
    auto sum_at = [&](const Dims& index) -> Sum<T>& {
        std::int64_t flat = 0;
        for (std::size_t i = 0; i < index.size(); ++i) flat = flat * to.dims()[i] + index[i];
        return sums[static_cast<std::size_t>(flat)];
    };
    for_each_pair(a, spatial(x), spatial(y), spatial(w), [&](const Dims& window, const Dims& step, const Dims& place) {
        for_each_index({x.dims()[0], w.dims()[0], shared}, [&](const Dims& at) {
            std::int64_t n = at[0], o = at[1], c = at[2];
            Dims in_x = full(n, o / outputs * shared + c, place), in_w = full(o, c, step), in_y = full(n, o, window);
            if (to_x)
                sum_at(in_x).add_product(y.at<T>(in_y), w.at<T>(in_w));
            else if (to_w)
                sum_at(in_w).add_product(x.at<T>(in_x), y.at<T>(in_y));
            else
                sum_at(in_y).add_product(x.at<T>(in_x), w.at<T>(in_w));
        });
    });
    for_each_index(to.dims(), [&](const Dims& at) { to.at<T>(at) = sum_at(at).result(); });
}

// Where the first maximum (the first NaN) of a window of x stands; empty if the window holds nothing.
template <class T>
Dims first_maximum(const WindowAttributes& a, const Elements& x, std::int64_t n, std::int64_t c, const Dims& window) {
    Dims best;
    for_each_index(a.kernel, [&](const Dims& step) {
        Dims place;
        for (std::size_t i = 0; i < step.size(); ++i) {
            std::int64_t p = window[i] * a.stride[i] - a.low[i] + step[i] * a.dilation[i];
            if (p < 0 || p >= x.dims()[i + 2]) return;
            place.push_back(p);
        }
        T here = x.at<T>(full(n, c, place));
        if (best.empty()) {
            best = place;
            return;
        }
        T there = x.at<T>(full(n, c, best));
        if (there == there && (here > there || here != here)) best = place;
    });
    return best;
}

template <class T>
void run_max(const WindowAttributes& a, std::span<const Elements> from, const Elements& to) {
    const Elements& windows = a.kind == WindowKind::max_pool_gradient ? from[1] : to;
    if (a.kind == WindowKind::max_pool_gradient)
        for_each_index(to.dims(), [&](const Dims& at) { to.at<T>(at) = T(0); });
    for_each_index(windows.dims(), [&](const Dims& at) {
        Dims window(at.begin() + 2, at.end());
        Dims best = first_maximum<T>(a, from[0], at[0], at[1], window);
        if (best.empty()) return;
        Dims there = full(at[0], at[1], best);
        if (a.kind == WindowKind::max_pool) to.at<T>(at) = from[0].at<T>(there);
        if (a.kind == WindowKind::max_pool_select) to.at<T>(at) = from[1].at<T>(there);
        if (a.kind == WindowKind::max_pool_gradient) to.at<T>(there) = joined_sum(to.at<T>(there), from[1].at<T>(at));
    });
}

template <class T>
void run_average(const WindowAttributes& a, const Elements& from, const Elements& to) {
    bool gradient = a.kind == WindowKind::avg_pool_gradient;
    const Elements &x = gradient ? to : from, &y = gradient ? from : to;
    // How many elements each window counts: with padding, what of it lies between the padded ends.
    auto counted = [&](const Dims& window) {
        std::int64_t count = 1;
        for (std::size_t i = 0; i < window.size(); ++i) {
            std::int64_t n = x.dims()[i + 2], start = window[i] * a.stride[i] - a.low[i],
                         end = std::min(start + a.kernel[i], n + a.high[i]);
            if (a.parts) {
                Part part = part_of(n, y.dims()[i + 2], window[i]);
                count *= part.end - part.first;
                continue;
            }
            count *= a.count_padding ? end - start : std::min(end, n) - std::max<std::int64_t>(start, 0);
        }
        return count;
    };
    for_each_index(to.dims(), [&](const Dims& at) {
        Sum<T> sum;
        for_each_pair(a, spatial(x), spatial(y), a.kernel, [&](const Dims& window, const Dims&, const Dims& place) {
            Dims here(at.begin() + 2, at.end());
            if (!gradient && window == here) sum.add(from.at<T>(full(at[0], at[1], place)));
            if (!gradient || !(place == here)) return;
            Sum<T> part;
            part.add(from.at<T>(full(at[0], at[1], window)));
            part.divide(counted(window));
            sum.add(part.result());
        });
        if (!gradient) sum.divide(counted(Dims(at.begin() + 2, at.end())));
        to.at<T>(at) = sum.result();
    });
}

template <class T>
void run_window(const WindowAttributes& a, std::span<const Elements> from, const Elements& to) {
    switch (a.kind) {
        case WindowKind::convolution:
        case WindowKind::convolution_input_gradient:
        case WindowKind::convolution_weight_gradient:
            return run_convolution<T>(a, from, to);
        case WindowKind::avg_pool:
        case WindowKind::avg_pool_gradient:
            return run_average<T>(a, from[0], to);
        default:
            break;
    }
    if constexpr (!is_complex<T>)
        return run_max<T>(a, from, to);
    else
        throw InternalError("the interpreter: complex numbers have no order");
}

}  // namespace weft::oracle
