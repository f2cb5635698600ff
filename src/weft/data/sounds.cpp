#include "weft/data/sounds.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/data/fetch.h"
#include "weft/io/file_tree.h"
#include "weft/io/wav.h"

namespace weft::data {
namespace {

std::optional<std::int64_t> whole_number(std::string_view word) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// Numbers by size, in front of all else.
bool comes_first(const std::string& a, const std::string& b) {
    std::optional<std::int64_t> first = whole_number(a), second = whole_number(b);
    if (first && second && *first != *second) return *first < *second;
    if (first.has_value() != second.has_value()) return first.has_value();
    return a < b;
}

struct SoundFile {
    const io::FileTree::Entry* entry;
    std::string label;
};

struct SoundFiles {
    std::vector<SoundFile> files;
    std::vector<std::string> classes;  // of all files, also of those that `where` leaves out
};

bool within_ranges(const std::map<std::string, std::string, std::less<>>& words, const SoundOptions& options) {
    return std::all_of(options.where.begin(), options.where.end(), [&](const auto& range) {
        std::optional<std::int64_t> number = whole_number(words.at(range.first));
        return number && *number >= range.second.first && *number <= range.second.second;
    });
}

SoundFiles files_of(const io::FileTree& tree, const SoundOptions& options) {
    NamePattern pattern(options.pattern);
    if (!pattern.has("label")) throw ValueError(text("wav: the pattern '", options.pattern, "' has no {label}"));
    for (const auto& [word, range] : options.where) {
        if (!pattern.has(word))
            throw ValueError(
                text("wav: the pattern '", options.pattern, "' has no {", word, "}, which `where` asks for"));
    }
    SoundFiles found;
    std::set<std::string> labels;
    for (const io::FileTree::Entry& entry : tree.entries()) {
        std::filesystem::path name(entry.name);
        if (name.extension() != ".wav" && name.extension() != ".WAV") continue;
        auto words = pattern.match(name.stem().string());
        if (!words) continue;
        labels.insert(words->at("label"));
        if (within_ranges(*words, options)) found.files.push_back({&entry, words->at("label")});
    }
    if (found.files.empty())
        throw FileError(text("'", tree.path().string(), "' holds no .wav file of the pattern '", options.pattern,
                             options.where.empty() ? "'" : "' within the ranges of `where`"));
    found.classes.assign(labels.begin(), labels.end());
    std::sort(found.classes.begin(), found.classes.end(), comes_first);
    return found;
}

/// The mean of the channels.
Array one_channel(const Array& samples) {
    std::int64_t channels = samples.dims[0], count = samples.dims[1];
    if (channels == 1) return reshaped(samples, {count});
    Array mean = Array::zeros(float32, {count});
    for (std::int64_t channel = 0; channel < channels; ++channel)
        for (std::int64_t i = 0; i < count; ++i)
            mean.data<float>()[i] += samples.data<float>()[channel * count + i] / static_cast<float>(channels);
    return mean;
}

/// Cut, or followed by zeros.
Array of_length(const Array& samples, std::int64_t length) {
    Array result = Array::zeros(float32, {length});
    auto count = static_cast<std::size_t>(std::min(length, samples.size()));
    if (count) std::memcpy(result.address(), samples.address(), count * sizeof(float));
    return result;
}

std::vector<Array> waveforms(const io::FileTree& tree, const std::vector<SoundFile>& files, std::int64_t& rate) {
    std::vector<Array> all(files.size());
    std::vector<std::int64_t> rates(files.size());
    ThreadPool::instance().parallel_for(static_cast<std::int64_t>(files.size()), [&](std::int64_t i) {
        auto at = static_cast<std::size_t>(i);
        io::Sound sound = io::parse_wav(tree.read(*files[at].entry), tree.place(*files[at].entry));
        all[at] = one_channel(sound.samples);
        rates[at] = sound.rate;
    });
    rate = rates[0];
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (rates[i] != rate)
            throw FileError(text("'", tree.place(*files[i].entry), "' has ", rates[i], " samples a second, '",
                                 tree.place(*files[0].entry), "' ", rate, "; convert them to one rate"));
    }
    return all;
}

/// Of a sound of so many samples.
std::int64_t frames_of(std::int64_t samples, const SoundOptions& options) {
    if (options.features == SoundFeatures::waveform) return samples;
    return samples < options.window ? 0 : 1 + (samples - options.window) / options.hop;
}

Array features_of(const Array& samples, const SoundOptions& options, std::int64_t rate) {
    if (options.features == SoundFeatures::waveform) return samples;
    if (options.features == SoundFeatures::spectrum) return log_power(samples, options.window, options.hop);
    return log_mel(samples, options.window, options.hop, options.bands, static_cast<double>(rate));
}

}  // namespace

