#include "weft/io/folder.h"

#include <gtest/gtest.h>

#include "io/scratch.h"
#include "weft/base/error.h"

namespace weft::io {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
  protected:
    void make(const std::string& name, const std::string& content) {
        fs::create_directories(scratch_ / name);
        put_file(scratch_ / name / "file", content);
    }
    std::string content() const { return bytes_of_file(scratch_ / "a" / "file"); }
    void replace(const std::string& content) {
        replace_folder(scratch_ / "a", [&](const fs::path& fresh) { put_file(fresh / "file", content); });
    }
    Scratch scratch_;
};

TEST_F(Folder, is_made_and_replaced_as_a_whole) {
    replace("one");
    EXPECT_EQ(content(), "one");
    put_file(scratch_ / "a" / "other", "x");
    replace("two");
    EXPECT_EQ(content(), "two");
    EXPECT_FALSE(fs::exists(scratch_ / "a" / "other"));
    EXPECT_EQ(scratch_.files(), 1u);
}

TEST_F(Folder, stays_as_it_was_when_writing_fails) {
    replace("one");
    EXPECT_THROW(replace_folder(scratch_ / "a", [](const fs::path&) { throw FileError("no"); }), FileError);
    EXPECT_EQ(content(), "one");
    EXPECT_EQ(scratch_.files(), 1u);
}

TEST_F(Folder, a_replacement_cut_short_at_any_step_is_undone_or_completed) {
    make("a", "old"), make("a.new", "half");  // while the new files are written
    recover_folder(scratch_ / "a");
    EXPECT_EQ(content(), "old");
    fs::rename(scratch_ / "a", scratch_ / "a.old");  // between the two moves: the new folder is whole
    make("a.new", "new");
    recover_folder(scratch_ / "a");
    EXPECT_EQ(content(), "new");
    make("a.old", "old");  // before the old files are removed
    recover_folder(scratch_ / "a");
    EXPECT_EQ(content(), "new");
    EXPECT_EQ(scratch_.files(), 1u);
}

TEST_F(Folder, that_cannot_be_made_is_an_error_that_names_it) {
    put_file(scratch_ / "a", "a file");
    try {
        replace_folder(scratch_ / "a" / "b", [](const fs::path&) {});
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("a/b.new' cannot be made: Not a directory"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace weft::io
