#include "weft/viz/explanation.h"

#include <gtest/gtest.h>

#include "weft/base/error.h"

namespace weft::viz {
namespace {

TEST(Explanation, folds_what_is_long_and_loses_none_of_it) {
    weft::Explanation explanation;
    for (int line = 0; line < 500; ++line) explanation.graph += text("line ", line, " <\n");
    std::string page = html(explanation, "long");
    EXPECT_NE(page.find("460 more lines</summary>"), std::string::npos);
    for (int line = 0; line < 500; ++line)
        EXPECT_NE(page.find(text("line ", line, " &lt;\n")), std::string::npos) << line;
}

}  // namespace
}  // namespace weft::viz
