#include "description.h"

#include <cstring>

namespace weft::python {
namespace {

Json number_of_description(nb::handle object) {
    PyNumberMethods* number = Py_TYPE(object.ptr())->tp_as_number;
    if (PyIndex_Check(object.ptr())) return integer(object, "an experiment");
    if (number && number->nb_float) return as_double(object, "an experiment");
    throw DTypeError(text("an experiment is described by numbers, texts, lists, dicts and its parts, not by '",
                          Py_TYPE(object.ptr())->tp_name, "'; arrays stand as (x, y) where a data set does"));
}

/// NumPy's, weft's and others' arrays; not their scalars.
bool is_array(nb::handle object) {
    bool kind =
        is_tensor(object.ptr()) || nb::hasattr(object, "__array_interface__") || nb::hasattr(object, "__dlpack__");
    return kind && nb::hasattr(object, "ndim") && nb::cast<std::int64_t>(object.attr("ndim")) > 0;
}

bool is_arrays(nb::handle object) {
    if (!PyDict_Check(object.ptr())) return is_array(object);
    for (auto [key, value] : nb::borrow<nb::dict>(object))
        if (!PyUnicode_Check(key.ptr()) || !is_array(value)) return false;
    return PyDict_Size(object.ptr()) > 0;
}

/// Turns Python's values into those of a file, and gathers the arrays that stand for data sets.
class Describer {
  public:
    std::vector<data::Hold> held;

    Json of(nb::handle object) {
        PyObject* given = object.ptr();
        if (object.is_none()) return {};
        if (nb::isinstance<Description>(object)) {
            const Description& part = nb::cast<Description&>(object);
            held.insert(held.end(), part.held.begin(), part.held.end());
            return part.value;
        }
        if (PyBool_Check(given)) return given == Py_True;
        if (PyUnicode_Check(given)) return nb::cast<std::string>(object);
        if (PyDict_Check(given)) return mapping(nb::borrow<nb::dict>(object));
        if (PyList_Check(given) || PyTuple_Check(given) || PyRange_Check(given)) return list(object);
        if (nb::hasattr(object, "_description")) return of(object.attr("_description"));
        if (nb::hasattr(object, "__fspath__")) return nb::cast<std::string>(nb::str(object));
        return number_of_description(object);
    }

  private:
    Json mapping(const nb::dict& given) {
        if (given.contains("x") && is_arrays(given["x"])) {
            if (given.size() != 2 || !given.contains("y"))
                throw ConfigError("a data set of arrays is {\"x\": x, \"y\": y}, or (x, y)");
            return arrays(given["x"], given["y"]);
        }
        std::vector<Json::Member> members;
        for (auto [key, value] : given) {
            if (!PyUnicode_Check(key.ptr())) throw ConfigError("the keys of an experiment's mappings are strings");
            members.push_back({nb::cast<std::string>(key), of(value), {}});
        }
        return Json::object(std::move(members));
    }
    Json list(nb::handle given) {
        if (nb::len(given) == 2 && is_arrays(given[0])) return arrays(given[0], given[1]);
        Json all = Json::array();
        for (nb::handle item : given) all.push_back(of(item));
        return all;
    }
    Json arrays(nb::handle x, nb::handle y) {
        data::Held set = data::hold(named_arrays(x, "x"), named_arrays(y, "y"));
        held.insert(held.end(), set.keep.begin(), set.keep.end());
        return set.description;
    }
    /// Copies, which nobody changes.
    static data::NamedArrays named_arrays(nb::handle given, const char* usual) {
        data::NamedArrays all;
        auto add = [&](const std::string& name, nb::handle values) {
            Tensor made = tensor(values, "data");
            compute(made);
            Array from = contiguous(made.array()), own = Array::empty(from.dtype, from.dims);
            std::memcpy(own.address(), from.address(), from.bytes());
            all.emplace_back(name, own);
        };
        if (PyDict_Check(given.ptr()))
            for (auto [name, values] : nb::borrow<nb::dict>(given)) add(nb::cast<std::string>(nb::str(name)), values);
        else
            add(usual, given);
        return all;
    }
};

}  // namespace

Description described(nb::handle object) {
    Describer describer;
    Json value = describer.of(object);
    return {std::move(value), std::move(describer.held)};
}

nb::object python_value(const Json& value) {
    switch (value.kind()) {
        case Json::Kind::null:
            return nb::none();
        case Json::Kind::boolean:
            return nb::bool_(value.as_bool());
        case Json::Kind::integer:
            return nb::int_(value.as_integer());
        case Json::Kind::number:
            return nb::float_(value.as_number());
        case Json::Kind::string:
            return nb::str(value.as_string().c_str(), value.as_string().size());
        case Json::Kind::array: {
            nb::list list;
            for (const Json& item : value.items()) list.append(python_value(item));
            return list;
        }
        case Json::Kind::object:
            break;
    }
    nb::dict members;
    for (const Json::Member& member : value.members())
        members[nb::str(member.key.c_str(), member.key.size())] = python_value(member.value);
    return members;
}

bool Interrupts::stop() {
    auto now = std::chrono::steady_clock::now();
    if (raised_ || now - asked_ < std::chrono::milliseconds(50)) return raised_.has_value();
    asked_ = now;
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) raised_.emplace();
    return raised_.has_value();
}

}  // namespace weft::python
