#include "weft/search/folder.h"

#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/search/report.h"
#include "weft/train/log.h"

namespace weft::search {

namespace fs = std::filesystem;

bool Folder::begun() const { return fs::exists(file(".json")); }

void Folder::open() const {
    std::error_code error;
    std::string wanted = json_text(trials_.description, 1) + "\n";
    if (begun()) {
        if (io::read_file(file(".json")) != wanted)
            throw ConfigError(text("the ", trials_.kind, " in '", folder_.string(),
                                   "' was begun with another experiment, or other values to try; name another folder "
                                   "(--out)"));
        return;
    }
    if (fs::exists(folder_, error) && !(fs::is_directory(folder_, error) && fs::is_empty(folder_, error)))
        throw ConfigError(
            text("'", folder_.string(), "' is no empty folder, and no ", trials_.kind, "; name another one (--out)"));
    fs::create_directories(folder_ / "trials", error);
    if (error) throw FileError(text("'", folder_.string(), "' cannot be made: ", error.message()));
    io::write_atomically(file(".json"), wanted);
}

std::vector<train::TrialResult> Folder::results(bool retry) const {
    std::vector<train::TrialResult> all;
    if (!fs::exists(file(".jsonl"))) return all;
    for (const Json& line : train::read_log(file(".jsonl"))) {
        if (line.find("final")) continue;
        train::TrialResult result = train::result_in(line);
        bool fits = result.trial >= 1 && result.trial <= static_cast<std::int64_t>(trials_.trials.size()) &&
                    result.rung >= 0 && result.rung < static_cast<std::int64_t>(trials_.rungs.size());
        if (!fits) throw FileError(text("'", file(".jsonl").string(), "' has a trial that there is not"));
        if (!retry || result.error.empty()) all.push_back(std::move(result));
    }
    return all;
}

void Folder::write_page(const std::vector<train::TrialResult>& results) const {
    std::string title = fs::absolute(folder_).lexically_normal().filename().string();
    io::write_atomically(file(".html"), page_of(title, trials_, results));
}

fs::path Folder::of_trial(std::int64_t number, const char* ending) const {
    std::string digits = std::to_string(number);
    return folder_ / "trials" / (std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits + ending);
}

}  // namespace weft::search
