// The data sets that a file or a command can name: each with its doc, its options and its loader. A source is one
// record in registry.cpp (or added by a user's program); help, checks and defaults follow from it. Callers: train/ (the
// `data:` part of an experiment), cli/ (`weft data list|info`).
#pragma once

#include <functional>
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
        {};  // what can be refused before data are touched, beyond names and kinds
    /// One example of the same shape and types, where these are known without looking at data; else nothing.
    std::function<std::optional<Dataset>(const Json& options)> sample = {};
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
    Dataset load() const { return source_->load(options_); }
    /// One made-up example, or nothing if only the data can tell its shape.
    std::optional<Dataset> sample() const { return source_->sample ? source_->sample(options_) : std::nullopt; }

  private:
    const Source* source_;
    Json options_;
};

/// A name that stands alone or as the only key of a mapping: {name, what stands below it (null if nothing)}.
std::pair<std::string, Json> named(const Json& description, std::string_view what);

}  // namespace weft::data
