#include "weft/io/file_tree.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "io/scratch.h"
#include "weft/base/environment.h"
#include "weft/found.h"
#include "weft/io/file.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

/// One member as POSIX lays it out.
std::string tar_member(const std::string& name, const std::string& content, char kind = '0') {
    std::string header = name.substr(0, 100);
    header.resize(100, '\0');
    char field[64];
    std::snprintf(field, sizeof field, "%07o%c%07o%c%07o%c%011zo%c%011o%c", 0644, 0, 0, 0, 0, 0, content.size(), 0, 0,
                  0);
    header += std::string(field, 48) + std::string(8, ' ') + kind + std::string(100, '\0');
    header += std::string(
        "ustar\0"
        "00",
        8);
    header.resize(512, '\0');
    unsigned sum = 0;
    for (char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(field, sizeof field, "%06o%c ", sum, 0);
    header.replace(148, 8, std::string(field, 8));
    std::string body = content;
    body.resize((content.size() + 511) / 512 * 512, '\0');
    return header + body;
}
const std::string the_end(1024, '\0');

std::vector<std::string> names(const FileTree& tree) {
    std::vector<std::string> all;
    for (const FileTree::Entry& entry : tree.entries()) all.push_back(entry.name);
    return all;
}

TEST(FileTree, a_folder_and_an_archive_of_it_hold_the_same) {
    Scratch scratch;
    std::filesystem::create_directories(scratch / "f/b");
    put_file(scratch / "f/b/two.txt", "two");
    put_file(scratch / "f/a.txt", "one");
    put_file(scratch / "f.tar", tar_member("b/", "", '5') + tar_member("b/two.txt", "two") +
                                    tar_member("./a.txt", "one") + tar_member("link", "", '2') + the_end);
    for (const char* name : {"f", "f.tar"}) {
        FileTree tree(scratch / name);
        ASSERT_EQ(names(tree), (std::vector<std::string>{"a.txt", "b/two.txt"})) << name;
        EXPECT_EQ(tree.read(tree.entries()[1]), "two");
        EXPECT_THAT(error_of([&] { (void)tree.read(tree.entries()[0], 2); }), HasSubstr("more than the 2"));
    }
}

TEST(FileTree, long_names_are_read_in_both_forms) {
    Scratch scratch;
    std::string name = std::string(90, 'd') + "/" + std::string(90, 'f');
    std::string record = text("190 path=", name, "\n");
    ASSERT_EQ(record.size(), 191u);
    record.replace(0, 3, "191");
    put_file(scratch / "f.tar", tar_member("@LongLink", name + '\0', 'L') + tar_member("x", "1") +
                                    tar_member("pax", record, 'x') + tar_member("y", "2") + tar_member("z", "3") +
                                    the_end);
    EXPECT_EQ(names(FileTree(scratch / "f.tar")), (std::vector<std::string>{name, name, "z"}));
}

TEST(FileTree, names_that_leave_the_folder_are_names_and_nothing_else) {
    Scratch scratch;
    put_file(scratch / "f.tar", tar_member("../../outside", "x") + tar_member("/absolute", "y") + the_end);
    FileTree tree(scratch / "f.tar");
    EXPECT_EQ(tree.read(tree.entries()[0]), "x");
    EXPECT_EQ(scratch.files(), 1u);  // nothing was written
}

TEST(FileTree, damage_is_refused) {
    std::string good = tar_member("a", std::string(700, 'a')) + tar_member("b", "b") + the_end;
    survives_damage(
        good, [](const auto& path) { (void)tar_entries(InputFile(path)); }, 300);
    Scratch scratch;
    auto refusal = [&](const std::string& bytes) {
        put_file(scratch / "f.tar", bytes);
        return error_of([&] { (void)FileTree(scratch / "f.tar"); });
    };
    EXPECT_THAT(refusal(good.substr(0, 900)), HasSubstr("is cut short: 'a' of 700 bytes begins at byte 512"));
    EXPECT_THAT(refusal(good.substr(0, 1600)), HasSubstr("is cut short within a header"));
    EXPECT_THAT(refusal(std::string(512, 'x')), HasSubstr("is no tar archive"));
    EXPECT_THAT(refusal(""), HasSubstr("it is empty"));
    EXPECT_THAT(error_of([&] { (void)FileTree(scratch / "none"); }), HasSubstr("no such folder or archive"));
    put_file(scratch / "f.zip", "PK");
    EXPECT_THAT(error_of([&] { (void)FileTree(scratch / "f.zip"); }), HasSubstr("neither a folder nor an archive"));
}

class Unfolded : public testing::Test {
  protected:
    void SetUp() override {
        if (!WEFT_HAVE_ZLIB) GTEST_SKIP() << "lacks zlib in this build";
        if (auto value = environment("WEFT_CACHE")) old_ = *value;
        ::setenv("WEFT_CACHE", (scratch_ / "cache").c_str(), 1);
    }
    void TearDown() override {
        if (old_.empty())
            ::unsetenv("WEFT_CACHE");
        else
            ::setenv("WEFT_CACHE", old_.c_str(), 1);
    }
    Scratch scratch_;
    std::string old_;
};

TEST_F(Unfolded, a_packed_archive_is_unfolded_once_and_anew_when_it_changes) {
    auto pack = [&](const std::string& content) {
        put_file(scratch_ / "f.tar", tar_member("a.txt", content) + the_end);
        std::string command =
            text("gzip -c '", (scratch_ / "f.tar").string(), "' > '", (scratch_ / "f.tar.gz").string(), "'");
        ASSERT_EQ(std::system(command.c_str()), 0);
    };
    auto content = [&] {
        FileTree tree(scratch_ / "f.tar.gz");
        return tree.read(tree.entries()[0]);
    };
    auto kept_files = [&] {
        return std::distance(std::filesystem::directory_iterator(scratch_ / "cache/unfolded"), {});
    };
    pack("first");
    EXPECT_EQ(content(), "first");
    EXPECT_EQ(content(), "first");
    EXPECT_EQ(kept_files(), 1);
    pack(std::string(5000, 's'));
    EXPECT_EQ(content(), std::string(5000, 's'));
    std::string packed = bytes_of_file(scratch_ / "f.tar.gz");
    put_file(scratch_ / "f.tar.gz", packed.substr(0, packed.size() - 9));
    EXPECT_THAT(error_of([&] { (void)content(); }), HasSubstr("is cut short"));
    EXPECT_EQ(kept_files(), 2);  // nothing half is left
}

}  // namespace
}  // namespace weft::io
