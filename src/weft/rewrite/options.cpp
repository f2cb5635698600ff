#include <algorithm>
#include <array>

#include "weft/base/environment.h"
#include "weft/base/nearest.h"
#include "weft/rewrite/rewrite.h"

namespace weft {
namespace {

// A word that names no rule, phase or assumption is a slip of the pen.
void refuse_unknown(std::string_view word) {
    std::vector<std::string> known{"finite", "exact"};
    for (Phase phase : {Phase::canonical, Phase::stable, Phase::special}) known.emplace_back(name_of(phase));
    for (const Rule& rule : all_rules()) known.push_back(rule.name);
    if (std::find(known.begin(), known.end(), word) != known.end()) return;
    std::vector<std::string_view> names(known.begin(), known.end());
    throw ValueError(text("rewriting: no rule, phase or assumption is called '", word, "'", did_you_mean(word, names)));
}

}  // namespace

const RewriteOptions& default_rewriting() {
    static const RewriteOptions* options =
        new RewriteOptions(parse_rewriting(environment("WEFT_REWRITE").value_or("")));
    return *options;
}

const RewriteOptions& exact_rewriting() {
    static const RewriteOptions* options = [] {
        auto* exact = new RewriteOptions(default_rewriting());
        exact->exclude.insert("finite");
        return exact;
    }();
    return *options;
}

const RewriteOptions& rewriting_in(MatmulPrecision precision) {
    static const auto* options = [] {
        auto* all = new std::array<RewriteOptions, MatmulPrecision::names.size()>;
        for (std::size_t i = 0; i < all->size(); ++i) {
            (*all)[i] = default_rewriting();
            auto other = static_cast<MatmulPrecision::Value>(i);
            if (other != MatmulPrecision::float32) (*all)[i].extra.push_back(products_in(other));
        }
        return all;
    }();
    return (*options)[precision];
}

const RewriteOptions& step_rewriting(bool exact) {
    auto with_products = [](const RewriteOptions& options) {
        auto* step = new RewriteOptions(options);
        step->extra.push_back(tiny_products());
        return step;
    };
    static const RewriteOptions* all = with_products(default_rewriting());
    static const RewriteOptions* some = with_products(exact_rewriting());
    return exact ? *some : *all;
}

RewriteOptions parse_rewriting(std::string_view list) {
    RewriteOptions options;
    if (list == "off") options.enabled = false;
    while (!list.empty() && options.enabled) {
        std::size_t comma = std::min(list.find(','), list.size());
        std::string_view word = list.substr(0, comma);
        list.remove_prefix(std::min(comma + 1, list.size()));
        bool minus = word.starts_with('-');
        if (minus) word.remove_prefix(1);
        if (!word.empty()) refuse_unknown(word);
        if (!word.empty()) (minus ? options.exclude : options.only).emplace(word);
    }
    return options;
}

}  // namespace weft