NamePattern::NamePattern(std::string_view pattern) {
    auto refuse = [&](const char* why) { throw ValueError(text("wav: the pattern '", pattern, "' ", why)); };
    between_.emplace_back();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '{' && pattern[i] != '*') {
            if (pattern[i] == '}') refuse("has a } without {");
            between_.back().push_back(pattern[i]);
            continue;
        }
        std::string word = "*";
        if (pattern[i] == '{') {
            std::size_t end = pattern.find('}', i);
            if (end == pattern.npos || end == i + 1) refuse("has a { without a word and }");
            word = pattern.substr(i + 1, end - i - 1);
            i = end;
        }
        if (!words_.empty() && between_.back().empty()) refuse("has two words with nothing between them");
        if (word != "*" && has(word)) refuse("has a word twice");
        words_.push_back(word);
        between_.emplace_back();
    }
}

bool NamePattern::has(std::string_view word) const {
    return std::find(words_.begin(), words_.end(), word) != words_.end();
}

std::optional<std::map<std::string, std::string, std::less<>>> NamePattern::match(std::string_view name) const {
    std::map<std::string, std::string, std::less<>> values;
    if (name.substr(0, between_[0].size()) != between_[0]) return std::nullopt;
    name.remove_prefix(between_[0].size());
    for (std::size_t i = 0; i < words_.size(); ++i) {
        const std::string& behind = between_[i + 1];
        bool last = i + 1 == words_.size();
        std::size_t end = last && behind.empty() ? name.size() : last ? name.rfind(behind) : name.find(behind);
        if (end == name.npos || end == 0 || (last && end + behind.size() != name.size())) return std::nullopt;
        values[words_[i]] = std::string(name.substr(0, end));
        name.remove_prefix(end + behind.size());
    }
    if (!name.empty()) return std::nullopt;
    return values;
}

Dataset sounds(const std::filesystem::path& path, const SoundOptions& options) {
    io::FileTree tree(find_data(path));
    SoundFiles found = files_of(tree, options);
    std::int64_t rate = 0, length = options.length;
    std::vector<Array> all = waveforms(tree, found.files, rate);
    for (const Array& one : all) {
        if (options.length == 0) length = std::max(length, one.size());
    }
    Dataset set;
    std::vector<std::int64_t> lengths;
    set.classes = found.classes;
    set.y = Array::empty(int64, {static_cast<std::int64_t>(all.size())});
    for (std::size_t i = 0; i < all.size(); ++i) {
        Array features = features_of(of_length(all[i], length), options, rate);
        lengths.push_back(std::clamp<std::int64_t>(frames_of(all[i].size(), options), 1, features.dims[0]));
        if (i == 0) {
            Dims dims{static_cast<std::int64_t>(all.size())};
            for (std::int64_t extent : features.dims) dims.push_back(extent);
            set.x = Array::empty(float32, dims);
        }
        if (features.bytes())
            std::memcpy(set.x.data<float>() + static_cast<std::int64_t>(i) * features.size(), features.address(),
                        features.bytes());
        auto label = std::find(set.classes.begin(), set.classes.end(), found.files[i].label);
        set.y.data<std::int64_t>()[i] = label - set.classes.begin();
    }
    if (options.lengths) {
        set.lengths = Array::from(lengths, {set.size()});
        if (set.x.ndim() == 2) set.x = reshaped(set.x, {set.x.dims[0], set.x.dims[1], 1});  // a sequence of samples
    }
    set.check("wav");
    return set;
}

}  // namespace weft::data
