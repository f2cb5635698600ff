#include "weft/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "weft/base/error.h"

namespace weft::io {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : file_(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file_ < 0) throw FileError(text("'", (folder / ".lock").string(), "' cannot be written"));
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(file_);
    throw ConfigError(text("another process is at work in '", folder.string(), "'"));
}

FolderLock::~FolderLock() { ::close(file_); }

}  // namespace weft::io
