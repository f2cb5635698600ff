#include "weft/data/words.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "weft/base/error.h"
#include "weft/base/utf8.h"
#include "weft/data/fetch.h"
#include "weft/io/gzip.h"

namespace weft::data {
namespace {

constexpr const char* unknown = "<unknown>";

std::vector<std::string_view> characters(std::string_view whole, const std::string& name) {
    std::vector<std::string_view> all;
    all.reserve(whole.size());
    for (std::size_t at = 0; at < whole.size();) {
        std::size_t length = utf8_length(whole.substr(at));
        if (length == 0) throw FileError(text("'", name, "' is no text in UTF-8: see byte ", at));
        all.push_back(whole.substr(at, length));
        at += length;
    }
    return all;
}

std::vector<std::string_view> words_of(std::string_view whole) {
    constexpr std::string_view space = " \t\r\n\f\v";
    std::vector<std::string_view> all;
    for (std::size_t at = whole.find_first_not_of(space); at != whole.npos; at = whole.find_first_not_of(space, at)) {
        std::size_t end = std::min(whole.find_first_of(space, at), whole.size());
        all.push_back(whole.substr(at, end - at));
        at = end;
    }
    return all;
}

/// The symbols that get numbers, in the order of these.
std::vector<std::string> vocabulary(const std::vector<std::string_view>& symbols, std::size_t train,
                                    const TextOptions& options) {
    std::map<std::string_view, std::int64_t> counts;
    for (std::size_t i = 0; i < train; ++i) ++counts[symbols[i]];
    std::vector<std::pair<std::string_view, std::int64_t>> order(counts.begin(), counts.end());
    auto more_frequent = [](const auto& a, const auto& b) { return a.second > b.second; };
    if (options.words || options.most > 0) std::stable_sort(order.begin(), order.end(), more_frequent);
    if (options.most > 0 && static_cast<std::int64_t>(order.size()) > options.most)
        order.resize(static_cast<std::size_t>(options.most));
    if (!options.words) std::sort(order.begin(), order.end());  // UTF-8's bytes are in the order of code points
    std::vector<std::string> names;
    for (const auto& [symbol, count] : order) names.emplace_back(symbol);
    return names;
}

std::vector<std::int64_t> numbered(const std::vector<std::string_view>& symbols, std::vector<std::string>& names) {
    std::unordered_map<std::string_view, std::int64_t> numbers;
    for (std::size_t i = 0; i < names.size(); ++i) numbers.emplace(names[i], static_cast<std::int64_t>(i));
    auto rest = static_cast<std::int64_t>(names.size());
    bool needed = false;
    std::vector<std::int64_t> all;
    all.reserve(symbols.size());
    for (std::string_view symbol : symbols) {
        auto found = numbers.find(symbol);
        needed = needed || found == numbers.end();
        all.push_back(found == numbers.end() ? rest : found->second);
    }
    if (needed) names.emplace_back(unknown);
    return all;
}

Dataset windows(const std::int64_t* symbols, std::int64_t count, const TextOptions& options) {
    std::int64_t stretch = count / options.lanes, rows = (stretch - 1) / options.length;
    Dataset set;
    set.x = Array::empty(int64, {rows * options.lanes, options.length});
    set.y = Array::empty(int64, {rows * options.lanes, options.length});
    auto *x = set.x.data<std::int64_t>(), *y = set.y.data<std::int64_t>();
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t lane = 0; lane < options.lanes; ++lane) {
            const std::int64_t* from = symbols + lane * stretch + row * options.length;
            x = std::copy(from, from + options.length, x);
            y = std::copy(from + 1, from + 1 + options.length, y);
        }
    }
    return set;
}

/// Where each part ends, in symbols.
std::array<std::size_t, 3> borders(std::size_t count, const TextOptions& options) {
    double sum = 0;
    std::array<std::size_t, 3> ends{};
    for (std::size_t i = 0; i < 3; ++i) {
        if (!(options.parts[i] >= 0)) throw ValueError(text("text: ", options.parts[i], " is no part of the text"));
        sum += options.parts[i];
        ends[i] = std::min(count, static_cast<std::size_t>(sum * static_cast<double>(count) + 0.5));
    }
    if (sum > 1 + 1e-9 || options.parts[0] <= 0)
        throw ValueError(text("text: the parts [", options.parts[0], ", ", options.parts[1], ", ", options.parts[2],
                              "] are to be 1 together at most, the first more than 0"));
    return ends;
}

constexpr std::string_view end_of_line = "\n";

