#include "weft/train/times.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/json.h"
#include "weft/io/file.h"

namespace weft::train {
namespace {

constexpr std::uint64_t most_bytes = 1 << 20;

/// Nothing, if there is none that can be read: it is for people, and no run ends for it.
Json earlier(const std::filesystem::path& file) {
    try {
        if (std::filesystem::exists(file)) return parse_json(io::read_file(file, most_bytes), file.string());
    } catch (const Error&) {
    }
    return {};
}

double seconds_in(const Json& before, const char* name) {
    const Json* value = before.is_object() ? before.find(name) : nullptr;
    return value && value->is_number() ? value->as_number() : 0;
}

}  // namespace

void add_times(const std::filesystem::path& file, const Times& times, double elapsed) {
    Json before = earlier(file), all;
    auto add = [&](const char* name, double seconds) {
        all[name] = std::round(1000 * (seconds_in(before, name) + seconds)) / 1000;
    };
    add("training steps", times.steps), add("first step (planning, kernels)", times.compiling);
    add("evaluation", times.evaluation), add("reading data", times.data);
    add("waiting for batches", times.waiting), add("checkpoints", times.checkpoints);
    add("everything else", std::max(0.0, elapsed - times.total()));
    io::write_atomically(file, json_text(all, 2) + "\n");
}

}  // namespace weft::train
