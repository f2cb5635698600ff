// Coefficients of the special functions that are programs, lowest power first. Written by tools/minimax/special.py: not to be edited.
// The error is relative to the largest value. Callers: kernel/elementary/.
#pragma once

namespace weft::elementary {

// clang-format off
/// gamma(2 + d), |d| <= 1/2.
template <class T>
struct GammaNear;
template <>
struct GammaNear<float> {  // error 2^-26.8
    static constexpr float c[] = {0x1.0000000000000p+0f, 0x1.b0ee6a0000000p-2f, 0x1.a5b9740000000p-2f, 0x1.4e1b6e0000000p-4f, 0x1.30240e0000000p-4f, -0x1.47b60a0000000p-13f, 0x1.6b92ee0000000p-7f, -0x1.c0ef260000000p-9f, 0x1.3b92a40000000p-9f};
};
template <>
struct GammaNear<double> {  // error 2^-56.6
    static constexpr double c[] = {0x1.0000000000000p+0, 0x1.b0ee6072093c8p-2, 0x1.a5b978b96bec2p-2, 0x1.4e239984668c9p-4, 0x1.301fbb0f24e84p-4, -0x1.17f37479b5bbep-12, 0x1.6d7eeacb91973p-7, -0x1.75e6e75f13738p-9, 0x1.13c448f58ed5ep-9, -0x1.e21f8deab6c31p-11, 0x1.011b0b937ea27p-11, -0x1.f938967a1c6f4p-13, 0x1.fe44649124e8dp-14, -0x1.ffa86d8fb280fp-15, 0x1.004ee0e20080ap-15, -0x1.e724ef1f2d153p-17, 0x1.e76e78065fb6fp-18, -0x1.5ac7b3225c686p-18, 0x1.5ad8ce0446282p-19};
};

/// gamma(x) e^x x^(1/2 - x) / sqrt(2 pi) in 1 / x, x from 8 on.
template <class T>
struct GammaFar;
template <>
struct GammaFar<float> {  // error 2^-33.0
    static constexpr float c[] = {0x1.0000000000000p+0f, 0x1.5555500000000p-4f, 0x1.c73f920000000p-9f, -0x1.628f220000000p-9f};
};
template <>
struct GammaFar<double> {  // error 2^-59.1
    static constexpr double c[] = {0x1.0000000000000p+0, 0x1.55555555554abp-4, 0x1.c71c71c87b216p-9, -0x1.5f72697908e4cp-9, -0x1.e13b2444ffab4p-13, 0x1.9b031ce9eada1p-11, 0x1.2b8fcff026b8ap-14, -0x1.3ff97ec36b5bdp-11, 0x1.f5e13bf8dbf4ap-15, 0x1.11ac1b05e246fp-11};
};

/// erfcinv(y) / s in (s - 3) / (s + 3), s = sqrt(-log(y)), y below 1/2.
template <class T>
struct ErfcinvTail;
template <>
struct ErfcinvTail<float> {  // error 2^-28.1
    static constexpr float c[] = {0x1.cf51b80000000p-1f, 0x1.183b820000000p-2f, -0x1.5b1aa80000000p-2f, 0x1.1d5a140000000p-2f, -0x1.6d93960000000p-3f, 0x1.1c18540000000p-4f, 0x1.502e200000000p-6f, -0x1.3a6cca0000000p-4f, 0x1.86bbf00000000p-4f, -0x1.7a34560000000p-4f, 0x1.2d52060000000p-4f, -0x1.e9711c0000000p-7f, -0x1.f33e000000000p-5f, 0x1.2594ba0000000p-4f, -0x1.9f8c420000000p-6f};
};
template <>
struct ErfcinvTail<double> {  // error 2^-56.0
    static constexpr double c[] = {0x1.cf51b7c46758fp-1, 0x1.183b86e50a734p-2, -0x1.5b1ac5639b5f6p-2, 0x1.1d58c30bbd907p-2, -0x1.6d88c5c8acd1bp-3, 0x1.1c8cf969be0cdp-4, 0x1.49f01e25bddfbp-6, -0x1.3e8503212ae3dp-4, 0x1.9502fbd764b9ap-4, -0x1.6b22e5715c5e1p-4, 0x1.d18e569767458p-5, -0x1.09c6e535273dep-6, -0x1.5df1aafca56ffp-6, 0x1.7ef527adbb549p-5, -0x1.c6e61c1c8d4abp-5, 0x1.88cd9a200a0b7p-5, -0x1.d53601ef4b52dp-6, 0x1.142e4ca3f89ffp-8, 0x1.3d416b751181bp-6, -0x1.261ef4728d193p-5, 0x1.275e6c9976b62p-5, -0x1.5ffb25db7e548p-6, 0x1.243c0412dfe36p-6, -0x1.b9f0fd2edf0b3p-6, -0x1.f987dafa56d18p-8, 0x1.4b7f4993eff25p-4, -0x1.16602f36f477cp-4, -0x1.3fcaf1cbec19ep-5, 0x1.0258165380a9ap-4, 0x1.4b69faf5ba55ep-6, -0x1.622885717b592p-5, -0x1.76e1e448aed51p-7, 0x1.f90b0c5684f25p-6, -0x1.55467105bd8aep-7};
};

/// (J0(x) - 1) / x^2 in x^2 / 32 - 1, x up to 8.
template <class T>
struct J0Near;
template <>
struct J0Near<float> {  // error 2^-29.6
    static constexpr float c[] = {-0x1.e889040000000p-6f, 0x1.e26cba0000000p-5f, -0x1.4437660000000p-4f, 0x1.b98fe80000000p-5f, -0x1.5f79a20000000p-6f, 0x1.6e9a020000000p-8f, -0x1.0e69a00000000p-10f, 0x1.29b46e0000000p-13f, -0x1.0207900000000p-16f, 0x1.5e79580000000p-20f};
};
template <>
struct J0Near<double> {  // error 2^-57.4
    static constexpr double c[] = {-0x1.e88903a07b1d8p-6, 0x1.e26cbac8cdde7p-5, -0x1.443768020fe59p-4, 0x1.b98fe78aeb504p-5, -0x1.5f795610f00f6p-6, 0x1.6e99f01e545b9p-8, -0x1.0e76f23395e72p-10, 0x1.29ba9e58d6b2bp-13, -0x1.fc759ce9e5678p-17, 0x1.5af14aaff95fap-20, -0x1.834b98a9bdf9dp-24, 0x1.6865d90cb4c3cp-28, -0x1.1bf72d086c023p-32, 0x1.8195247fa1b85p-37, -0x1.c3bcccb778013p-42};
};

/// J1(x) / x, the same.
template <class T>
struct J1Near;
template <>
struct J1Near<float> {  // error 2^-30.1
    static constexpr float c[] = {-0x1.dc50720000000p-5f, 0x1.4c042a0000000p-4f, 0x1.364e5c0000000p-3f, -0x1.09d33a0000000p-2f, 0x1.44c7900000000p-3f, -0x1.c07a9c0000000p-5f, 0x1.982f660000000p-7f, -0x1.09e82a0000000p-9f, 0x1.05986c0000000p-12f, -0x1.98f7400000000p-16f, 0x1.fa524c0000000p-20f};
};
template <>
struct J1Near<double> {  // error 2^-58.4
    static constexpr double c[] = {-0x1.dc5071f1209f4p-5, 0x1.4c042a76a3d9ap-4, 0x1.364e5cb5ceb28p-3, -0x1.09d33c82734c7p-2, 0x1.44c7908bb21fap-3, -0x1.c07a4d5a245f9p-5, 0x1.982f5536aba62p-7, -0x1.09f3448afe710p-9, 0x1.059d31145aa0ap-12, -0x1.936bb44012d62p-16, 0x1.f58f15d1dd73fp-20, -0x1.00fdba62dd55dp-23, 0x1.b9f2b1b189a63p-28, -0x1.43968f39d3c0fp-32, 0x1.9a36aed03c986p-37, -0x1.c2c89ea282aaap-42};
};

/// (Y0(x) - 2 / pi (log(x / 2) + gamma) J0(x)) / x^2, the same.
template <class T>
struct Y0Near;
template <>
struct Y0Near<float> {  // error 2^-27.5
    static constexpr float c[] = {-0x1.83f6080000000p-7f, -0x1.860c9a0000000p-7f, 0x1.faeab00000000p-5f, -0x1.e549da0000000p-5f, 0x1.ca1ce20000000p-6f, -0x1.0a43b00000000p-7f, 0x1.a894ae0000000p-10f, -0x1.f064700000000p-13f, 0x1.c434620000000p-16f, -0x1.3fb3760000000p-19f};
};
template <>
struct Y0Near<double> {  // error 2^-61.3
    static constexpr double c[] = {-0x1.83f608690423fp-7, -0x1.860c993309d50p-7, 0x1.faeab930542d5p-5, -0x1.e549db03c2fb1p-5, 0x1.ca1c5250ec68fp-6, -0x1.0a439e59d3581p-7, 0x1.a8add5312513cp-10, -0x1.f0707abfb2a5ep-13, 0x1.bd0788cae8ad8p-16, -0x1.3c43a3aa58aacp-19, 0x1.6d907a7436bc8p-23, -0x1.5eae208a5d1b2p-27, 0x1.1bd748fcd67f3p-31, -0x1.8913fc2903b72p-36, 0x1.d8ecc5163dbbbp-41, -0x1.ef20bf795dd4ep-46};
};

/// (Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, the same.
template <class T>
struct Y1Near;
template <>
struct Y1Near<float> {  // error 2^-29.2
    static constexpr float c[] = {0x1.21d5160000000p-4f, -0x1.f26fde0000000p-3f, 0x1.7edab20000000p-6f, 0x1.e16d740000000p-3f, -0x1.9239520000000p-3f, 0x1.41bbb60000000p-4f, -0x1.41990a0000000p-6f, 0x1.c081a20000000p-9f, -0x1.d156900000000p-12f, 0x1.7c459a0000000p-15f, -0x1.e830620000000p-19f};
};
template <>
struct Y1Near<double> {  // error 2^-57.3
    static constexpr double c[] = {0x1.21d516f81acf6p-4, -0x1.f26fddceafd0ep-3, 0x1.7edab31507ce5p-6, 0x1.e16d7a1d07b70p-3, -0x1.923952d7c4256p-3, 0x1.41bb6917b15d6p-4, -0x1.4198f92a33313p-6, 0x1.c097bb98fe01bp-9, -0x1.d1604f9b92099p-12, 0x1.76c164b810f2fp-15, -0x1.e3516b2bf00d2p-19, 0x1.ff34fd0887975p-23, -0x1.c3f04ecca3d1cp-27, 0x1.532ebc8e4e6f7p-31, -0x1.b7b8e36d2d92ap-36, 0x1.ed0a7abfaa792p-41};
};

/// P of J0 and Y0 in 2 (8 / x)^2 - 1, x from 8 on.
template <class T>
struct HankelP0;
template <>
struct HankelP0<float> {  // error 2^-29.0
    static constexpr float c[] = {0x1.ffb8de0000000p-1f, -0x1.1935fc0000000p-11f, 0x1.9cbe5e0000000p-18f, -0x1.bb79a40000000p-23f};
};
template <>
struct HankelP0<double> {  // error 2^-57.7
    static constexpr double c[] = {0x1.ffb8dd328503dp-1, -0x1.193600c1de9e4p-11, 0x1.9be00160e48adp-18, -0x1.b8d2d71a55f10p-23, 0x1.b7ef129d0c349p-27, -0x1.4d2ea7b5ff916p-30, 0x1.54dd83c570ec3p-33, -0x1.b63de0806d6e6p-36, 0x1.50974ec72d485p-38, -0x1.1dfebdb694fecp-40, 0x1.17f8dc5380d8dp-42, -0x1.cd307ea16673bp-44, 0x1.22b44c20d0316p-45};
};

/// Q x / 8, the same.
template <class T>
struct HankelQ0;
template <>
struct HankelQ0<float> {  // error 2^-28.2
    static constexpr float c[] = {-0x1.fdb5c00000000p-7f, 0x1.1e9a280000000p-14f, -0x1.8c82120000000p-20f, 0x1.34c2620000000p-24f, -0x1.8e03d00000000p-28f};
};
template <>
struct HankelQ0<double> {  // error 2^-56.1
    static constexpr double c[] = {-0x1.fdb5c0b2f3d5bp-7, 0x1.1e9a6138feebbp-14, -0x1.8c84352849033p-20, 0x1.3135a899d41e7p-24, -0x1.858d1bacfdbf7p-28, 0x1.61a5760762203p-31, -0x1.a08311da2b2a8p-34, 0x1.2b95c69e41f96p-36, -0x1.f921a9be4b876p-39, 0x1.e92000e832cd3p-41, -0x1.0668091946277p-42, 0x1.03a67054839f2p-44, -0x1.36db567656e35p-46, 0x1.c9af9c3d116f0p-47, -0x1.5c372909e604fp-48};
};

/// P of J1 and Y1, the same.
template <class T>
struct HankelP1;
template <>
struct HankelP1<float> {  // error 2^-28.9
    static constexpr float c[] = {0x1.003b720000000p+0f, 0x1.d73b880000000p-11f, -0x1.0b94ec0000000p-17f, 0x1.08f2dc0000000p-22f};
};
template <>
struct HankelP1<double> {  // error 2^-57.6
    static constexpr double c[] = {0x1.003b716033732p+0, 0x1.d73b8ea3c10e5p-11, -0x1.0b1541bfc1a50p-17, 0x1.077626543cbbcp-22, -0x1.f96171be525d9p-27, 0x1.75ea6572a7f3cp-30, -0x1.78b886ec4dd32p-33, 0x1.df1be0c9c32f5p-36, -0x1.6d0448dc7998bp-38, 0x1.34716193951d9p-40, -0x1.2c7e37bcb0e8ap-42, 0x1.eb6c4c52846a2p-44, -0x1.34b5237c76148p-45};
};

/// Q x / 8, the same.
template <class T>
struct HankelQ1;
template <>
struct HankelQ1<float> {  // error 2^-29.7
    static constexpr float c[] = {0x1.7f32380000000p-5f, -0x1.938d620000000p-14f, 0x1.e8ddb20000000p-20f, -0x1.6814a80000000p-24f, 0x1.c278e00000000p-28f};
};
template <>
struct HankelQ1<double> {  // error 2^-57.6
    static constexpr double c[] = {0x1.7f323705062fbp-5, -0x1.938da0a0a6a19p-14, 0x1.e8e009ca8f2fcp-20, -0x1.642312741e464p-24, 0x1.b9302a873b418p-28, -0x1.8922f957a2ee5p-31, 0x1.c92e10eca7a23p-34, -0x1.45d24c1553b8dp-36, 0x1.10c4a3a300f0fp-38, -0x1.069f2d4690fb8p-40, 0x1.1882a11595d42p-42, -0x1.1528cc57af727p-44, 0x1.4af02165d68cfp-46, -0x1.e37e7306a7240p-47, 0x1.6f044f2b7f8d2p-48};
};

/// exp(-x) sqrt(x) I0(x) in 16 / x - 1, x from 8 on.
template <class T>
struct I0Far;
template <>
struct I0Far<float> {  // error 2^-29.4
    static constexpr float c[] = {0x1.9bd4280000000p-2f, 0x1.b8798a0000000p-9f, 0x1.1daadc0000000p-13f, 0x1.74d7460000000p-17f, 0x1.8c6c620000000p-20f, 0x1.85f3b20000000p-22f, 0x1.d123fe0000000p-24f};
};
template <>
struct I0Far<double> {  // error 2^-57.0
    static constexpr double c[] = {0x1.9bd428ad249a5p-2, 0x1.b87969bb93b75p-9, 0x1.1daa72b5e650cp-13, 0x1.75e5ee71edd14p-17, 0x1.8e513a1d5e52bp-20, 0x1.3f49a6bcfc2d9p-22, 0x1.7d0f75812d9bcp-24, 0x1.51ced7b713adcp-25, 0x1.7224b1828e507p-26, 0x1.03896efb09a41p-27, -0x1.ce768f00b5374p-28, -0x1.cc90f59ec1228p-27, -0x1.77cc956faaa2fp-28, 0x1.0317d4c7b215ap-27, 0x1.047454ffcb608p-27, -0x1.df1549cddfaf8p-29, -0x1.a9411c5b0ad08p-28, 0x1.9bbbfe31d81e9p-30, 0x1.0ab5ef575d285p-28, -0x1.31c908a5dd531p-31, -0x1.e8fd992032bedp-30, 0x1.42a55974d41b8p-33, 0x1.1ce14787c5bdep-31, -0x1.52109c25bd9ecp-36, -0x1.36e52c10032d7p-34};
};

/// The same of I1.
template <class T>
struct I1Far;
template <>
struct I1Far<float> {  // error 2^-29.2
    static constexpr float c[] = {0x1.8ebe780000000p-2f, -0x1.3f796a0000000p-7f, -0x1.cbc5ca0000000p-13f, -0x1.f76d900000000p-17f, -0x1.ea5ade0000000p-20f, -0x1.c4a4460000000p-22f, -0x1.0642ec0000000p-23f};
};
template <>
struct I1Far<double> {  // error 2^-57.0
    static constexpr double c[] = {0x1.8ebe783a84030p-2, -0x1.3f796198ee628p-7, -0x1.cbc54df1ece76p-13, -0x1.f89c23066d278p-17, -0x1.ec8e101744487p-20, -0x1.76137e6905189p-22, -0x1.ad8db6e1fecbbp-24, -0x1.727a73a8063a8p-25, -0x1.9180f82a1d429p-26, -0x1.21895bb7ba33fp-27, 0x1.cd81846fb3ff1p-28, 0x1.e20e7d69649cap-27, 0x1.9f203cf2783b7p-28, -0x1.0630cddd4e099p-27, -0x1.1465ce7d29637p-27, 0x1.d4345a69bfc30p-29, 0x1.bdc8daed57db9p-28, -0x1.858c7591014bdp-30, -0x1.162964d5f91dbp-28, 0x1.1aee882806184p-31, 0x1.fce6b32270b52p-30, -0x1.272ae05110368p-33, -0x1.2839623e2341cp-31, 0x1.33e83e12ca3b4p-36, 0x1.432b0a4121172p-34};
};

/// exp(x) sqrt(x) K0(x) in (x - 2) / (x + 2), x from 1 on.
template <class T>
struct K0Far;
template <>
struct K0Far<float> {  // error 2^-27.4
    static constexpr float c[] = {0x1.30ae240000000p+0f, 0x1.ac45080000000p-4f, -0x1.28191c0000000p-4f, 0x1.c4ebd40000000p-5f, -0x1.6bca740000000p-5f, 0x1.2df24a0000000p-5f, -0x1.0439a00000000p-5f, 0x1.d79adc0000000p-6f, -0x1.9d9d120000000p-6f, 0x1.1f2fbc0000000p-6f, -0x1.f527c20000000p-8f, 0x1.87c1a40000000p-10f};
};
template <>
struct K0Far<double> {  // error 2^-57.1
    static constexpr double c[] = {0x1.30ae2423de262p+0, 0x1.ac450893fa54dp-4, -0x1.2817f63b0d6dcp-4, 0x1.c4e771bcda8edp-5, -0x1.6c141b93e032dp-5, 0x1.2ed09e1a4eb56p-5, -0x1.020b42a701850p-5, 0x1.bffcf4f6b97d2p-6, -0x1.8a8ff2a0daa30p-6, 0x1.5f9e2e836ce53p-6, -0x1.3c67f990f0807p-6, 0x1.1f0dd116bc743p-6, -0x1.064096e1db84ap-6, 0x1.e22dda673bad4p-7, -0x1.bdab6054b6da4p-7, 0x1.9d2f0d9824f4cp-7, -0x1.7f2b3c6ef04a7p-7, 0x1.65bca37da36bbp-7, -0x1.577dc85ab889dp-7, 0x1.5457936cb5132p-7, -0x1.47f4dfb5b8d69p-7, 0x1.161f30225f254p-7, -0x1.7b048ef83132bp-8, 0x1.81a6eec2e6ba5p-9, -0x1.0f57dfbae8516p-10, 0x1.d462bf1d9da78p-13, -0x1.74b7c525d597cp-16};
};

/// The same of K1.
template <class T>
struct K1Far;
template <>
struct K1Far<float> {  // error 2^-28.3
    static constexpr float c[] = {0x1.76289a0000000p+0f, -0x1.80fb120000000p-2f, 0x1.400c060000000p-2f, -0x1.189cf60000000p-2f, 0x1.f9b9f40000000p-3f, -0x1.cfa8680000000p-3f, 0x1.ad35540000000p-3f, -0x1.93108a0000000p-3f, 0x1.8a6d0c0000000p-3f, -0x1.89cb480000000p-3f, 0x1.5bd99c0000000p-3f, -0x1.c242d00000000p-4f, 0x1.623cb00000000p-5f, -0x1.f055ca0000000p-8f};
};
template <>
struct K1Far<double> {  // error 2^-57.3
    static constexpr double c[] = {0x1.7628990a85c65p+0, -0x1.80fb15bf9d165p-2, 0x1.400c2981113c5p-2, -0x1.189b971b16a5fp-2, 0x1.f9a775808ccf0p-3, -0x1.cfd50b1280f9dp-3, 0x1.aedb4d863dab7p-3, -0x1.93fffc4e5e261p-3, 0x1.7d944e5a840d5p-3, -0x1.6a7f6b71d013ap-3, 0x1.5a00db1357764p-3, -0x1.4b8faa57aee5ep-3, 0x1.3ec659892bed2p-3, -0x1.3359654008da4p-3, 0x1.291bc3939556ap-3, -0x1.1ff3641d7a6b5p-3, 0x1.1773a6d310238p-3, -0x1.0e972309f1692p-3, 0x1.057bbf4ab34bdp-3, -0x1.007f896ac6652p-3, 0x1.05480aff46cf6p-3, -0x1.0e2c25cc0d23fp-3, 0x1.04b0613144817p-3, -0x1.aa9ecc0c1e824p-4, 0x1.12d0d5696e5e7p-4, -0x1.064711f667ad1p-5, 0x1.59b5721abf9c5p-7, -0x1.17ec5f44b6ba7p-9, 0x1.a315b5cdf5669p-13};
};
// clang-format on

}  // namespace weft::elementary
