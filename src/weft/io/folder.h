// A folder replaced as a whole: who opens `path` sees all of the old files or all of the new ones, whenever the process
// ends. The new files are written into `path`.new, flushed to the disk, and the two names are exchanged in one step (or,
// on a file system that cannot, moved in two, which recover_folder completes). Caller: train/checkpoint.cpp.
#pragma once

#include <filesystem>
#include <functional>

namespace weft::io {

/// `write` fills the folder that it is given. FileError, and the old folder as it was, if it or the system fails.
void replace_folder(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write);

/// Completes or undoes a replacement that was cut short; to be called before `path` is read.
void recover_folder(const std::filesystem::path& path);

}  // namespace weft::io
