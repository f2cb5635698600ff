// The data sets that a file or a command can name: each with its doc, its options and its loader. A source is one
// record in registry.cpp (or added by a user's program); help, checks and defaults follow from it. Callers: train/ (the
// `data:` part of an experiment), cli/ (`weft data list|info`).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/json.h"
#include "weft/base/options.h"
#include "weft/data/dataset.h"

namespace weft::data {

struct Source {
    std::string name, doc;
    std::vector<Option> options;
    std::function<Dataset(const Json& options)> load;  // is given every option, checked
    std::function<void(const Json& options)> check =
        {};  // what can be refused before data are touched, beyond names and kinds: that files are there, too
    /// One example of the same shape and types, where these are known without looking at data; else nothing.
    std::function<std::optional<Dataset>(const Json& options)> sample = {};
    /// The option that says how many examples there are, if one does; `range` says it of any source that takes one.
    std::string counted_by = {};
};

/// All there are, weft's own first.
const std::vector<Source>& sources();
/// ConfigError names the nearest one there is.
const Source& source_named(std::string_view name, const Position& where = {});
/// A user's own data set. ValueError if the name is taken. Not to be called while others read the registry.
void add_source(Source source);

/// A source and options as a file names them: {digits: {split: train, size: 500}}, or the bare name. Checked when it is
/// made, before any data are touched: ConfigError("file:line:column: ...").
class ChosenSource {
  public:
    explicit ChosenSource(const Json& description);
    const Source& source() const { return *source_; }
    const Json& options() const { return options_; }
    /// That its files are (still) there: ConfigError.
    void check() const;
    /// ConfigError("file:line:column: ...") if a file is damaged, cut short or holds other things.
    Dataset load() const;
    /// How many examples there are, where the options tell.
    std::optional<std::int64_t> size() const;
    /// One example of zeros of the same shape and types: made up where the source knows these without looking at data; else of the data,
    /// whose inputs are left on the disk where the source can (`stream`), and otherwise wait for load().
    Dataset sample() const;

  private:
    Dataset load(const Json& options) const;
    Dataset looked_at() const;

    const Source* source_;
    Json options_;
    Position where_;
    std::shared_ptr<std::optional<Dataset>> looked_at_ = std::make_shared<std::optional<Dataset>>();
};

/// While one lives, what sample() found is known to all sources of this thread with the same options, and nothing else of the data is kept.
class SamplesKept {
  public:
    SamplesKept();
    ~SamplesKept();
    SamplesKept(const SamplesKept&) = delete;
    SamplesKept& operator=(const SamplesKept&) = delete;
};

/// While one lives, files of this thread's sources need not be there: a trained model is used without the data it was trained on.
class FilesUnchecked {
  public:
    FilesUnchecked();
    ~FilesUnchecked();
    FilesUnchecked(const FilesUnchecked&) = delete;
    FilesUnchecked& operator=(const FilesUnchecked&) = delete;
};

/// A name that stands alone or as the only key of a mapping: {name, what stands below it (null if nothing)}.
std::pair<std::string, Json> named(const Json& description, std::string_view what);

}  // namespace weft::data
