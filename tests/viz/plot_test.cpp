// Charts as files of their own: an SVG that an XML parser takes, and pixels whose PNG unpacks to what was drawn.
#include "weft/viz/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

namespace weft::viz {
namespace {

const std::vector<Chart> charts{
    {"loss & <more>", "epoch", "", {{"a", {1, 2, 3}, {1, 0.5, NAN}}, {"b", {1}, {0.7}}}, true},
    {"error", "epoch", "", {{"a", {1, 2}, {0.5, 0.25}}}, false, true}};

TEST(Plot, an_svg_file_is_xml_all_attributes_in_quotes_all_elements_closed) {
    std::string file = svg_file(charts);
    EXPECT_NE(file.find("loss &amp; &lt;more&gt;"), file.npos);
    EXPECT_EQ(file.find("nan"), file.npos);
    std::vector<std::string> open;
    const std::regex tag(R"(<(/?)(\w+)((?: [\w:-]+='[^'<]*')*)(/?)>)");
    std::size_t tags = 0;
    for (std::sregex_iterator it(file.begin(), file.end(), tag), end; it != end; ++it, ++tags) {
        if ((*it)[1].length()) {
            ASSERT_FALSE(open.empty());
            EXPECT_EQ(open.back(), (*it)[2]);
            open.pop_back();
        } else if (!(*it)[4].length()) {
            open.push_back((*it)[2]);
        }
    }
    EXPECT_TRUE(open.empty());
    EXPECT_EQ(tags, static_cast<std::size_t>(std::count(file.begin(), file.end(), '<')));
}

bool has_colour(const Picture& picture, int red, int green, int blue) {
    for (std::size_t i = 0; i < picture.rgba.size(); i += 4) {
        if (picture.rgba[i] == red && picture.rgba[i + 1] == green && picture.rgba[i + 2] == blue) return true;
    }
    return false;
}

TEST(Plot, pixels_have_the_colour_of_each_curve) {
    Picture picture = plotted(charts);
    EXPECT_EQ(picture.width, 1280);
    EXPECT_TRUE(has_colour(picture, 0x2a, 0x78, 0xd6));
    EXPECT_TRUE(has_colour(picture, 0xeb, 0x68, 0x34));
    EXPECT_FALSE(has_colour(picture, 0x1b, 0xaf, 0x7a));  // there is no third curve
}

/// A stream in the code that RFC 1951 gives (3.2.6), whose lengths are all 258.
class Inflated {
  public:
    explicit Inflated(std::string_view bytes) : bytes_(bytes) {
        EXPECT_EQ(number(3), 3u);
        for (std::uint32_t s; (s = symbol()) != 256;) {
            if (s < 256) out.push_back(static_cast<char>(s));
            if (s < 256) continue;
            EXPECT_EQ(s, 285u);
            EXPECT_EQ(code(5), 3u);
            for (int i = 0; i < 258; ++i) out.push_back(out[out.size() - 4]);
        }
    }
    std::string out;

  private:
    std::uint32_t bit() {
        std::uint32_t one = static_cast<std::uint8_t>(bytes_.at(at_ / 8)) >> (at_ % 8) & 1;
        ++at_;
        return one;
    }
    std::uint32_t number(int count) {
        std::uint32_t value = 0;
        for (int i = 0; i < count; ++i) value |= bit() << i;
        return value;
    }
    std::uint32_t code(int count) {
        std::uint32_t value = 0;
        for (int i = 0; i < count; ++i) value = value << 1 | bit();
        return value;
    }
    std::uint32_t symbol() {
        std::uint32_t c = code(7);
        if (c < 0x18) return c + 256;
        c = c << 1 | bit();
        if (c < 0xc0) return c - 0x30;
        if (c < 0xc8) return c - 0xc0 + 280;
        return (c << 1 | bit()) - 0x190 + 144;
    }
    std::string_view bytes_;
    std::size_t at_ = 0;
};

TEST(Picture, a_png_unpacks_to_its_pixels_and_a_drawing_is_small) {
    Picture picture = plotted({charts[0]});
    for (std::size_t i = 0; i < 4000; ++i)
        picture.rgba[i] = static_cast<std::uint8_t>(i * 37 % 256);  // every byte occurs
    std::string file = png(picture);
    EXPECT_LT(file.size(), picture.rgba.size() / 5);
    std::size_t data = file.find("IDAT") + 4;
    Inflated rows(std::string_view(file).substr(data + 2));
    std::size_t row = 4 * static_cast<std::size_t>(picture.width);
    ASSERT_EQ(rows.out.size(), (row + 1) * static_cast<std::size_t>(picture.height));
    for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
        EXPECT_EQ(rows.out[y * (row + 1)], 0);
        EXPECT_EQ(
            rows.out.compare(y * (row + 1) + 1, row, reinterpret_cast<const char*>(picture.rgba.data()) + y * row, row),
            0);
    }
}

}  // namespace
}  // namespace weft::viz
