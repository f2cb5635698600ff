// A folder in which one process works at a time. The system lets go of the lock when its process ends, however that ends, so nobody finds a
// lock that is left over. Callers: train/, search/search.cpp.
#pragma once

#include <filesystem>

namespace weft::io {

/// Nobody else works in the folder for as long as this lives: no other process, and no other FolderLock of this one. The folder keeps an
/// empty file, .lock.
class FolderLock {
  public:
    /// ConfigError if somebody is at work in it; FileError if it cannot be written to.
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

  private:
    int file_;
};

}  // namespace weft::io
