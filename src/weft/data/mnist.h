// MNIST (LeCun, Cortes, Burges): 60,000 + 10,000 grey pictures of hand-written digits, from its four IDX files,
// compressed by gzip or not, in $WEFT_DATA/mnist. A file whose MD5 is not the published one is refused. Callers:
// data/registry.cpp, users.
#pragma once

#include <cstdint>
#include <string>

#include "weft/data/dataset.h"

namespace weft::data {

struct MnistOptions {
    std::string folder = {};     // or a std::filesystem::path; empty: $WEFT_DATA/mnist
    std::int64_t valid = 10000;  // of the 60,000, the last so many validate
    bool flat = true;            // (n, 784), else (n, 28, 28)
    bool scaled = true;          // batches hold 0 .. 1, else 0 .. 255
};

DataSplits mnist(const MnistOptions& options = {});

/// One of the two parts alone, with grey values 0 .. 255 in (n, 28, 28). FileError says which file is missing or
/// damaged, and what to do if WEFT_DATA is not set.
Dataset mnist_part(bool train, const std::string& folder = {});

}  // namespace weft::data