/// The symbols of each line that has some, its end among them.
std::vector<std::vector<std::string_view>> symbols_of_lines(std::string_view whole, const std::string& name,
                                                            const TextOptions& options) {
    std::vector<std::vector<std::string_view>> all;
    while (!whole.empty()) {
        std::size_t end = std::min(whole.find('\n'), whole.size());
        std::string_view line = whole.substr(0, end);
        whole.remove_prefix(std::min(end + 1, whole.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        std::vector<std::string_view> symbols = options.words ? words_of(line) : characters(line, name);
        if (symbols.empty()) continue;
        symbols.resize(std::min(symbols.size(), static_cast<std::size_t>(options.length)));
        symbols.push_back(end_of_line);
        all.push_back(std::move(symbols));
    }
    return all;
}

/// `numbers`: of the lines' symbols, one behind the other.
Dataset padded_lines(const std::vector<std::vector<std::string_view>>& lines, const std::int64_t* numbers) {
    std::size_t longest = 0;
    for (const auto& line : lines) longest = std::max(longest, line.size() - 1);
    Dims dims{static_cast<std::int64_t>(lines.size()), static_cast<std::int64_t>(longest)};
    Dataset set;
    set.x = Array::zeros(int64, dims), set.y = Array::zeros(int64, dims);
    set.lengths = Array::empty(int64, {dims[0]});
    auto *x = set.x.data<std::int64_t>(), *y = set.y.data<std::int64_t>(), *length = set.lengths.data<std::int64_t>();
    for (const auto& line : lines) {
        auto count = static_cast<std::int64_t>(line.size()) - 1;
        std::copy_n(numbers, count, x), std::copy_n(numbers + 1, count, y);
        *length++ = count, numbers += count + 1, x += longest, y += longest;
    }
    return set;
}

}  // namespace

Dataset text_lines(const std::filesystem::path& path, TextPart part, const TextOptions& options) {
    if (options.length < 1 || options.most < 0)
        throw ValueError(text("text: lines of ", options.length, " symbols are none"));
    std::filesystem::path place = find_data(path);
    std::string whole = io::read_maybe_gzip(place, std::uint64_t{1} << 34), name = place.string();
    std::vector<std::vector<std::string_view>> lines = symbols_of_lines(whole, name, options);
    std::array<std::size_t, 3> ends = borders(lines.size(), options);
    std::vector<std::string_view> symbols;
    std::vector<std::size_t> begins{0};
    for (const auto& line : lines) {
        symbols.insert(symbols.end(), line.begin(), line.end());
        begins.push_back(symbols.size());
    }
    std::vector<std::string> names = vocabulary(symbols, begins[ends[0]], options);
    std::vector<std::int64_t> numbers = numbered(symbols, names);
    auto which = static_cast<std::size_t>(part);
    std::size_t first = which ? ends[which - 1] : 0;
    if (ends[which] == first)
        throw FileError(
            text("'", name, "': this part of it has none of the ", lines.size(), " lines that are not empty"));
    lines = {lines.begin() + static_cast<std::ptrdiff_t>(first),
             lines.begin() + static_cast<std::ptrdiff_t>(ends[which])};
    Dataset set = padded_lines(lines, numbers.data() + begins[first]);
    set.classes = std::move(names);
    set.check("text");
    return set;
}

Dataset text_windows(const std::filesystem::path& path, TextPart part, const TextOptions& options) {
    if (options.length < 1 || options.lanes < 1 || options.most < 0)
        throw ValueError(text("text: windows of ", options.length, " symbols in ", options.lanes, " lanes are none"));
    std::filesystem::path place = find_data(path);
    std::string whole = io::read_maybe_gzip(place, std::uint64_t{1} << 34), name = place.string();
    std::vector<std::string_view> symbols = options.words ? words_of(whole) : characters(whole, name);
    std::array<std::size_t, 3> ends = borders(symbols.size(), options);
    std::vector<std::string> names = vocabulary(symbols, ends[0], options);
    std::vector<std::int64_t> numbers = numbered(symbols, names);
    auto which = static_cast<std::size_t>(part);
    std::size_t first = which ? ends[which - 1] : 0;
    auto count = static_cast<std::int64_t>(ends[which] - first);
    if (count / options.lanes < options.length + 1)
        throw FileError(text("'", name, "': this part of it has ", count, " symbols, too few for a window of ",
                             options.length, " and the one behind it",
                             options.lanes > 1 ? text(" in each of ", options.lanes, " lanes") : ""));
    Dataset set = windows(numbers.data() + first, count, options);
    set.classes = std::move(names);
    set.check("text");
    return set;
}

}  // namespace weft::data
