// Data sets of pictures: a folder a class, and CIFAR-10. Where they lie may be a folder or an archive (io/file_tree.h), as it is or below
// $WEFT_DATA. Callers: data/registry.cpp, users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "weft/data/dataset.h"

namespace weft::data {

struct PictureOptions {
    std::string within = {};  // only what lies below this folder of `path`: "train"
    std::optional<std::pair<std::int64_t, std::int64_t>> size =
        {};               // (height, width) that all are carried to; nothing: all have one
    bool grey = false;    // one channel: Y of ITU-R BT.601
    bool stream = false;  // decoded when a batch wants them, and not kept
};

/// x (n, channels, height, width) of bytes, float32 0 .. 255 in a batch; y the class, int64, by the order of the folders' names.
/// FileError names a picture that is damaged, or has another shape than the first.
Dataset image_folder(const std::filesystem::path& path, const PictureOptions& options = {});

/// CIFAR-10 (Krizhevsky, 2009), 50,000 + 10,000 pictures (3, 32, 32) of ten classes: the published binary files (cifar-10-batches-bin or
/// cifar-10-binary.tar.gz), or one JPEG a picture in train/CLASS and test/CLASS (cifar10-jpeg, also as .tar.gz), whose numbers differ a
/// little from the original's. Empty path: whichever of these is in $WEFT_DATA.
Dataset cifar10(bool train, const std::filesystem::path& path = {});

}  // namespace weft::data
