#include "weft/data/fetch.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/md5.h"
#include "weft/base/nearest.h"
#include "weft/io/file.h"
#include "weft/io/file_tree.h"

namespace weft::data {
namespace {

namespace fs = std::filesystem;

constexpr int not_there = 127;  // what a shell says of a program that it does not find

/// Runs a program, found along the PATH, with these words; its exit status.
int run_program(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return not_there;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// "" or what went wrong.
std::string download(const std::string& url, const fs::path& to) {
    int status =
        run_program({"curl", "--fail", "--location", "--silent", "--show-error", "--output", to.string(), url});
    std::string program = "curl";
    if (status == not_there) {
        program = "wget";
        status = run_program({"wget", "--quiet", "--output-document", to.string(), url});
    }
    if (status == 0) return "";
    if (status == not_there) return "there is neither curl nor wget on this machine";
    return text(program, " ended with status ", status, " (is there a network?)");
}

bool is_published(const fs::path& path, const std::string& checksum) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && md5(io::read_file(path)) == checksum;
}

}  // namespace

const std::vector<PublishedSet>& published_sets() {
    static const std::vector<PublishedSet> all = [] {
        const std::string mnist = "https://ossci-datasets.s3.amazonaws.com/mnist/";
        auto digits = [&](const char* name, const char* sum) {
            return PublishedFile{text("mnist/", name), mnist + name, sum};
        };
        return std::vector<PublishedSet>{
            {"mnist",
             "hand-written digits, 12 MB",
             {digits("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
              digits("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
              digits("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
              digits("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c")}},
            {"cifar10",
             "pictures of ten classes, binary, 162 MB",
             {{"cifar-10-binary.tar.gz", "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
               "c32a1d4ab5d03f1284b67883e8d87530"}}},
            {"tinyshakespeare",
             "1.1 MB of plays, for `text: {path: tinyshakespeare/input.txt}`",
             {{"tinyshakespeare/input.txt",
               "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
               "6fb458f1232090904fb40fe944165e91"}}},
        };
    }();
    return all;
}

const PublishedSet& published_set(std::string_view name) {
    std::vector<std::string_view> names;
    for (const PublishedSet& set : published_sets()) {
        if (set.name == name) return set;
        names.push_back(set.name);
    }
    throw ConfigError(
        text("there is no published data set named '", name, "' that weft can fetch", did_you_mean(name, names)));
}

fs::path fetched_folder() { return io::cache_folder() / "data"; }

fs::path find_data(const fs::path& path) {
    std::error_code ignored;
    if (path.is_absolute() || fs::exists(path, ignored)) return path;
    std::vector<fs::path> folders;
    if (auto data = environment("WEFT_DATA")) folders.emplace_back(*data);
    try {
        folders.push_back(fetched_folder());
    } catch (const FileError&) {  // without a home there is no cache to look in
    }
    for (const fs::path& folder : folders) {
        if (fs::exists(folder / path, ignored)) return folder / path;
    }
    return path;
}

bool fetch(const PublishedFile& file, const fs::path& folder) {
    fs::path target = folder / file.path, partial = target;
    if (is_published(target, file.md5)) return false;
    partial += text(".part-", ::getpid());
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error) throw FileError(text("'", target.parent_path().string(), "' cannot be made: ", error.message()));
    std::string wrong = download(file.url, partial);
    if (wrong.empty() && !is_published(partial, file.md5))
        wrong = text("what came is not the published file, whose MD5 is ", file.md5);
    if (wrong.empty()) {
        fs::rename(partial, target, error);
        if (error) wrong = error.message();
    }
    std::error_code ignored;
    fs::remove(partial, ignored);
    // A folder without files would be taken for the data set; one with files stays.
    if (!wrong.empty() && target.parent_path() != folder) fs::remove(target.parent_path(), ignored);
    if (!wrong.empty())
        throw FileError(text("'", file.url, "' was not fetched: ", wrong, ". By hand: get it elsewhere and put it at '",
                             target.string(), "', or below the folder that WEFT_DATA names"));
    return true;
}

}  // namespace weft::data
