#include "weft/io/hdf5.h"

#include <gmock/gmock.h>

#include <thread>

#include "io/scratch.h"
#include "weft/found.h"

#ifdef __SANITIZE_ADDRESS__
/// libhdf5 keeps some of what it opened of damaged files; what weft keeps is still seen.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }
#endif

namespace weft::io {
namespace {

using testing::HasSubstr;

/// 0, 1, 2, ... times a number.
template <class T>
void expect_counting(const Array& array, double times = 1) {
    for (std::int64_t i = 0; i < array.size(); ++i)
        ASSERT_EQ(static_cast<double>(array.data<T>()[i]), static_cast<double>(i) * times) << i;
}

class Hdf5 : public testing::Test {
  protected:
    void SetUp() override {
        if (!WEFT_HAVE_HDF5 || !WEFT_HAVE_ZLIB) GTEST_SKIP() << "lacks HDF5 or zlib in this build";
    }
    std::filesystem::path file = kept("arrays.h5");
};

TEST_F(Hdf5, arrays_of_h5py_are_read_plain_in_chunks_and_packed) {
    Array plain = load_hdf5(file, "/plain"), packed = load_hdf5(file, "train/packed"),
          chunks = load_hdf5(file, "/train/chunks");
    EXPECT_EQ(plain.dims, (Dims{5, 4, 3}));
    expect_counting<float>(plain, 0.25);
    EXPECT_EQ(packed.dtype, float64);
    expect_counting<double>(packed);
    EXPECT_EQ(chunks.dtype, DType::int16);
    expect_counting<std::int16_t>(chunks);
    Array half = load_hdf5(file, "/train/half"), truths = load_hdf5(file, "/train/true");
    EXPECT_EQ(half.dtype, DType::float16);
    EXPECT_EQ(truths.dtype, DType::bool_);
    EXPECT_TRUE(truths.data<bool>()[0]);
    EXPECT_FALSE(truths.data<bool>()[1]);
    Array holes = load_hdf5(file, "/holes");
    EXPECT_EQ(holes.data<std::int32_t>()[0], -7);
    EXPECT_EQ(holes.data<std::int32_t>()[5], 5);
    EXPECT_EQ(holes.data<std::int32_t>()[11], -7);
}

TEST_F(Hdf5, rows_are_read_by_several_threads) {
    for (const char* name : {"/train/packed", "/train/chunks", "/plain"}) {
        Hdf5Rows rows(file, name);
        Array whole = rows.whole();
        std::size_t bytes = whole.bytes() / 5;
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&, t] {
                std::vector<std::byte> row(bytes);
                for (int i = 0; i < 20; ++i) {
                    std::int64_t at = (i * 3 + t) % 5;
                    rows.read(at, row.data());
                    const auto* wanted =
                        static_cast<const std::byte*>(whole.address()) + at * static_cast<std::int64_t>(bytes);
                    EXPECT_TRUE(std::equal(row.begin(), row.end(), wanted)) << name << " " << at;
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
}

TEST_F(Hdf5, what_is_wrong_is_named) {
    EXPECT_THAT(error_of([&] { (void)load_hdf5(file, "/train/pakced"); }),
                HasSubstr("has no array '/train/pakced'; did you mean '/train/packed'?"));
    EXPECT_THAT(error_of([&] { (void)load_hdf5(file, "/words"); }), HasSubstr("holds no numbers that weft reads"));
    EXPECT_THAT(error_of([&] { (void)load_hdf5(file, "/one"); }), HasSubstr("has no rows"));
    EXPECT_THAT(error_of([&] { (void)load_hdf5(file, "/lzf"); }), HasSubstr("is packed by the filter 'lzf'"));
    EXPECT_THAT(error_of([&] { (void)load_hdf5(kept("plain.mat"), "/x"); }), HasSubstr("no HDF5 file that weft reads"));
    EXPECT_THAT(error_of([&] { (void)load_hdf5(file.parent_path() / "none.h5", "/x"); }), HasSubstr("No such file"));
    EXPECT_THAT(hdf5_names(file), testing::Contains("/train/packed"));
}

TEST_F(Hdf5, damage_is_refused_or_read) {
    auto load = [](const auto& path) {
        for (const char* name : {"/plain", "/train/packed", "/train/chunks", "/holes"}) {
            try {
                (void)load_hdf5(path, name);
            } catch (const FileError&) {
            }
        }
    };
    survives_damage(bytes_of_file(file), load, 400);
}

TEST(Hdf5Library, that_is_missing_is_named) {
    if (WEFT_HAVE_HDF5) GTEST_SKIP() << "this build has HDF5";
    EXPECT_THAT(error_of([] { (void)load_hdf5(kept("arrays.h5"), "/plain"); }), HasSubstr("libhdf5-dev"));
}

}  // namespace
}  // namespace weft::io
