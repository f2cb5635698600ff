// Special functions whose number of steps depends on their arguments: element by element, in the widest floating type, rounded once.
// Outside of their domain they are NaN; none throws. Callers: kernel/special.inc.
#pragma once

namespace weft::iterated {

/// The Hurwitz zeta function: the sum of (q + k)^-s over k >= 0, s > 1.
double zeta(double s, double q);

/// The regularised incomplete gamma functions: the lower one P(a, x), the upper one Q(a, x) = 1 - P(a, x), and their inverses in x.
double gammainc(double a, double x);
double gammaincc(double a, double x);
double gammaincinv(double a, double p);
double gammainccinv(double a, double q);

double beta(double a, double b);
double betaln(double a, double b);
/// gamma(x + n) / gamma(x).
double poch(double x, double n);
double binom(double n, double k);
/// The regularised incomplete beta function, and its inverse in x.
double betainc(double a, double b, double x);
double betaincinv(double a, double b, double p);

/// Bessel functions of real order; ive is exp(-|x|) iv, kve is exp(x) kv.
double jv(double order, double x);
double yv(double order, double x);
double iv(double order, double x);
double ive(double order, double x);
double kv(double order, double x);
double kve(double order, double x);

/// Exponential integrals: E1, Ei, and E_n of whole n >= 0; x >= 0 but for Ei.
double exp1(double x);
double expi(double x);
double expn(double n, double x);
/// The integral of log(t) / (1 - t) from 1 to x, x >= 0: the dilogarithm of 1 - x.
double spence(double x);
/// The w >= -1 with w exp(w) = x, x >= -1/e.
double lambertw(double x);

/// Gauss's hypergeometric function 2F1(a, b; c; z), z <= 1.
double hyp2f1(double a, double b, double c, double z);

/// The probability of X > h and 0 < Y < a X for independent standard normal X and Y (Owen, 1956).
double owens_t(double h, double a);

}  // namespace weft::iterated
