#include "weft/io/idx.h"

#include <gmock/gmock.h>

#include "io/scratch.h"
#include "weft/found.h"
#include "weft/io/gzip.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

TEST(Idx, reads_what_python_wrote) {
    Array array = load_idx(kept("float32.idx"));
    EXPECT_EQ(array.dims, (Dims{2, 3}));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(array.data<float>()[i], i / 4.0f);
}

TEST(Idx, every_type_comes_back) {
    Scratch scratch;
    for (DType dtype : {uint8, int8, int16, int32, float32, float64}) {
        Array array = Array::empty(dtype, {3, 2, 2});
        with_dtype(dtype, [&](auto tag) {
            using T = typename decltype(tag)::Type;
            if constexpr (std::is_arithmetic_v<T>) {
                for (int i = 0; i < 12; ++i) array.data<T>()[i] = static_cast<T>(i * 10 - 3);
            }
        });
        save_idx(scratch / "f", array);
        Array back = load_idx(scratch / "f");
        EXPECT_EQ(back.dtype, dtype);
        EXPECT_EQ(back.dims, array.dims);
        EXPECT_EQ(std::memcmp(back.address(), array.address(), array.bytes()), 0) << dtype;
    }
    EXPECT_THROW(save_idx(scratch / "f", Array::zeros(int64, {1})), DTypeError);
}

TEST(Idx, refuses_what_is_no_idx_file) {
    auto refusal = [](std::string_view bytes) { return error_of([&] { (void)parse_idx(bytes, "f"); }); };
    using namespace std::string_view_literals;
    EXPECT_EQ(refusal(""), "'f' is no IDX file: it holds 0 bytes");
    EXPECT_EQ(refusal("\1\0\x08\1"sv), "'f' is no IDX file: it does not begin with two zeros");
    EXPECT_EQ(refusal("\0\0\x07\1\0\0\0\1a"sv), "'f' is no IDX file: it has no element type of code 7");
    EXPECT_EQ(refusal("\0\0\x08\2\0\0\0\1"sv), "'f' is cut short within the sizes of its 2 axes");
    EXPECT_EQ(refusal("\0\0\x08\1\0\0\0\4abc"sv),
              "'f' is cut short: uint8 of shape (4,) need 12 bytes, the file holds 11");
    EXPECT_EQ(refusal("\0\0\x08\1\0\0\0\2abc"sv),
              "'f' is too long: uint8 of shape (2,) need 10 bytes, the file holds 11");
    EXPECT_THAT(refusal("\0\0\x0e\2\xff\xff\xff\xff\xff\xff\xff\xff"sv),
                HasSubstr("'f' is damaged: its header claims the shape"));
}

TEST(Idx, survives_damage) {
    survives_damage(bytes_of_file(kept("float32.idx")), [](const auto& path) { (void)load_idx(path); });
    survives_damage(bytes_of_file(kept("float32.idx.gz")), [](const auto& path) { (void)load_idx(path); });
}

#if WEFT_HAVE_ZLIB

TEST(Gzip, unfolds_what_gzip_folded) {
    Array array = load_idx(kept("float32.idx.gz"));
    EXPECT_EQ(std::memcmp(array.address(), load_idx(kept("float32.idx")).address(), 24), 0);
    std::string folded = bytes_of_file(kept("float32.idx.gz")), plain = bytes_of_file(kept("float32.idx"));
    EXPECT_EQ(gunzip(folded, 36, "f"), plain);
    EXPECT_EQ(gunzip(folded + folded, 100, "f"), plain + plain);
    EXPECT_EQ(gunzip_begin(folded, 4, "f"), plain.substr(0, 4));
}

TEST(Gzip, refuses_damaged_streams_and_bombs) {
    std::string folded = bytes_of_file(kept("float32.idx.gz"));
    EXPECT_EQ(error_of([&] { (void)gunzip(folded, 35, "f"); }),
              "'f' unfolds to more than the 35 bytes that are allowed here");
    EXPECT_EQ(error_of([&] { (void)gunzip(folded.substr(0, folded.size() - 1), 99, "f"); }),
              "'f' is cut short: the gzip stream has no end");
    EXPECT_EQ(error_of([&] { (void)gunzip(folded + "abc", 99, "f"); }),
              "'f' is damaged: 3 bytes follow the gzip stream");
    std::string wrong_sum = folded;
    wrong_sum[folded.size() - 6] = static_cast<char>(wrong_sum[folded.size() - 6] ^ 1);
    EXPECT_EQ(error_of([&] { (void)gunzip(wrong_sum, 99, "f"); }), "'f' is damaged: incorrect data check");
}

#else

TEST(Gzip, says_that_zlib_is_missing) {
    EXPECT_THAT(error_of([&] { (void)load_idx(kept("float32.idx.gz")); }),
                HasSubstr("made without zlib; unpack it (gunzip "));
}

#endif

}  // namespace
}  // namespace weft::io
