#include "weft/io/npz.h"

#include <gmock/gmock.h>

#include "io/scratch.h"
#include "weft/found.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

TEST(Npz, numpys_arrays_are_read) {
    auto arrays = load_npz(kept("stored.npz"));
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(arrays.at("a").dims, (Dims{2, 3}));
    EXPECT_EQ(arrays.at("a").data<float>()[5], 1.25f);
    EXPECT_EQ(arrays.at("b").data<std::int64_t>()[0], 3);
    if (!WEFT_HAVE_ZLIB) GTEST_SKIP() << "lacks zlib in this build";
    auto packed = load_npz(kept("packed.npz"));
    EXPECT_EQ(packed.at("a").dims, (Dims{40, 5}));
    EXPECT_EQ(packed.at("label").data<std::uint8_t>()[0], 7);
}

TEST(Npz, damage_is_refused_or_read) {
    for (const char* name : {"stored.npz", "packed.npz"})
        survives_damage(
            bytes_of_file(kept(name)), [](const auto& path) { (void)load_npz(path); }, 400);
}

TEST(Npz, what_is_wrong_is_named) {
    std::string bytes = bytes_of_file(kept("stored.npz"));
    EXPECT_EQ(error_of([] { (void)parse_npz("hello", "z"); }),
              "'z' is no .npz file: it does not begin as a zip archive");
    EXPECT_EQ(error_of([&] { (void)parse_npz(bytes.substr(0, bytes.size() - 30), "z"); }),
              "'z' is cut short: the directory of its arrays is missing");
    if (!WEFT_HAVE_ZLIB) GTEST_SKIP() << "lacks zlib in this build, so no checksums";
    std::string changed = bytes;
    changed[changed.find("PK\3\4") + 200] ^= 1;  // among the numbers, behind both headers
    EXPECT_THAT(error_of([&] { (void)parse_npz(changed, "z"); }), HasSubstr("its checksum is another one"));
}

}  // namespace
}  // namespace weft::io
