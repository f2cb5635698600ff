#include "weft/train/divergence.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/train/log.h"

namespace weft::train {
namespace {

constexpr const char* loss_of_training = "train.loss";

bool has_infinite(const Json& line, std::string_view ending) {
    return std::any_of(line.members().begin(), line.members().end(), [&](const Json::Member& member) {
        return member.key.ends_with(ending) && !std::isfinite(member.value.as_number());
    });
}

}  // namespace

std::optional<Divergence> divergence_in(const std::vector<Json>& lines) {
    auto bad = std::find_if(lines.begin(), lines.end(),
                            [](const Json& line) { return is_epoch(line) && has_infinite(line, loss_of_training); });
    if (bad == lines.end()) return std::nullopt;
    const Json& last = lines.back();
    Divergence found;
    found.kept_finite = last.find("final") && !has_infinite(last, ".loss") &&
                        std::none_of(lines.begin(), lines.end(), [&](const Json& line) {
                            return is_epoch(line) && line.at("epoch") == last.at("epoch") &&
                                   phase_of(line) == phase_of(last) && has_infinite(line, loss_of_training);
                        });
    std::string phase = phase_of(*bad);
    found.said =
        text(loss_of_training, " is not finite from epoch ", bad->at("epoch").as_integer(),
             phase.empty() ? "" : text(" of phase ", phase),
             " on; try a smaller rate (`lr`) or the optimizer's `clip_norm`; `stop_when: not_finite` ends a run "
             "there, `keep_best` keeps the best model before");
    if (found.kept_finite)
        found.said += text("; the model that is kept, of epoch ", last.at("epoch").as_integer(), ", is finite");
    return found;
}

}  // namespace weft::train
