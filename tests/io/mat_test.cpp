#include "weft/io/mat.h"

#include <gmock/gmock.h>

#include "io/scratch.h"
#include "weft/found.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

class Mat : public testing::Test {
  protected:
    void SetUp() override {
        if (!WEFT_HAVE_MATIO) GTEST_SKIP() << "lacks matio in this build";
    }
};

TEST_F(Mat, arrays_of_scipy_are_read_in_rows) {
    for (const char* name : {"packed.mat", "plain.mat"}) {
        Array x = load_mat(kept(name), "x");
        EXPECT_EQ(x.dtype, float32);
        EXPECT_EQ(x.dims, (Dims{5, 4, 3}));
        ASSERT_TRUE(x.contiguous());
        for (int i = 0; i < 60; ++i) ASSERT_EQ(x.data<float>()[i], static_cast<float>(i) / 4);
        Array y = load_mat(kept(name), "y"), bytes = load_mat(kept(name), "bytes");
        EXPECT_EQ(y.dims, (Dims{5, 1}));
        EXPECT_EQ(y.data<double>()[4], 2);
        EXPECT_EQ(bytes.dtype, DType::uint8);
        EXPECT_EQ(bytes.data<std::uint8_t>()[1], 3);
        EXPECT_EQ(load_mat(kept(name), "true").dtype, DType::bool_);
        EXPECT_EQ(load_mat(kept(name), "big").data<std::int64_t>()[0], -(std::int64_t{1} << 40));
    }
    EXPECT_THAT(mat_names(kept("packed.mat")), testing::ElementsAre("x", "y", "bytes", "true", "big"));
}

TEST_F(Mat, level_73_is_read_as_hdf5) {
    if (!WEFT_HAVE_HDF5) GTEST_SKIP() << "lacks HDF5 in this build";
    Array x = load_mat(kept("matlab73.mat"), "x");
    EXPECT_EQ(x.dims, (Dims{2, 3}));
    EXPECT_EQ(x.data<double>()[1], 2);
    EXPECT_EQ(mat_names(kept("matlab73.mat")), (std::vector<std::string>{"x"}));
}

TEST_F(Mat, what_is_wrong_is_named) {
    EXPECT_THAT(error_of([] { (void)load_mat(kept("plain.mat"), "bites"); }), HasSubstr("has no variable 'bites'"));
    for (const char* name : {"cell", "complex"})
        EXPECT_THAT(error_of([&] { (void)load_mat(kept("plain.mat"), name); }), HasSubstr("no array of real numbers"));
    for (const char* name : {"make.py", "level4.mat", "arrays.h5"})
        EXPECT_THAT(error_of([&] { (void)load_mat(kept(name), "x"); }), HasSubstr("no MATLAB file of level 5"));
}

TEST_F(Mat, damage_is_refused_or_read) {
    auto load = [](const auto& path) {
        for (const char* name : {"x", "y"}) {
            try {
                (void)load_mat(path, name);
            } catch (const FileError&) {
            }
        }
    };
    for (const char* name : {"packed.mat", "plain.mat"}) survives_damage(bytes_of_file(kept(name)), load, 400);
}

TEST(MatLibrary, that_is_missing_is_named) {
    if (WEFT_HAVE_MATIO) GTEST_SKIP() << "this build has matio";
    EXPECT_THAT(error_of([] { (void)load_mat(kept("plain.mat"), "x"); }), HasSubstr("libmatio-dev"));
}

}  // namespace
}  // namespace weft::io
