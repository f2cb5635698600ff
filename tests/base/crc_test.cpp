// Checksums against published answers.
#include "weft/base/crc.h"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

TEST(Crc, castagnoli_s_are_those_that_rfc_3720_publishes) {
    EXPECT_EQ(crc<crc32c_polynomial>(std::string(32, '\0')), 0x8a9136aau);
    EXPECT_EQ(crc<crc32c_polynomial>(std::string(32, '\xff')), 0x62a8ab43u);
    EXPECT_EQ(crc<crc32c_polynomial>("123456789"), 0xe3069283u);
}

TEST(Crc, gzip_s_is_that_of_every_empty_png_s_end) {  // ISO/IEC 15948, 11.2.5
    EXPECT_EQ(crc<crc32_polynomial>("IEND"), 0xae426082u);
    EXPECT_EQ(crc<crc32_polynomial>("123456789"), 0xcbf43926u);
}

}  // namespace
}  // namespace weft
