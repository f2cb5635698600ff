#include "weft/data/held.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "weft/base/error.h"
#include "weft/base/md5.h"
#include "weft/data/sources.h"

namespace weft::data {
namespace {

/// The arrays that are alive, by what their descriptions say.
class Alive {
  public:
    static Alive& all() {
        static Alive one;
        return one;
    }
    Hold add(const std::string& key, const Array& array) {
        std::lock_guard lock(mutex_);
        std::erase_if(arrays_, [](const auto& one) { return one.second.expired(); });
        std::weak_ptr<const Array>& place = arrays_[key];
        std::shared_ptr<const Array> held = place.lock();
        if (!held) place = held = std::make_shared<const Array>(array);
        return held;
    }
    std::shared_ptr<const Array> find(const std::string& key) {
        std::lock_guard lock(mutex_);
        auto found = arrays_.find(key);
        return found == arrays_.end() ? nullptr : found->second.lock();
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const Array>> arrays_;
};

bool is_array_description(const Json& value) {
    const Json *md5 = value.is_object() ? value.find("md5") : nullptr, *dtype = md5 ? value.find("dtype") : nullptr,
               *shape = dtype ? value.find("shape") : nullptr;
    if (!shape || !md5->is_string() || !dtype->is_string() || !shape->is_array() || !shape->size()) return false;
    const std::vector<Json>& sizes = shape->items();
    return std::all_of(sizes.begin(), sizes.end(), [](const Json& n) { return n.is_integer() && n.as_integer() >= 0; });
}

std::string key_of(const Json& array) {
    return json_text(array.at("md5")) + json_text(array.at("dtype")) + json_text(array.at("shape"));
}

Json description_of(const Array& array) {
    Json shape = Json::array(), made;
    for (std::int64_t size : array.dims) shape.push_back(size);
    made["shape"] = shape, made["dtype"] = std::string(name_of(array.dtype));
    made["md5"] = md5({static_cast<const char*>(array.address()), array.bytes()});
    return made;
}

/// One that is called as usual stands alone; several are {NAME: array}.
Json described_arrays(const NamedArrays& arrays, const char* usual, std::vector<Hold>& keep) {
    Json all;
    for (const auto& [name, given] : arrays) {
        Array array = contiguous(given);
        Json one = description_of(array);
        keep.push_back(Alive::all().add(key_of(one), array));
        if (arrays.size() == 1 && name == usual) return one;
        all[name] = one;
    }
    return all;
}

using Descriptions = std::vector<std::pair<std::string, const Json*>>;

Descriptions arrays_in(const Json& given, const char* usual) {
    if (is_array_description(given)) return {{usual, &given}};
    Descriptions all;
    if (given.is_object())
        for (const Json::Member& member : given.members())
            if (is_array_description(member.value)) all.emplace_back(member.key, &member.value);
    if (all.empty())
        given.refuse(
            "arrays are described by a program that holds them (their shapes, dtypes and MD5); a file names data "
            "that files hold, as in {npz: {path: data.npz}}");
    return all;
}

/// "x float32 (60, 4), y int64 (60)"
std::string words_for(const Json& options) {
    std::string all;
    for (const char* part : {"x", "y"})
        for (const auto& [name, array] : arrays_in(options.at(part), part)) {
            std::string dims;
            for (const Json& size : array->at("shape").items()) dims += (dims.empty() ? "" : ", ") + json_text(size);
            all += text(all.empty() ? "" : ", ", name, " ", array->at("dtype").as_string(), " (", dims, ")");
        }
    return all;
}

NamedArrays alive_in(const Json& options, const char* part) {
    NamedArrays all;
    for (const auto& [name, description] : arrays_in(options.at(part), part)) {
        std::shared_ptr<const Array> array = Alive::all().find(key_of(*description));
        if (!array)
            throw ConfigError(text(
                "the data were arrays that a program held, ", words_for(options),
                ", and are not there now; in Python give them again, as in Run(folder, data={\"train\": (x, y)}), or "
                "train on a file: numpy.savez(\"data.npz\", x=x, y=y), and {npz: {path: data.npz}} in `data:`"));
        all.emplace_back(name, *array);
    }
    return all;
}

Dataset load_held(const Json& options) {
    return of_arrays(alive_in(options, "x"), alive_in(options, "y"), "arrays of the program");
}

std::optional<Dataset> one_like(const Json& options) {
    NamedArrays parts[2];
    const char* names[] = {"x", "y"};
    for (int part = 0; part < 2; ++part)
        for (const auto& [name, description] : arrays_in(options.at(names[part]), names[part])) {
            Dims dims;
            for (const Json& size : description->at("shape").items()) dims.push_back(size.as_integer());
            DType dtype = dtype_named(description->at("dtype").as_string());
            dims[0] = 1;
            parts[part].emplace_back(name, Array::zeros(dtype, dims));
        }
    return of_arrays(parts[0], parts[1], "arrays of the program");
}

void collect(const Json& value, std::vector<Hold>& all) {
    if (is_array_description(value)) {
        if (Hold held = Alive::all().find(key_of(value))) all.push_back(std::move(held));
    } else if (value.is_object()) {
        for (const Json::Member& member : value.members()) collect(member.value, all);
    } else if (value.is_array()) {
        for (const Json& item : value.items()) collect(item, all);
    }
}

}  // namespace

Held hold(const NamedArrays& inputs, const NamedArrays& targets) {
    if (inputs.empty() || targets.empty()) throw ValueError("a data set of arrays has an input and a target: x and y");
    for (const NamedArrays* arrays : {&inputs, &targets})
        for (const auto& [name, array] : *arrays)
            if (array.ndim() == 0) throw ShapeError(text("'", name, "' is one number; examples are rows of an array"));
    (void)of_arrays(inputs, targets, "arrays of the program");
    Held held;
    Json options;
    options["x"] = described_arrays(inputs, "x", held.keep);
    options["y"] = described_arrays(targets, "y", held.keep);
    held.description = Json::object({{"arrays", options, {}}});
    return held;
}

Held hold(const Array& x, const Array& y) { return hold({{"x", x}}, {{"y", y}}); }

std::vector<Hold> held_in(const Json& description) {
    std::vector<Hold> all;
    collect(description, all);
    return all;
}

std::vector<Source> sources_of_programs() {
    return {{"arrays",
             "arrays that a program holds: in Python (x, y) in place of a name, in C++ data::hold(x, y).description",
             {{"x", Json(), "the shape, dtype and MD5 of the examples; of several inputs {NAME: ...}", true},
              {"y", Json(), "the same of what they should give", true}},
             load_held,
             [](const Json& options) { (void)words_for(options); },
             one_like}};
}

}  // namespace weft::data
