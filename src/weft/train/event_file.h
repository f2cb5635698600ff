// A copy of the log as TensorBoard reads it: a file of records (TFRecord: length, masked CRC-32C of it, bytes, masked CRC-32C of them), each
// a protocol buffer `Event` (wall_time = 1, step = 2, file_version = 3, summary = 5, of values with tag = 1 and simple_value = 2). It is
// made of the log anew whenever a run goes on, so both hold the same; tags are the log's names with '/' behind the set.
// Caller: train/trainer.cpp.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "weft/base/json.h"

namespace weft::train {

class EventFile {
  public:
    /// In `folder`, which is made, with what the log holds already. FileError if it cannot be written.
    EventFile(const std::filesystem::path& folder, const std::vector<Json>& lines);
    void append(const Json& line);

  private:
    std::filesystem::path path_;
};

/// The file's bytes for lines of a log whose last one was written at `now` (seconds since 1970).
std::string event_records(const std::vector<Json>& lines, double now);

}  // namespace weft::train
