// For tests of files: a folder of one's own that is gone afterwards, and a loader's trial by damaged files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>

#include "weft/base/error.h"

namespace weft {

class Scratch {
  public:
    Scratch() {
        static std::atomic<int> counter{0};
        folder_ = std::filesystem::temp_directory_path() / text("weft-test-", ::getpid(), "-", counter++);
        std::filesystem::create_directories(folder_);
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
    const std::filesystem::path& folder() const { return folder_; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
    }

  private:
    std::filesystem::path folder_;
};

inline std::string bytes_of_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}
inline void put_file(const std::filesystem::path& path, std::string_view bytes) {
    std::filesystem::remove(
        path);  // some file systems wait for the disk when a file is cut to nothing and written anew
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// What `call` throws, as text; "no error" if nothing.
template <class E = FileError, class F>
std::string error_of(F&& call) {
    try {
        call();
    } catch (const E& error) {
        return error.what();
    }
    return "no error";
}

/// `load` must read each damaged copy of `good` or throw FileError: cut at every length, and with one to eight bytes
/// changed.
inline void survives_damage(const std::string& good, const std::function<void(const std::filesystem::path&)>& load,
                            int trials = 800) {
    Scratch scratch;
    auto attempt = [&](const std::string& bytes) {
        put_file(scratch / "damaged", bytes);
        try {
            load(scratch / "damaged");
        } catch (const FileError&) {
        }
    };
    std::size_t step = good.size() / 300 + 1;
    for (std::size_t length = 0; length <= good.size(); length += step) attempt(good.substr(0, length));
    std::mt19937 random(7);
    for (int i = 0; i < trials; ++i) {
        std::string bytes = good;
        std::size_t within =
            i % 2 ? std::min<std::size_t>(bytes.size(), 200) : bytes.size();  // headers are where it hurts
        for (unsigned k = 1 + random() % 8; k > 0; --k) bytes[random() % within] = static_cast<char>(random());
        attempt(bytes);
    }
    attempt(good + "x");
}

inline std::filesystem::path kept(const std::string& name) {
    return std::filesystem::path(WEFT_SOURCE_DIR) / "tests/io/files" / name;
}

}  // namespace weft
