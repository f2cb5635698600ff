// Mistakes that people make in an experiment's file, planted one at a time (mistakes.json): each is refused with the file, the line, the
// column, what is wrong and a way out, in less than half a second, before anything is read or made. In mistakes.json stand the changes to
// the good file below (text, what replaces it), other files, an assignment for --set, another command than train, and the whole
// message.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/base/json.h"
#include "weft/found.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Its data are not there: whoever read them would say so.
constexpr const char* good = R"(data:
  train: {mnist: {split: train, range: [0, 50000]}}
  valid: {mnist: {split: train, range: [50000, 60000]}}
  prepare: [{scale: [0, 1]}, flatten]
model:
  sequential:
    - linear: {units: 500, init: {sparse: 15}}
    - relu
    - linear: {units: 10, init: zeros}
cost: [cross_entropy, {weight_decay: 5.0e-5}]
optimizer: {momentum: {lr: {cosine: {from: 0.1, to: 0.001, epochs: 20}}, momentum: 0.9}}
batch_size: 100
stop_when: {any: [{epochs: 100}, {no_improvement: {of: valid.error, for: 10}}]}
keep_best: {of: valid.error, mode: min}
seed: 7
)";
constexpr const char* phases = R"(phases:
  - name: pretrain
    stop_when: {epochs: 2}
  - name: finetune
    stop_when: {any: [{match: {of: valid.loss, phase: pretrain}}, {epochs: 9}]}
)";

std::string planted(const Json& mistake) {
    std::string all = text(good, mistake.find("phases") ? phases : "");
    const Json* change = mistake.find("change");
    if (!change) return all;
    for (const Json& one : change->items()) {
        std::size_t at = all.find(one.item(0).as_string());
        EXPECT_NE(at, std::string::npos) << json_text(one);
        if (at != std::string::npos) all.replace(at, one.item(0).as_string().size(), one.item(1).as_string());
    }
    return all;
}

/// Of the processor, by processes that have ended: what the machine does besides does not count.
double seconds_of_children() {
    struct rusage used {};
    ::getrusage(RUSAGE_CHILDREN, &used);
    auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Ended refused(const Scratch& folder, const Json& mistake) {
    auto write = [&](const std::string& name, const std::string& content) {
        std::ofstream(folder.folder() / name) << content;
    };
    write("e.yaml", planted(mistake));
    if (const Json* files = mistake.find("files")) {
        for (const Json::Member& file : files->members()) write(file.key, file.value.as_string());
    }
    const Json* command = mistake.find("command");
    std::vector<std::string> words{command ? command->as_string() : "train", "e.yaml"};
    if (const Json* set = mistake.find("set")) words.insert(words.end(), {"--set", set->as_string()});
    return run(folder.folder(), words, {"WEFT_DATA=/nowhere", "LR="});
}

#if WEFT_HAVE_YAML
TEST(Mistake, is_refused_with_its_place_and_a_way_out_before_data_are_read) {
    const char* path = WEFT_SOURCE_DIR "/tests/cli/mistakes.json";
    Json mistakes = parse_json(contents(path), path);
    EXPECT_GE(mistakes.items().size(), 60u);
    for (const Json& mistake : mistakes.items()) {
        Scratch folder;
        double before = seconds_of_children();
        Ended ended = refused(folder, mistake);
        EXPECT_LT(seconds_of_children() - before, 0.5) << json_text(mistake);
        EXPECT_EQ(ended.status, 2) << json_text(mistake);
        EXPECT_EQ(ended.output, mistake.at("says").as_string() + "\n") << json_text(mistake);
        EXPECT_FALSE(fs::exists(folder.folder() / "runs")) << json_text(mistake);
    }
}

TEST(Mistake, none_in_the_good_file_which_then_finds_no_data) {
    Scratch folder;
    Ended ended = refused(folder, Json::object());
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.output.find("/nowhere"), std::string::npos) << ended.output;
    Scratch other;
    EXPECT_NE(refused(other, parse_json(R"({"phases": true})")).output.find("/nowhere"), std::string::npos);
}
#endif

}  // namespace
}  // namespace weft
