#include "weft/backend/cpu/emit/vector_code.h"

#include <algorithm>

namespace weft::cpu::emit {
namespace {

bool has_effect(VectorOp op) {
    return op == VectorOp::store || op == VectorOp::local_store || op == VectorOp::outside ||
           op == VectorOp::local_load || op == VectorOp::leave;
}
bool is_end(VectorOp op) { return op == VectorOp::store || op == VectorOp::leave; }

/// The ends (stores, leaves) of lines [first, last) and what they need, directly or not. Stores come once their value is there and
/// nothing is loaded or left after them: they may write where loads read.
std::vector<std::int32_t> order_of(const std::vector<Line>& lines, std::size_t first, std::size_t last) {
    std::vector<bool> needed(lines.size(), false);
    std::int32_t barrier = -1;
    for (std::size_t i = last; i-- > 0;) {
        const Line& line = lines[i];
        if (is_end(line.op)) needed[i] = i >= first;
        if (!needed[i]) continue;
        for (std::int32_t operand : {line.a, line.b, line.c}) {
            if (operand >= 0) needed[static_cast<std::size_t>(operand)] = true;
        }
        if (line.op == VectorOp::load || line.op == VectorOp::leave)
            barrier = std::max(barrier, static_cast<std::int32_t>(i));
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> stores;  // after which line, which store
    for (std::size_t i = first; i < last; ++i) {
        if (lines[i].op == VectorOp::store)
            stores.emplace_back(std::max(barrier, lines[i].a), static_cast<std::int32_t>(i));
    }
    std::stable_sort(stores.begin(), stores.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<std::int32_t> order;
    auto next = stores.begin();
    for (std::size_t i = 0; i < last; ++i) {
        if (needed[i] && lines[i].op != VectorOp::store) order.push_back(static_cast<std::int32_t>(i));
        for (; next != stores.end() && next->first == static_cast<std::int32_t>(i); ++next)
            order.push_back(next->second);
    }
    return order;
}

std::size_t hash_of(const Line& line) {
    std::uint64_t word = line.immediate * 0x9e3779b97f4a7c15ull;
    auto mix = [&](std::uint64_t value) { word = (word ^ (word >> 29) ^ value) * 0xbf58476d1ce4e5b9ull; };
    mix(static_cast<std::uint64_t>(line.op) | static_cast<std::uint64_t>(line.lane) << 8 |
        static_cast<std::uint64_t>(line.from) << 16);
    mix(static_cast<std::uint32_t>(line.a) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(line.b)) << 32);
    mix(static_cast<std::uint32_t>(line.c));
    return word ^ (word >> 32);
}

}  // namespace

int VectorCode::lane_bytes() const {
    auto wide = [&](std::int32_t i) { return width_of(line(i).lane) == 8 || width_of(line(i).from) == 8; };
    return std::any_of(order.begin(), order.end(), wide) || std::any_of(common.begin(), common.end(), wide) ? 8 : 4;
}

void VectorBuilder::grow() {
    std::vector<std::int32_t> old(std::max<std::size_t>(256, 2 * table_.size()), -1);
    old.swap(table_);
    for (std::int32_t number : old)
        if (number >= 0) numbered(code_.line(number)) = number;
}

std::int32_t& VectorBuilder::numbered(const Line& line) {
    std::size_t mask = table_.size() - 1;
    for (std::size_t at = hash_of(line) & mask;; at = (at + 1) & mask) {
        std::int32_t number = table_[at];
        if (number < 0 || code_.line(number) == line) return table_[at];
    }
}

std::int32_t VectorBuilder::add(Line line) {
    auto number = static_cast<std::int32_t>(code_.lines.size());
    auto once = [&](std::int32_t operand) { return operand < 0 || code_.line(operand).once; };
    if (line.op == VectorOp::load) {
        Mode mode = code_.streams[line.immediate].mode;
        line.once = mode == Mode::uniform || mode == Mode::same_number;
    } else {
        line.once = line.op != VectorOp::store && once(line.a) && once(line.b) && once(line.c);
    }
    if (!has_effect(line.op)) {
        if (2 * filled_ >= table_.size()) grow();
        std::int32_t& known = numbered(line);
        if (known >= 0) return known;
        known = number;
        ++filled_;
    }
    code_.lines.push_back(line);
    return number;
}

void VectorBuilder::end_common(const std::vector<std::int32_t>& rare) {
    for (std::int32_t truth : rare) add({.op = VectorOp::leave, .from = Lane::mask, .a = truth});
    common_end_ = code_.lines.size();
}

VectorCode VectorBuilder::take() {
    if (common_end_ > 0) code_.common = order_of(code_.lines, 0, common_end_);
    code_.order = order_of(code_.lines, common_end_, code_.lines.size());
    for (Line& line : code_.lines)  // what might have to be computed again has not been stored over what it reads
        if (line.op == VectorOp::store && common_end_ == 0)
            line.once = code_.streams[line.immediate].mode == Mode::number && code_.line(line.a).once;
    common_end_ = 0;
    table_.clear();
    filled_ = 0;
    return std::move(code_);
}

}  // namespace weft::cpu::emit
