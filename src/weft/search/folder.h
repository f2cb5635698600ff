// The folder of a search: sweep.json (what is tried), sweep.jsonl (a line a trial that has ended), sweep.html, and trials/001, ...: their
// runs, beside what each was told and has said. Caller: search/search.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "weft/train/trials.h"

namespace weft::search {

class Folder {
  public:
    Folder(std::filesystem::path folder, const train::Trials& trials) : folder_(std::move(folder)), trials_(trials) {}

    /// A new folder, or one in which the same search was begun; else ConfigError.
    void open() const;
    /// Whether open() has been here.
    bool begun() const;
    /// What has ended; without what failed, if that shall be tried again.
    std::vector<train::TrialResult> results(bool retry) const;
    void write_page(const std::vector<train::TrialResult>& results) const;
    /// sweep.json, or cv.json.
    std::filesystem::path file(const char* ending) const { return folder_ / (trials_.kind + ending); }
    /// trials/007, and the files beside it.
    std::filesystem::path of_trial(std::int64_t number, const char* ending = "") const;
    const std::filesystem::path& path() const { return folder_; }

  private:
    std::filesystem::path folder_;
    const train::Trials& trials_;
};

}  // namespace weft::search
