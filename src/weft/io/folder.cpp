#include "weft/io/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "weft/base/error.h"
#include "weft/io/file.h"

namespace weft::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* what, int error) {
    throw FileError(
        text("'", path.string(), "' ", what, ": ", std::strerror(error), "; what was there before is unchanged"));
}

fs::path beside(const fs::path& path, const char* ending) {
    fs::path other = path;
    return other += ending;
}

void move(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) fail(to, "cannot be replaced", errno);
}

/// Both names exist; afterwards each has the other's files. False where the system cannot do it in one step.
bool exchange(const fs::path& a, const fs::path& b) {
#ifdef RENAME_EXCHANGE
    if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) fail(b, "cannot be replaced", errno);
#endif
    return false;
}

void discard(const fs::path& path) {
    std::error_code ignored;  // what is left over is removed the next time
    fs::remove_all(path, ignored);
}

}  // namespace

void recover_folder(const fs::path& path) {
    fs::path fresh = beside(path, ".new"), old = beside(path, ".old");
    // Only the second step of the move in two leaves no `path`; by then the new folder is whole.
    if (!fs::exists(path) && fs::exists(old)) move(fs::exists(fresh) ? fresh : old, path);
    discard(fresh);
    discard(old);
}

void replace_folder(const fs::path& path, const std::function<void(const fs::path&)>& write) {
    fs::path fresh = beside(path, ".new"), old = beside(path, ".old");
    recover_folder(path);
    std::error_code error;
    fs::create_directories(fresh, error);
    if (error) fail(fresh, "cannot be made", error.value());
    try {
        write(fresh);
    } catch (...) {
        discard(fresh);
        throw;
    }
    flush_folder(fresh);
    if (!fs::exists(path)) {
        move(fresh, path);
    } else if (!exchange(fresh, path)) {
        move(path, old);
        move(fresh, path);
    }
    flush_folder(path.has_parent_path() ? path.parent_path() : ".");
    discard(fresh);
    discard(old);
}

}  // namespace weft::io
