// What example files, and those in the documentation, read besides the sets that weft knows by name: empty files under their names, in a
// folder that is $WEFT_DATA for as long as this lives. Callers: tests that check examples without data.
#pragma once

#include <cstdlib>

#include "io/scratch.h"

namespace weft::train {

class ExampleData {
  public:
    ExampleData() {
        for (const char* name : {"tinyshakespeare/input.txt", "input.txt", "fsdd.tar.gz"}) {
            std::filesystem::create_directories((folder_ / name).parent_path());
            put_file(folder_ / name, "");
        }
        ::setenv("WEFT_DATA", folder_.folder().c_str(), 1);
    }
    ~ExampleData() {
        if (before_.empty())
            ::unsetenv("WEFT_DATA");
        else
            ::setenv("WEFT_DATA", before_.c_str(), 1);
    }
    ExampleData(const ExampleData&) = delete;
    ExampleData& operator=(const ExampleData&) = delete;

  private:
    Scratch folder_;
    std::string before_ = std::getenv("WEFT_DATA") ? std::getenv("WEFT_DATA") : "";
};

}  // namespace weft::train
