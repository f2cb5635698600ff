// Functions too long for a Program, for doubles, one element at a time. lgamma is the C library's, the others stand on weft's own
// functions and so have the same bits everywhere. Callers: kernel/functions.inc.
#pragma once

namespace weft::special {

/// log|gamma(x)|, without touching the C library's global sign (so any thread may call).
double lgamma(double x);
/// The derivative of lgamma: recurrence down to [1, 2], from 10 on the asymptotic series (Abramowitz & Stegun 6.3.18); reflection
/// below 0, where near a root the error is absolute.
/// NaN at the poles 0 (of either sign: -inf and inf), -1, -2, ...
double digamma(double x);
/// Inverse of erf: a start by Winitzki (2008), polished by Halley steps on erf or erfc.
double erfinv(double x);

}  // namespace weft::special
