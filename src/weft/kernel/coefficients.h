// Coefficients of weft's own functions, lowest power first, and constants in parts, the largest first. Written by tools/minimax/functions.cpp:
// not to be edited. The error of a polynomial is relative to the function that it serves. Callers: kernel/elementary/.
#pragma once

#include <cstdint>

namespace weft::elementary {

// clang-format off
template <class T>
struct Constants;
template <>
struct Constants<float> {
    static constexpr float ln2[] = {0x1.62e43p-1f, -0x1.05c61p-29f};
    static constexpr float log2_e[] = {0x1.715476p+0f, 0x1.4ae0cp-26f};
    static constexpr float log10_e[] = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
    static constexpr float log10_2[] = {0x1.344136p-2f, -0x1.ec10cp-27f};
    static constexpr float half_pi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
    static constexpr float digamma_root[] = {0x1.762d86p+0f, 0x1.ab5f2p-27f};
};
template <>
struct Constants<double> {
    static constexpr double ln2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    static constexpr double log2_e[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
    static constexpr double log10_e[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
    static constexpr double log10_2[] = {0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59};
    static constexpr double half_pi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
    static constexpr double digamma_root[] = {0x1.762d86356be3fp+0, 0x1.b86a722197839p-54};
};

/// 2 / pi, the bits after the point.
inline constexpr std::uint32_t two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};

/// What rounds x / ln 2 to n (reduce_by_ln2) leaves n + bias - this in a number's low bits, of which code makes 2^(n - this): even, and no denormal but for
/// the last few n.
inline constexpr int exponent_below = 5;

/// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, for e^r.
template <class T>
struct ExpRest;
template <>
struct ExpRest<float> {  // error 2^-28.0
    static constexpr float c[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.1239e2p-7f, 0x1.6a2436p-10f};
};
template <>
struct ExpRest<double> {  // error 2^-60.3
    static constexpr double c[] = {0x1p-1, 0x1.555555555555bp-3, 0x1.5555555555503p-5, 0x1.111111110ec5ep-7, 0x1.6c16c16c3048ep-10, 0x1.a01a01b37e2p-13, 0x1.a01a01368e9c2p-16, 0x1.71ddf020ff128p-19, 0x1.27e5b44889571p-22, 0x1.af6be79ccd19fp-26, 0x1.1e3d29414ae62p-29};
};

/// The same, for e^r - 1.
template <class T>
struct Expm1Rest;
template <>
struct Expm1Rest<float> {  // error 2^-28.8
    static constexpr float c[] = {0x1p-1f, 0x1.555554p-3f, 0x1.5554b2p-5f, 0x1.11118ap-7f, 0x1.6d71f8p-10f, 0x1.a032cp-13f};
};
template <>
struct Expm1Rest<double> {  // error 2^-59.9
    static constexpr double c[] = {0x1p-1, 0x1.5555555555559p-3, 0x1.555555555553fp-5, 0x1.111111110f6dap-7, 0x1.6c16c16c1f073p-10, 0x1.a01a01afd3ea6p-13, 0x1.a01a017bc819dp-16, 0x1.71ddf87ea4a1cp-19, 0x1.27e53628d49ap-22, 0x1.af5e7529a04ap-26, 0x1.1ee88cd0e05e7p-29};
};

/// (2^r - 1) / r for |r| <= 1/2.
template <class T>
struct Exp2Rest;
template <>
struct Exp2Rest<float> {  // error 2^-25.9
    static constexpr float c[] = {0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6aee6p-5f, 0x1.3b2d52p-7f, 0x1.5f400ep-10f, 0x1.41faap-13f};
};
template <>
struct Exp2Rest<double> {  // error 2^-54.7
    static constexpr double c[] = {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a5p-3, 0x1.c6b08d7049fe3p-5, 0x1.3b2ab6fb9ffdcp-7, 0x1.5d87fe78ce0e8p-10, 0x1.4309130f1dbe5p-13, 0x1.ffcbfba7610bfp-17, 0x1.62bfc6e3cc7bap-20, 0x1.b5267f774c90ep-24, 0x1.e61ca304a9516p-28, 0x1.e79a7698fd9f9p-32};
};

/// (2^r - 1 - r ln 2) / r^2, for pow.
template <class T>
struct Exp2Second;
template <>
struct Exp2Second<float> {  // error 2^-30.8
    static constexpr float c[] = {0x1.ebfbep-3f, 0x1.c6b06ep-5f, 0x1.3b2a54p-7f, 0x1.5db4b2p-10f, 0x1.441c0cp-13f, 0x1.c6cc3ep-17f};
};
template <>
struct Exp2Second<double> {  // error 2^-58.5
    static constexpr double c[] = {0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0c8p-5, 0x1.3b2ab6fba4e2ap-7, 0x1.5d87fe78a377fp-10, 0x1.430912f88377bp-13, 0x1.ffcbfc70aa8c3p-17, 0x1.62c021df59453p-20, 0x1.b524e4dae1876p-24, 0x1.e4d08276f1c1p-28, 0x1.e9f73eb5f8a9ap-32, 0x1.c2a69f694706cp-36};
};

/// (tanh x / x - 1) / x^2 in x^2, |x| <= 0.5625.
template <class T>
struct TanhRest;
template <>
struct TanhRest<float> {  // error 2^-28.7
    static constexpr float c[] = {-0x1.555548p-2f, 0x1.110c72p-3f, -0x1.b90946p-5f, 0x1.582fbp-6f, -0x1.95001cp-8f};
};
template <>
struct TanhRest<double> {  // error 2^-56.9
    static constexpr double c[] = {-0x1.555555555554bp-2, 0x1.11111111102b6p-3, -0x1.ba1ba1b935e47p-5, 0x1.664f484956871p-6, -0x1.226e2d0262a7cp-7, 0x1.d6d247940c497p-9, -0x1.7d8b95dd79017p-10, 0x1.3460ac647699bp-11, -0x1.e80a924e59df6p-13, 0x1.5972611ca09b3p-14, -0x1.3d27e8c969bd3p-16};
};

/// (sinh x / x - 1) / x^2 in x^2, |x| <= 1.
template <class T>
struct SinhRest;
template <>
struct SinhRest<float> {  // error 2^-31.1
    static constexpr float c[] = {0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a0225p-13f, 0x1.75935cp-19f};
};
template <>
struct SinhRest<double> {  // error 2^-57.6
    static constexpr double c[] = {0x1.5555555555556p-3, 0x1.111111111101ep-7, 0x1.a01a01a037268p-13, 0x1.71de3a3b03dbep-19, 0x1.ae646fe3e39a5p-26, 0x1.6117172475b62p-33, 0x1.b5af5ac9af2fp-41};
};

/// (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)].
template <class T>
struct LogRest;
template <>
struct LogRest<float> {  // error 2^-27.2
    static constexpr float c[] = {0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a008p-3f, -0x1.547244p-3f, 0x1.22da1cp-3f, -0x1.0d853ep-3f, 0x1.055b6ap-3f, -0x1.38b58cp-4f};
};

/// (2 atanh(s) / s - 2) / s^2 in s^2, s = f / (2 + f).
template <class T>
struct LogSeries;
template <>
struct LogSeries<double> {  // error 2^-58.9
    static constexpr double c[] = {0x1.5555555555592p-1, 0x1.999999997fd88p-2, 0x1.24924941f5121p-2, 0x1.c71c52055c247p-3, 0x1.74663fde5fb29p-3, 0x1.39a19ec96dfa4p-3, 0x1.2f06996732111p-3};
};

/// (2 atanh(s) / s - 2 - 2/3 s^2) / s^4 in s^2: for a logarithm of more than the type's precision.
template <class T>
struct PowSeries;
template <>
struct PowSeries<float> {  // error 2^-36.2
    static constexpr float c[] = {0x1.9999fep-2f, 0x1.2452f4p-2f, 0x1.df8e18p-3f};
};
template <>
struct PowSeries<double> {  // error 2^-68.0
    static constexpr double c[] = {0x1.9999999999998p-2, 0x1.2492492492b75p-2, 0x1.c71c71c5fa597p-3, 0x1.745d17ffb8e5ep-3, 0x1.3b136e9a4ea1ep-3, 0x1.111f1c60f5834p-3, 0x1.de6e29ccc8555p-4, 0x1.e9527eb8368b9p-4};
};

/// (sin r - r) / r^3 in r^2, |r| <= pi / 4.
template <class T>
struct SineRest;
template <>
struct SineRest<float> {  // error 2^-27.2
    static constexpr float c[] = {-0x1.555546p-3f, 0x1.11078p-7f, -0x1.994e2ep-13f};
};
template <>
struct SineRest<double> {  // error 2^-56.4
    static constexpr double c[] = {-0x1.5555555555549p-3, 0x1.111111110f803p-7, -0x1.a01a019c01eadp-13, 0x1.71de35698ac96p-19, -0x1.ae5e5ab8f56cap-26, 0x1.5d8f8eca7afdcp-33};
};

/// (cos r - 1 + r^2 / 2) / r^4 in r^2.
template <class T>
struct CosineRest;
template <>
struct CosineRest<float> {  // error 2^-32.9
    static constexpr float c[] = {0x1.55554ap-5f, -0x1.6c0c18p-10f, 0x1.99df08p-16f};
};
template <>
struct CosineRest<double> {  // error 2^-62.0
    static constexpr double c[] = {0x1.555555555554bp-5, -0x1.6c16c16c15p-10, 0x1.a01a019c8bd01p-16, -0x1.27e4f7edfb9bcp-22, 0x1.1ee9d913ae1ccp-29, -0x1.8fa549eea1a33p-37};
};

/// (asin x / x - 1) / x^2 in x^2, |x| <= 1/2.
template <class T>
struct AsinRest;
template <>
struct AsinRest<float> {  // error 2^-27.2
    static constexpr float c[] = {0x1.5555c8p-3f, 0x1.3301ccp-4f, 0x1.7480dep-5f, 0x1.8c0ccp-6f, 0x1.59862p-5f};
};
template <>
struct AsinRest<double> {  // error 2^-58.2
    static constexpr double c[] = {0x1.5555555555577p-3, 0x1.333333332e08bp-4, 0x1.6db6db7219fe4p-5, 0x1.f1c71a9219d83p-6, 0x1.6e8bdf315e3bep-6, 0x1.1c49ea950e532p-6, 0x1.ca201a80ff66ap-7, 0x1.7580f197b24aep-7, 0x1.6156cc11b518p-7, 0x1.e461351468794p-9, 0x1.6419cdfcff5c9p-6, -0x1.58b24c291a9a6p-6, 0x1.0b80596dd539cp-5};
};

/// (atan x / x - 1) / x^2 in x^2, |x| <= tan(pi / 8).
template <class T>
struct AtanRest;
template <>
struct AtanRest<float> {  // error 2^-28.3
    static constexpr float c[] = {-0x1.55554ap-2f, 0x1.999194p-3f, -0x1.23b504p-3f, 0x1.b1ea5ep-4f, -0x1.f1e3dcp-5f};
};
template <>
struct AtanRest<double> {  // error 2^-57.3
    static constexpr double c[] = {-0x1.555555555553dp-2, 0x1.99999999957afp-3, -0x1.24924922a984ep-3, 0x1.c71c70e4bc16cp-4, -0x1.745cf8b9de32cp-4, 0x1.3b1116e4fde79p-4, -0x1.10eba0bbf70e6p-4, 0x1.df0e0804507d9p-5, -0x1.9ccd54f6d7127p-5, 0x1.37c882a996d98p-5, -0x1.254eb5a88dab1p-6};
};

/// erf(x) / x - 1 in x^2, |x| <= 1.
template <class T>
struct ErfNear;
template <>
struct ErfNear<float> {  // error 2^-28.6
    static constexpr float c[] = {0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2cf8p-4f, -0x1.b7f90ep-6f, 0x1.5405b2p-8f, -0x1.a3f702p-11f, 0x1.496a3ap-14f};
};
template <>
struct ErfNear<double> {  // error 2^-54.8
    static constexpr double c[] = {0x1.06eba8214db68p-3, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d16p-4, -0x1.b82ce311fa948p-6, 0x1.565bccf92b40cp-8, -0x1.c02db03dd9404p-11, 0x1.f9a2baa92930bp-14, -0x1.f4ca4d7157c71p-17, 0x1.b97fd3eaabcc5p-20, -0x1.5c07274683743p-23, 0x1.d71b11045784bp-27, -0x1.abae4dc4327cdp-31};
};

/// Where erf changes its polynomial, the square that the first is counted from, and where erf is 1.
template <class T>
inline constexpr T erf_split = T(sizeof(T) == 4 ? 1.35 : 1.414);
template <class T>
inline constexpr T erf_centre = T(sizeof(T) == 4 ? 0.90625 : 1.03125);
template <class T>
inline constexpr T erf_top = T(sizeof(T) == 4 ? 3.93 : 5.95);

/// erf(x) / x - 1 in x^2 - erf_centre, below erf_split.
template <class T>
struct ErfInner;
template <>
struct ErfInner<float> {  // error 2^-27.1
    static constexpr float c[] = {-0x1.180f5cp-3f, -0x1.cc45bcp-3f, 0x1.ed6028p-5f, -0x1.b8ff2p-7f, 0x1.495dc8p-9f, -0x1.a3860ep-12f, 0x1.da0b2ep-15f, -0x1.c71538p-18f};
};
template <>
struct ErfInner<double> {  // error 2^-58.3
    static constexpr double c[] = {-0x1.4fb82a9afa15ap-3, -0x1.aeb0707587429p-3, 0x1.c5e6325b1de76p-5, -0x1.91cbb82ae3522p-7, 0x1.2a513e0ce0a65p-9, -0x1.7a3b81c093549p-12, 0x1.a0e64840809cbp-15, -0x1.95b02134f9191p-18, 0x1.610696ed9c07dp-21, -0x1.15a636eaa2f35p-24, 0x1.8e419162272b7p-28, -0x1.066e96b7a9ba9p-31, 0x1.3fca4c8c380e6p-35, -0x1.6a4893e290dabp-39, 0x1.854abf904e1b9p-43, -0x1.8b87e9423ea62p-47};
};

/// The fourth root of erfc(x), of doubles the eighth, from erf_split on.
template <class T>
struct ErfcRoot;
template <>
struct ErfcRoot<float> {  // error 2^-27.2
    static constexpr float c[] = {0x1.01e8c8p+0f, -0x1.43d616p-2f, -0x1.a57d24p-5f, -0x1.f385d8p-5f, 0x1.250e98p-4f, -0x1.870344p-6f, 0x1.cbdfecp-9f, -0x1.a09d4ep-13f};
};
template <>
struct ErfcRoot<double> {  // error 2^-56.1
    static constexpr double c[] = {0x1.ffffcad275bddp-1, -0x1.20d72ae60f90fp-3, -0x1.1d6142ea5fec1p-4, -0x1.05a2609f4acc7p-9, 0x1.a6adea9bca95ap-8, 0x1.62c0d1df66fa1p-12, -0x1.4cec836179384p-11, 0x1.52c3cfde86018p-13, -0x1.2d04361037a3dp-15, 0x1.30e98c831c2a1p-17, -0x1.c1cce5958f0edp-20, 0x1.6329ecab4e8ecp-23, -0x1.aecfda4cf0c16p-29, -0x1.1ff47df9ee526p-30, 0x1.d2e49b38c98bp-34, -0x1.dc02a35054556p-39};
};

/// erf(x) / x - 1 in x^2, |x| <= 1/2, for erfc.
template <class T>
struct ErfSmall;
template <>
struct ErfSmall<float> {  // error 2^-28.4
    static constexpr float c[] = {0x1.06eba8p-3f, -0x1.812732p-2f, 0x1.ce24f8p-4f, -0x1.b663c4p-6f, 0x1.3532bep-8f};
};
template <>
struct ErfSmall<double> {  // error 2^-56.0
    static constexpr double c[] = {0x1.06eba8214db68p-3, -0x1.812746b0379b3p-2, 0x1.ce2f21a03d68fp-4, -0x1.b82ce30f1f0acp-6, 0x1.565bcbf5e9437p-8, -0x1.c02d4ea483383p-11, 0x1.f98d9593705c1p-14, -0x1.f222979795cd3p-17, 0x1.8b392807430f3p-20};
};

inline constexpr double erfc_centre = 0x1.1cp+1;

/// (1 + 2 a) exp(a^2) erfc(a) in (a - centre) / (a + centre), for a from 1/2 to where erfc(a) is 0.
template <class T>
struct ErfcScaled;
template <>
struct ErfcScaled<float> {  // error 2^-26.8
    static constexpr float c[] = {0x1.45910cp+0f, -0x1.bbfe5ap-4f, -0x1.1483cp-3f, 0x1.534fe2p-3f, -0x1.47b14ap-4f, 0x1.20a4e6p-7f, 0x1.15faf4p-7f, -0x1.1f9ad8p-9f, -0x1.18e1c2p-10f, 0x1.3e7324p-12f};
};
template <>
struct ErfcScaled<double> {  // error 2^-55.2
    static constexpr double c[] = {0x1.45910bfddafe9p+0, -0x1.bbfe59be99bddp-4, -0x1.14837243eac41p-3, 0x1.534fe5564d5a9p-3, -0x1.47bd7de5aefd2p-4, 0x1.20a7d7202ab61p-7, 0x1.18acd6f5df06ap-7, -0x1.204ab91f1cd7fp-9, -0x1.58a90ba4a97dcp-10, 0x1.537fc4c81dcf3p-12, 0x1.22410633e89b1p-12, -0x1.583c4957c1039p-16, -0x1.016400ccfe46ep-14, -0x1.6424f2e057274p-17, 0x1.6ac731e964356p-17, 0x1.919dd83e287e3p-18, -0x1.0e4693814823ap-21, -0x1.dfb7345d4b365p-20, -0x1.3534b29bba47ep-21, 0x1.6c2d20f697782p-22, 0x1.03559673e5c79p-22, -0x1.64fc99cc0acf3p-25, -0x1.17576cf759396p-25};
};

inline constexpr double gelu_centre = 0x1.8p-1, gelu_pole = 0x1p+2;

/// (a - sqrt(pi / 2) exp(a^2 / 2) erfc(a / sqrt(2))) / sqrt(2 pi) / (a + pole) in (a - centre) / (a + pole), from 0 to where exp(-a^2 / 2) is 0.
template <class T>
struct GeluSlope;
template <>
struct GeluSlope<float> {  // error 2^-24.9
    static constexpr float c[] = {-0x1.c4e018p-13f, 0x1.255694p-1f, -0x1.9d367p-2f, 0x1.b257a2p-2f, -0x1.260714p-2f, 0x1.9daa1ep-4f, 0x1.a0cea4p-8f, -0x1.24e172p-6f, -0x1.36b988p-11f, 0x1.70cecp-8f, -0x1.d227eap-10f};
};
template <>
struct GeluSlope<double> {  // error 2^-54.6
    static constexpr double c[] = {-0x1.c4e0175091db2p-13, 0x1.255693f04c894p-1, -0x1.9d366f6840fd1p-2, 0x1.b257962d1b225p-2, -0x1.2606f3ac9165fp-2, 0x1.9db2b1c32fb85p-4, 0x1.9e3752f0aa459p-8, -0x1.259a5ff5b9501p-6, 0x1.79e458289c2c9p-14, 0x1.ef17f7bce570cp-9, 0x1.9645da8f87ab5p-12, -0x1.c0da2a2186d73p-11, -0x1.4475530558d92p-12, 0x1.28fcd0bc0c53dp-13, 0x1.199645c3a2236p-13, 0x1.be12ced879fe9p-17, -0x1.335fd199602d6p-18, -0x1.2debbe7cea50fp-13, 0x1.0e955ba6f56bfp-12, -0x1.6680b1df98986p-12, 0x1.4e8c234299bd4p-12, -0x1.7ac594f929b3ap-13, 0x1.d21935eee6c7ep-15, -0x1.e2b2d44d8de59p-18};
};

/// digamma(x) / (x - root) in x - 3/2, x from 1 to 2.
template <class T>
struct DigammaNear;
template <>
struct DigammaNear<float> {  // error 2^-25.7
    static constexpr float c[] = {0x1.e6f0ccp-1f, -0x1.b1cb68p-2f, 0x1.eca19cp-3f, -0x1.2febb4p-3f, 0x1.850beep-4f, -0x1.fc5f2p-5f, 0x1.4ee23ap-5f, -0x1.a6655cp-6f, 0x1.163496p-6f, -0x1.0c6ffp-6f, 0x1.6c5758p-7f};
};
template <>
struct DigammaNear<double> {  // error 2^-53.5
    static constexpr double c[] = {0x1.e6f0cbb873617p-1, -0x1.b1cb63005ee98p-2, 0x1.eca189b8e6d99p-3, -0x1.2feeeb98a7a33p-3, 0x1.8512e5905da58p-4, -0x1.fb44202a07263p-5, 0x1.4de9aa059a6c7p-5, -0x1.b9f8b124a2ea5p-6, 0x1.256475f1416a1p-6, -0x1.8635627af8a06p-7, 0x1.03c006a6df766p-7, -0x1.5a06cc7e00a47p-8, 0x1.cd3e7434ad599p-9, -0x1.336b43258f41cp-9, 0x1.980d9cdd443c2p-10, -0x1.0fcd4c0a4e385p-10, 0x1.7b4a13d78e9dfp-11, -0x1.fc46d1032f623p-12, 0x1.dc1b195909ca6p-13, -0x1.343c01712baf5p-13, 0x1.1079642c3a9eep-12, -0x1.7247949ee5c44p-13};
};

/// (log x - 1 / 2x - digamma(x)) x^2 in 1 / x^2, x from 10 on.
template <class T>
struct DigammaFar;
template <>
struct DigammaFar<float> {  // error 2^-32.6
    static constexpr float c[] = {0x1.555528p-4f, -0x1.0f459p-7f};
};
template <>
struct DigammaFar<double> {  // error 2^-56.4
    static constexpr double c[] = {0x1.5555555554875p-4, -0x1.111110ed13c14p-7, 0x1.040fbe5457f1bp-8, -0x1.10a923660b551p-8, 0x1.ca8a4aa2a53fp-8};
};

/// lgamma(2 + d) / d for -3/4 <= d <= 1/2.
template <class T>
struct LgammaNear;
template <>
struct LgammaNear<float> {  // error 2^-22.9
    static constexpr float c[] = {0x1.b0ee6p-2f, 0x1.4a34cep-2f, -0x1.13e05ep-4f, 0x1.512ea2p-6f, -0x1.e39b4cp-8f, 0x1.7ca856p-9f, -0x1.41f0acp-10f, 0x1.c08b16p-12f, -0x1.6a10fep-13f, 0x1.16334ap-12f};
};
template <>
struct LgammaNear<double> {  // error 2^-53.0
    static constexpr double c[] = {0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa5p-2, -0x1.13e001a5576e1p-4, 0x1.51322ac7d90b1p-6, -0x1.e404fc213d63ep-8, 0x1.7add6eacd9bfep-9, -0x1.38ac5c5be7549p-10, 0x1.0b36af9d4601bp-11, -0x1.d3fd304adcea8p-13, 0x1.a127cbf1947edp-14, -0x1.78e2f9741d87dp-15, 0x1.58044cce1295dp-16, -0x1.3c4e11b063aa2p-17, 0x1.26ebe3df965bbp-18, -0x1.173cab818958cp-19, 0x1.cfeddf7655879p-21, -0x1.ac54a94a1cedbp-22, 0x1.c6cd887141ea9p-22, -0x1.9af2534056f26p-25, -0x1.38e3450bcb8ddp-23, -0x1.6f72a1df0b27ep-23};
};

/// What Stirling's formula for lgamma(x) lacks, times x, in 1 / x^2, x from 8 on.
template <class T>
struct LgammaFar;
template <>
struct LgammaFar<float> {  // error 2^-32.9
    static constexpr float c[] = {0x1.55554p-4f, -0x1.69e22ep-9f};
};
template <>
struct LgammaFar<double> {  // error 2^-56.1
    static constexpr double c[] = {0x1.5555555554b63p-4, -0x1.6c16c1231a0bap-9, 0x1.a018a92a88e47p-11, -0x1.37620d5deb77ap-11, 0x1.8f4cc8657d875p-11};
};

/// Where erfinv changes its variable, and what the second one is counted from.
inline constexpr double erfinv_far = 0x1.9p+2, erfinv_centre = 0x1.1p+2;

/// erfinv(x) / x in w - erfinv_far / 2, w = -log(1 - x^2) up to erfinv_far.
template <class T>
struct ErfinvNear;
template <>
struct ErfinvNear<float> {  // error 2^-25.4
    static constexpr float c[] = {0x1.a755e8p+0f, 0x1.ebd80cp-3f, -0x1.8b6d32p-8f, -0x1.84556cp-11f, 0x1.87bf4ep-13f, -0x1.d21eb2p-17f, -0x1.75a626p-20f, 0x1.c9bf2ap-22f, -0x1.9fe828p-26f, -0x1.3ec3ap-28f, 0x1.5e9e54p-31f};
};
template <>
struct ErfinvNear<double> {  // error 2^-54.4
    static constexpr double c[] = {0x1.a755e7c99ae86p+0, 0x1.ebd80d9b13df7p-3, -0x1.8b6c33114ee4p-8, -0x1.845769483411p-11, 0x1.879c2a20d6bb1p-13, -0x1.d1d1f7cb0801fp-17, -0x1.6e8a53ee34e9fp-20, 0x1.c6b4f8af3203p-22, -0x1.f36ce5420c6dfp-26, -0x1.1a9eb6f3ae45ap-28, 0x1.20f4eb25f9ef4p-30, -0x1.dc3dd2c9d1ddp-35, -0x1.c8960c7d9b9cbp-37, 0x1.723082935f5ffp-39, -0x1.6d8ebe10f044ep-44, -0x1.6832248c2bf56p-45, 0x1.db32bf4f902cap-48, -0x1.8b5e561cf3972p-55, -0x1.2bd98577da3cfp-53, 0x1.22b78a75f65fcp-56, 0x1.51c543ed09bbdp-60, -0x1.a61f0588986c7p-62, -0x1.30f8867fa99cfp-70, 0x1.fe216d8a5a5b7p-69};
};

/// erfinv(x) / x in sqrt(w) - erfinv_centre, from there on.
template <class T>
struct ErfinvFar;
template <>
struct ErfinvFar<float> {  // error 2^-26.1
    static constexpr float c[] = {0x1.05e6dep+2f, 0x1.02871p+0f, 0x1.e938aap-14f, -0x1.3917f8p-9f, -0x1.7715ap-9f, -0x1.a48d96p-9f, -0x1.dd6fd8p-10f, -0x1.1fdd1ep-11f, -0x1.36f16ap-15f};
};
template <>
struct ErfinvFar<double> {  // error 2^-52.7
    static constexpr double c[] = {0x1.05e6fd13251afp+2, 0x1.028defb613f8bp+0, 0x1.75afae9527481p-11, -0x1.3eb627bcf655bp-11, 0x1.bcf78166c0a15p-13, -0x1.0e322e5880564p-14, 0x1.70c3f017412c2p-16, -0x1.562d424279afap-17, 0x1.85b7ff7296893p-18, -0x1.aefdb76a5f6fep-19, 0x1.90053b01461b1p-20, -0x1.149f740e985c3p-21, 0x1.908df52fd14efp-24, 0x1.b7c93dd1da0b7p-26, -0x1.02a20748366aap-25, 0x1.ce1deefea7131p-27, -0x1.a9311a0195505p-29, -0x1.b184a9833c91dp-33, 0x1.066d47c3cb5e8p-31, -0x1.934a7c3a3eb5dp-33, 0x1.eedca803afc8ap-36, 0x1.85c007e6df9e8p-40, -0x1.64ec783710cc5p-39, 0x1.0ade3a5b72842p-39, -0x1.491d901c430b9p-41, -0x1.3bb73623a29b2p-44, 0x1.16ec93435ce96p-44, -0x1.06649c4f13d9p-48, -0x1.664d265bf532ep-50};
};
// clang-format on

}  // namespace weft::elementary
