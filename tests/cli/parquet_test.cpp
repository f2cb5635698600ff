// Parquet from outside: refused with a way out where the module that reads it is not there, or is no module; else described.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/found.h"

namespace weft {
namespace {

using testing::HasSubstr;

class ParquetFiles : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::copy(kept("table.parquet"), folder_ / "t.parquet"); }
    Ended weft(const std::vector<std::string>& words, const std::vector<std::string>& settings = {}) {
        return run(folder_.folder(), words, settings);
    }
    Scratch folder_;
};

TEST_F(ParquetFiles, are_refused_by_place_and_way_out_without_the_module) {
    for (const auto& [module, why] : {std::pair("/nowhere/of_arrow.so", "/nowhere/of_arrow.so: cannot open"),
                                      std::pair("libm.so.6", "it is no module of weft's")}) {
        std::string setting = text("WEFT_PARQUET=", module);
        put_file(folder_ / "e.json",
                 "{\"data\": {\"train\": {\"parquet\": {\"path\": \"t.parquet\", \"x\": \"wide\"}}},\n \"model\": "
                 "{\"sequential\": "
                 "[{\"linear\": 3}]}, \"cost\": \"cross_entropy\", \"optimizer\": \"adam\", \"stop_when\": "
                 "{\"epochs\": 1}}\n");
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"data", "info", "t.parquet"}, {"train", "e.json", "--dry-run"}}) {
            Ended refused = weft(words, {setting});
            EXPECT_NE(refused.status, 0);
            EXPECT_THAT(refused.output,
                        HasSubstr("'t.parquet' is a Parquet file, and libweft_parquet.so, which reads"));
            EXPECT_THAT(refused.output, HasSubstr(why));
            EXPECT_THAT(refused.output, HasSubstr("pandas.read_parquet('t.parquet').to_csv('table.csv', index=False)"));
            EXPECT_THAT(refused.output, HasSubstr(words[0] == "train" ? "e.json:1:41: " : ""));
        }
        EXPECT_THAT(weft({"doctor"}, {setting}).output, HasSubstr(text("parquet         none (", why)));
    }
}

TEST_F(ParquetFiles, are_described_and_trained_on_with_the_module_beside_the_program) {
    if (!WEFT_HAVE_PARQUET) GTEST_SKIP() << "lacks Apache Arrow in this build";
    std::string info = weft({"data", "info", "t.parquet"}).output;
    for (const char* line : {"7 rows, in groups: 3\n", "  column colour: text\n", "  column pair: lists of float32\n",
                             "  column when: timestamp, which weft does not read\n"})
        EXPECT_THAT(info, HasSubstr(line));
    EXPECT_THAT(weft({"doctor"}).output, HasSubstr("parquet         Apache Arrow "));
    put_file(folder_ / "e.json",
             "{\"data\": {\"train\": {\"parquet\": {\"path\": \"t.parquet\", \"x\": [\"wide\", \"pair\"], \"target\": "
             "\"size\", "
             "\"stream\": true}}},\n \"model\": {\"sequential\": [{\"linear\": 3}]}, \"cost\": \"cross_entropy\", "
             "\"optimizer\": \"adam\", \"batch_size\": 2, \"stop_when\": {\"epochs\": 2}}\n");
    Ended trained = weft({"train", "e.json"});
    EXPECT_EQ(trained.status, 0) << trained.output;
}

}  // namespace
}  // namespace weft
