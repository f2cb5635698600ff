#include "weft/io/picture.h"

#include <gmock/gmock.h>

#include "io/scratch.h"
#include "weft/found.h"
#include "weft/io/file.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

std::vector<int> pixel(const Array& picture, std::int64_t place) {
    std::vector<int> channels;
    std::int64_t plane = picture.dims[1] * picture.dims[2];
    for (std::int64_t c = 0; c < picture.dims[0]; ++c)
        channels.push_back(picture.data<std::uint8_t>()[c * plane + place]);
    return channels;
}

class Pictures : public testing::Test {
  protected:
    void SetUp() override {
        if (!WEFT_HAVE_JPEG || !WEFT_HAVE_PNG) GTEST_SKIP() << "lacks libjpeg or libpng in this build";
    }
};

TEST_F(Pictures, png_is_read_to_the_bit) {
    Array picture = load_picture(kept("colour.png"));
    ASSERT_EQ(picture.dims, (Dims{3, 6, 9}));
    for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 9; ++x)
            EXPECT_EQ(pixel(picture, y * 9 + x), (std::vector<int>{20 * x, 40 * y, 10 * (x + y)}));
    Array grey = load_picture(kept("grey.png"));
    ASSERT_EQ(grey.dims, (Dims{1, 3, 4}));
    EXPECT_EQ(grey.data<std::uint8_t>()[11], 220);
}

TEST_F(Pictures, png_with_transparency_stands_on_black_and_palettes_become_colours) {
    Array clear = load_picture(kept("clear.png"));
    EXPECT_EQ(pixel(clear, 0), (std::vector<int>{200, 100, 50}));
    EXPECT_EQ(pixel(clear, 1), (std::vector<int>{0, 0, 0}));
    EXPECT_EQ(load_picture(kept("palette.png")).dims, (Dims{3, 6, 9}));
}

TEST_F(Pictures, jpeg_is_read_as_pillow_does) {
    Array picture = load_picture(kept("colour.jpg"));
    ASSERT_EQ(picture.dims, (Dims{3, 6, 9}));
    const std::vector<std::vector<int>> pillow{{0, 0, 2},   {18, 1, 11}, {39, 0, 21},
                                               {60, 0, 32}, {79, 1, 43}, {100, 0, 54}};
    for (std::size_t i = 0; i < pillow.size(); ++i) {
        std::vector<int> ours = pixel(picture, static_cast<std::int64_t>(i));
        for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(ours[c], pillow[i][c], 1) << i << " " << c;  // of rounding
    }
    EXPECT_EQ(load_picture(kept("grey.jpg")).dims, (Dims{1, 3, 4}));
}

TEST_F(Pictures, damage_is_refused_or_read) {
    for (const char* name : {"colour.jpg", "colour.png"})
        survives_damage(
            bytes_of_file(kept(name)), [](const auto& path) { (void)load_picture(path); }, 300);
}

TEST_F(Pictures, what_is_cut_short_says_so) {
    for (const char* name : {"colour.jpg", "colour.png"}) {
        std::string bytes = bytes_of_file(kept(name));
        EXPECT_THAT(error_of([&] { (void)parse_picture(std::string_view(bytes).substr(0, bytes.size() - 20), "p"); }),
                    HasSubstr("'p' is cut short or damaged: "));
    }
    EXPECT_THAT(error_of([] { (void)parse_picture("GIF89a", "p"); }), HasSubstr("begins as neither JPEG nor PNG do"));
    EXPECT_THAT(error_of([] { (void)parse_picture("", "p"); }), HasSubstr("it is empty"));
}

TEST(PictureNames, are_told_by_their_ending) {
    EXPECT_TRUE(is_picture("a/b.JPG") && is_picture("x.jpeg") && is_picture("x.png"));
    EXPECT_FALSE(is_picture("x.txt") || is_picture("jpg"));
}

}  // namespace
}  // namespace weft::io
