#include "weft/train/compose.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/train/assignment.h"
#include "weft/train/config.h"
#include "weft/train/keys.h"
#include "weft/train/variables.h"

namespace weft::train {
namespace {

namespace fs = std::filesystem;

/// Files that are being read, the one that is asked for first.
using Chain = std::vector<fs::path>;

fs::path same_name(const fs::path& path) {
    std::error_code error;
    fs::path known = fs::weakly_canonical(path, error);
    return error ? path.lexically_normal() : known;
}

Json with_includes(const fs::path& file, const Chain& outer);

Json included(const Json& name, const fs::path& from, const Chain& chain) {
    const std::string& word = name.as_string();
    if (word.find("${") != std::string::npos)
        name.refuse(text("'", word, "': files are included before variables have values; write the name out"));
    fs::path path = from.parent_path() / word;
    auto begin = std::find(chain.begin(), chain.end(), same_name(path));
    if (begin != chain.end()) {
        std::string circle;
        for (auto one = begin; one != chain.end(); ++one) circle += one->filename().string() + " -> ";
        name.refuse(text("files include each other in a circle: ", circle, path.filename().string(),
                         "; what they share belongs into a file of its own"));
    }
    try {
        Json description = with_includes(path, chain);
        if (!description.is_object())
            name.refuse(text("'", path.string(), "' holds ", description.describe(),
                             "; what is included is a mapping of keys"));
        return description;
    } catch (const FileError& error) {
        name.refuse(
            text(error.what(), "; the path of an included file starts at the folder of the file that names it"));
    }
}

Json with_includes(const fs::path& file, const Chain& outer) {
    Chain chain = outer;
    chain.push_back(same_name(file));
    Json own = load_config(file);
    const Json* include = own.find("include");
    if (!own.is_object() || !include) return own;
    const std::vector<Json> alone{*include};
    if (!include->is_string() && !include->is_array())
        include->refuse(text("`include:` takes the name of a file, or a list of names; found ", include->describe()));
    Json under = Json::object();
    for (const Json& name : include->is_array() ? include->items() : alone)
        under = laid_over(under, included(name, file, chain), file_keys());
    std::vector<Json::Member> rest;
    for (const Json::Member& member : own.members()) {
        if (member.key != "include") rest.push_back(member);
    }
    Json over = Json::object(std::move(rest));
    over.set_where(own.where());
    return laid_over(under, over, file_keys());
}

}  // namespace

namespace {

Json with_assignments(Json description, const std::vector<std::string>& assignments) {
    for (const std::string& assignment : assignments) description = with_assignment(description, assignment);
    return description;
}

}  // namespace

Json written_in(const fs::path& file, const std::vector<std::string>& assignments) {
    Json own = with_includes(file, {});
    fs::path run = file.parent_path(), config = run / "config.yaml";
    // Whoever looks for the experiment in a run's folder may take the network's description for it.
    if (own.is_object() && own.find("layers") && own.find("dtype") && fs::exists(config))
        own.refuse(text("this describes the network of a run; the experiment that was trained is '", config.string(),
                        "', and `weft predict`, `eval` and `resume` take the folder"));
    return with_assignments(std::move(own), assignments);
}

Json compose(Json description, const std::vector<std::string>& assignments) {
    return with_variables(with_assignments(std::move(description), assignments));
}

Json compose_file(const fs::path& file, const std::vector<std::string>& assignments) {
    return with_variables(written_in(file, assignments));
}

}  // namespace weft::train
