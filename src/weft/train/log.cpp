#include "weft/train/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "weft/base/error.h"
#include "weft/io/file.h"

namespace weft::train {
namespace {

std::string joined(const std::vector<Json>& lines) {
    std::string all;
    for (const Json& line : lines) all += json_text(line) + "\n";
    return all;
}

}  // namespace

bool is_epoch(const Json& line) { return line.find("epoch") && !line.find("final"); }

bool is_figure(const Json::Member& member) {
    for (const char* other : {"phase", "epoch", "step", "examples", "seconds", "final"}) {
        if (member.key == other) return false;
    }
    return true;
}

std::string phase_of(const Json& line) {
    const Json* phase = line.find("phase");
    return phase ? phase->as_string() : "";
}

std::vector<Json> read_log(const std::filesystem::path& path, std::string* torn) {
    std::string all = io::read_file(path);
    std::vector<Json> lines;
    std::size_t begin = 0;
    for (std::size_t end; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1) {
        std::string_view line(all.data() + begin, end - begin);
        if (line.empty()) continue;
        try {
            lines.push_back(parse_json(line));
        } catch (const FileError& error) {
            if (end + 1 == all.size()) break;  // the last one
            throw FileError(text("'", path.string(), "': line ", lines.size() + 1, " is damaged: ", error.what()));
        }
    }
    if (torn && begin < all.size())
        *torn = text("'", path.string(), "': the last line is cut short or damaged, and left out");
    return lines;
}

Log::Log(std::filesystem::path path, std::int64_t keep) : path_(std::move(path)) {
    if (std::filesystem::exists(path_)) lines_ = read_log(path_);
    if (size() < keep) {
        throw FileError(
            text("'", path_.string(), "' has ", size(), " lines, but the checkpoint was written after ", keep));
    }
    lines_.resize(static_cast<std::size_t>(keep));
    io::write_atomically(path_, joined(lines_));
}

void Log::append(const Json& line) {
    std::string bytes = json_text(line) + "\n";
    int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    ssize_t written = file < 0 ? -1 : ::write(file, bytes.data(), bytes.size());
    bool good = written == static_cast<ssize_t>(bytes.size()) && ::fsync(file) == 0;
    int error = written >= 0 && written < static_cast<ssize_t>(bytes.size()) ? ENOSPC : errno;
    if (file >= 0) ::close(file);
    if (!good)
        throw FileError(text("'", path_.string(), "' cannot be written: ", std::strerror(error),
                             "; what was there before is unchanged"));
    lines_.push_back(line);
    if (copy_) copy_(line);
}

std::vector<double> Log::history(const std::string& phase, const std::string& channel) const {
    std::vector<double> figures;
    for (const Json& line : lines_) {
        const Json* figure = is_epoch(line) && phase_of(line) == phase ? line.find(channel) : nullptr;
        if (figure) figures.push_back(figure->as_number());
    }
    return figures;
}

std::optional<double> Log::kept(const std::string& phase, const std::string& channel) const {
    std::int64_t epoch = 0;
    for (const Json& line : lines_) {
        if (line.find("final") && phase_of(line) == phase) epoch = line.at("epoch").as_integer();
    }
    std::vector<double> figures = history(phase, channel);
    auto index = static_cast<std::size_t>(epoch);
    return epoch > 0 && index <= figures.size() ? std::optional(figures[index - 1]) : std::nullopt;
}

}  // namespace weft::train
