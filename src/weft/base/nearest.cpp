#include "weft/base/nearest.h"

#include <algorithm>

#include "weft/base/error.h"

namespace weft {

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
    std::size_t least = std::max<std::size_t>(1, (name.size() + 2) / 3) + 1;
    for (std::string_view candidate : candidates) {
        std::size_t distance = edit_distance(name, candidate);
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
