#include "weft/base/nearest.h"

#include <algorithm>
#include <utility>

#include "weft/base/error.h"

namespace weft {
namespace {

/// What people write who come from elsewhere, and what it is called here.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"loss", "cost"},
    {"criterion", "cost"},
    {"objective", "cost"},
    {"network", "model"},
    {"net", "model"},
    {"layers", "model"},
    {"dataset", "data"},
    {"datasets", "data"},
    {"validation", "valid"},
    {"val", "valid"},
    {"preprocess", "prepare"},
    {"transforms", "prepare"},
    {"augmentation", "augment"},
    {"epochs", "stop_when"},
    {"max_epochs", "stop_when"},
    {"early_stopping", "no_improvement"},
    {"patience", "for"},
    {"metrics", "channels"},
    {"random_seed", "seed"},
    {"learning_rate", "lr"},
    {"dense", "linear"},
    {"fc", "linear"},
    {"out_features", "units"},
    {"out", "units"},
    {"out_channels", "channels"},
    {"filters", "channels"},
    {"conv", "conv2d"},
    {"convolution", "conv2d"},
    {"maxpool", "max_pool2d"},
    {"avgpool", "avg_pool2d"},
    {"normalize", "standardize"},
    {"normalise", "standardize"},
    {"onehot", "one_hot"},
    {"l2", "weight_decay"},
    {"l1", "l1_penalty"},
    {"bce", "binary_cross_entropy"},
    {"softmax_cross_entropy", "cross_entropy"},
    {"folder", "images"},
    {"image_folder", "images"},
    {"transformer", "attention"},
};

/// In small letters, without what stands in brackets behind it: ReLU(inplace=True).
std::string plain_name(std::string_view name) {
    std::string plain(name.substr(0, name.find('(')));
    for (char& c : plain)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return plain;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
    std::string_view best;
    std::string plain = plain_name(name);
    for (auto [other, own] : other_names)
        if (auto found = std::find(candidates.begin(), candidates.end(), own);
            other == plain && found != candidates.end())
            return *found;
    std::size_t least = std::max<std::size_t>(1, (plain.size() + 2) / 3) + 1;
    for (std::string_view candidate : candidates) {
        // As it stands, too: of candidates that differ in the size of letters alone the same one is nearest.
        std::size_t distance = std::min(edit_distance(name, candidate), edit_distance(plain, plain_name(candidate)));
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates) {
    if (std::string_view best = nearest(name, candidates); !best.empty()) return text("; did you mean '", best, "'?");
    if (candidates.empty() || candidates.size() > 24) return "";
    std::string list;
    for (std::string_view candidate : candidates) list += text(list.empty() ? "" : ", ", candidate);
    return text("; known: ", list);
}

}  // namespace weft
