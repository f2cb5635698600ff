#include "weft/core/philox.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "weft/base/environment.h"

namespace weft {
namespace {

TEST(Philox, has_the_known_answers_of_its_authors) {
    // Random123's kat_vectors: counter and key of zeros, of ones, of digits of pi.
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
              (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, has_every_answer_of_the_published_file) {
    std::filesystem::path folder;
    if (auto judges = environment("WEFT_JUDGES"))
        folder = *judges;
    else if (auto data = environment("WEFT_DATA"))
        folder = std::filesystem::path(*data) / ".." / "judges";
    std::ifstream file(folder / "random123-kat_vectors.txt");
    if (folder.empty() || !file)
        GTEST_SKIP() << "neither WEFT_JUDGES nor WEFT_DATA/../judges has random123-kat_vectors.txt";
    int found = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        int rounds = 0;
        if (!(words >> name >> rounds) || name != "philox4x32" || rounds != 10) continue;
        PhiloxCounter counter, expected;
        PhiloxKey key;
        words >> std::hex;
        for (auto& word : counter) words >> word;
        for (auto& word : key) words >> word;
        for (auto& word : expected) words >> word;
        EXPECT_EQ(philox(counter, key), expected) << line;
        ++found;
    }
    EXPECT_GE(found, 3);
}

TEST(Philox, fill_counts_in_128_bits) {
    std::vector<std::uint32_t> words(40);
    PhiloxKey key{7, 9};
    philox_fill(words.data(), 10, ~std::uint64_t{0} - 4, 3, key);
    for (std::uint32_t i = 0; i < 10; ++i) {
        PhiloxCounter counter = i < 5 ? PhiloxCounter{0xfffffffbu + i, ~0u, 3, 0} : PhiloxCounter{i - 5, 0, 4, 0};
        PhiloxCounter block = philox(counter, key);
        for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(words[4 * i + j], block[j]);
    }
}

TEST(Philox, units_lie_in_the_half_open_interval) {
    EXPECT_EQ(unit_float(0), 0.f);
    EXPECT_EQ(unit_float(~0u), 1 - 0x1p-24f);
    EXPECT_EQ(unit_double(~0u, ~0u), 1 - 0x1p-53);
}

}  // namespace
}  // namespace weft
