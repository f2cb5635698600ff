#include "weft/train/described.h"

#include "weft/data/augment.h"
#include "weft/data/prepare.h"
#include "weft/train/registry.h"

namespace weft::train {
namespace {

Json placed_at(Json value, const Position& where) {
    Position own = value.where().file ? value.where() : where;
    if (value.is_array()) {
        std::vector<Json> items;
        for (const Json& item : value.items()) items.push_back(placed_at(item, where));
        value = Json::array(std::move(items));
    } else if (value.is_object()) {
        std::vector<Json::Member> members;
        for (const Json::Member& member : value.members())
            members.push_back({member.key, placed_at(member.value, where), member.where.file ? member.where : where});
        value = Json::object(std::move(members));
    }
    value.set_where(own);
    return value;
}

}  // namespace

Json keys(std::initializer_list<std::pair<std::string_view, Json>> members) {
    Json all = Json::object();
    for (const auto& [key, value] : members) all[key] = value;
    return all;
}

Json placed(Json value, std::source_location where) {
    Position position{std::make_shared<const std::string>(where.file_name()), static_cast<int>(where.line()),
                      static_cast<int>(where.column())};
    return placed_at(std::move(value), position);
}

Json part(std::string_view kind, std::string_view name, Json options, std::source_location where) {
    Json description = options.is_null() ? Json(name) : Json::object({{std::string(name), std::move(options), {}}});
    description = placed(std::move(description), where);
    // data/ looks up its own steps.
    if (kind == "prepare")
        (void)data::StepList(Json::array({description}));
    else if (kind == "augment")
        (void)data::Augmentation(Json::array({description}));
    else
        (void)choose(description, kind);
    return description;
}

}  // namespace weft::train
