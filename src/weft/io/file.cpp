#include "weft/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "weft/base/error.h"

namespace weft::io {
namespace {

std::string cause() { return std::strerror(errno); }

/// The temporary file of write_atomically: gone again unless it was kept.
class Temporary {
  public:
    explicit Temporary(const std::filesystem::path& target) : target_(target) {
        static std::atomic<unsigned> counter{0};
        path_ = target;
        path_ += text(".tmp-", ::getpid(), "-", counter++);
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0) fail("cannot be written");
    }
    ~Temporary() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (!kept_ && !path_.empty()) ::unlink(path_.c_str());
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;

    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            ssize_t count = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 30));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail("cannot be written");
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void keep() {
        if (::fsync(descriptor_) != 0) fail("cannot be written");
        int closed = ::close(descriptor_);
        descriptor_ = -1;
        if (closed != 0) fail("cannot be written");
        if (::rename(path_.c_str(), target_.c_str()) != 0) fail("cannot be replaced");
        kept_ = true;
        flush_folder(target_.has_parent_path() ? target_.parent_path() : ".");
    }

  private:
    [[noreturn]] void fail(const char* what) {
        std::string why = cause();
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
        ::unlink(path_.c_str());
        throw FileError(text("'", target_.string(), "' ", what, ": ", why, "; what was there before is unchanged"));
    }
    std::filesystem::path target_, path_;
    int descriptor_ = -1;
    bool kept_ = false;
};

}  // namespace

void flush_folder(const std::filesystem::path& folder) {
    int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)::fsync(descriptor);
    ::close(descriptor);
}

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
    // Not blocking: a pipe without a writer must be refused below, not waited for.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) throw FileError(text("'", name(), "' cannot be read: ", cause()));
    struct stat status {};
    bool known = ::fstat(descriptor_, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
        std::string why = !known ? cause() : S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file";
        ::close(descriptor_);
        throw FileError(text("'", name(), "' cannot be read: ", why));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
        ssize_t count = ::pread(descriptor_, at, std::min<std::uint64_t>(bytes, 1u << 30), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw FileError(text("'", name(), "' cannot be read: ", cause()));
        if (count == 0)
            throw FileError(text("'", name(), "' is cut short: ", bytes, " bytes are missing at byte ", offset));
        at += count;
        bytes -= static_cast<std::uint64_t>(count);
        offset += static_cast<std::uint64_t>(count);
    }
}

BufferHandle InputFile::map() const {
    if (size_ == 0) return Buffer::allocate(0);
    // Private and writable: a write to the memory can neither reach the file nor crash.
    void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor_, 0);
    if (memory == MAP_FAILED) throw FileError(text("'", name(), "' cannot be mapped: ", cause()));
    return Buffer::wrap(
        memory, size_, [memory, size = size_] { ::munmap(memory, size); }, false);
}

std::string read_file(const std::filesystem::path& path, std::uint64_t limit) {
    InputFile file(path);
    if (file.size() > limit) {
        throw FileError(
            text("'", file.name(), "' holds ", file.size(), " bytes, more than the ", limit, " that are allowed here"));
    }
    std::string bytes(file.size(), '\0');
    file.read(bytes.data(), bytes.size(), 0);
    return bytes;
}

BufferHandle map_file(const std::filesystem::path& path) { return InputFile(path).map(); }

void write_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
    Temporary temporary(path);
    for (std::string_view piece : pieces) temporary.write(piece);
    temporary.keep();
}

void write_atomically(const std::filesystem::path& path, const std::function<std::string_view()>& next) {
    Temporary temporary(path);
    for (std::string_view piece = next(); !piece.empty(); piece = next()) temporary.write(piece);
    temporary.keep();
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
    write_atomically(path, std::span<const std::string_view>(&bytes, 1));
}

}  // namespace weft::io
