#include "weft/io/file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "io/scratch.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

TEST(File, what_is_written_is_read) {
    Scratch scratch;
    std::string bytes("a\0b\n", 4);
    write_atomically(scratch / "f", bytes);
    EXPECT_EQ(read_file(scratch / "f"), bytes);
    write_atomically(scratch / "f", "shorter");
    EXPECT_EQ(read_file(scratch / "f"), "shorter");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST(File, refuses_what_cannot_be_read_and_says_why) {
    Scratch scratch;
    std::string missing = (scratch / "missing").string();
    EXPECT_EQ(error_of([&] { (void)read_file(missing); }),
              "'" + missing + "' cannot be read: No such file or directory");
    EXPECT_THAT(error_of([&] { (void)read_file(scratch.folder()); }), HasSubstr("it is a folder"));
    ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
    EXPECT_THAT(error_of([&] { (void)read_file(scratch / "pipe"); }), HasSubstr("it is no regular file"));
    put_file(scratch / "long", "12345");
    EXPECT_THAT(error_of([&] { (void)read_file(scratch / "long", 4); }), HasSubstr("holds 5 bytes, more than the 4"));
}

TEST(File, a_failed_write_leaves_what_was_there) {
    Scratch scratch;
    write_atomically(scratch / "f", "old");
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small{1000, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    std::string error = error_of([&] { write_atomically(scratch / "f", std::string(100000, 'x')); });
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(error, "'" + (scratch / "f").string() +
                         "' cannot be written: File too large; what was there before is unchanged");
    EXPECT_EQ(read_file(scratch / "f"), "old");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST(File, a_folder_that_cannot_be_written_is_named) {
    Scratch scratch;
    put_file(scratch / "file", "");
    EXPECT_THAT(error_of([&] { write_atomically(scratch / "file" / "f", "x"); }), HasSubstr("Not a directory"));
    EXPECT_THAT(error_of([&] { write_atomically(scratch / "none" / "f", "x"); }),
                HasSubstr("No such file or directory"));
    EXPECT_THAT(error_of([&] { write_atomically(scratch.folder(), "x"); }), HasSubstr("cannot be replaced"));
    EXPECT_EQ(scratch.files(), 1u);
}

TEST(File, a_mapped_file_is_its_bytes_and_writes_stay_in_memory) {
    Scratch scratch;
    put_file(scratch / "f", "hello");
    BufferHandle memory = map_file(scratch / "f");
    ASSERT_EQ(memory->bytes(), 5u);
    memory->data()[0] = std::byte{'j'};
    EXPECT_EQ(read_file(scratch / "f"), "hello");
    std::filesystem::remove(scratch / "f");
    EXPECT_EQ(memory->data()[4], std::byte{'o'});
    put_file(scratch / "empty", "");
    EXPECT_EQ(map_file(scratch / "empty")->bytes(), 0u);
}

}  // namespace
}  // namespace weft::io
