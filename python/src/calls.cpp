// The short way of calling a compiled function: arguments that are trees of tensors in tuples, lists and dicts of strings, with plain numbers
// and strings, are told apart by one hash, without Python's help. Everything else, and each first call, goes the long way (weft/_transforms.py).
#include "calls.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "weft/base/hash.h"
#include "weft/graph/node.h"

namespace weft::python {
namespace {

constexpr int deepest = 32;  // trees nested more deeply go the long way

/// The tensors of a tree, in the order of weft/_trees.py, and what tells its form, shapes, dtypes and numbers apart from others.
class Walk {
  public:
    /// False if something in it is neither a tensor with numbers nor plain.
    bool visit(PyObject* x, int depth = 0) {
        if (is_tensor(x)) return visit_tensor(tensor_in(x));
        if (depth > deepest) return false;
        if (PyTuple_CheckExact(x)) {
            note('t', PyTuple_GET_SIZE(x));
            for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(x); ++i)
                if (!visit(PyTuple_GET_ITEM(x, i), depth + 1)) return false;
            return true;
        }
        if (PyList_CheckExact(x)) {
            note('l', PyList_GET_SIZE(x));
            for (Py_ssize_t i = 0; i < PyList_GET_SIZE(x); ++i)
                if (!visit(PyList_GET_ITEM(x, i), depth + 1)) return false;
            return true;
        }
        if (PyDict_CheckExact(x)) return visit_dict(x, depth);
        return visit_plain(x);
    }
    Hash128 key() const { return hasher_.result(); }
    const std::vector<Tensor>& tensors() const { return tensors_; }

  private:
    void note(char what, std::int64_t count) {
        hasher_.add(static_cast<std::uint64_t>(what));
        hasher_.add(static_cast<std::uint64_t>(count));
    }

    bool visit_tensor(const Tensor& x) {
        const Node& node = *x.node();
        if (node.symbolic) return false;
        note('x', static_cast<std::int64_t>(node.dtype));
        hasher_.add(node.shape.size());
        for (Size size : node.shape) hasher_.add(static_cast<std::uint64_t>(size.code()));
        tensors_.push_back(x);
        return true;
    }

    bool visit_text(PyObject* x) {
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_AsUTF8AndSize(x, &size);
        if (!bytes) return PyErr_Clear(), false;
        hasher_.add(std::string_view(bytes, static_cast<std::size_t>(size)));
        return true;
    }

    bool visit_dict(PyObject* x, int depth) {
        note('d', PyDict_GET_SIZE(x));
        std::vector<std::pair<PyObject*, PyObject*>> members;
        PyObject *key = nullptr, *value = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(x, &at, &key, &value);) {
            if (!PyUnicode_CheckExact(key) || !visit_text(key))
                return false;  // in their order: results may have it, too
            members.emplace_back(key, value);
        }
        std::sort(members.begin(), members.end(),
                  [](const auto& a, const auto& b) { return PyUnicode_Compare(a.first, b.first) < 0; });
        return std::all_of(members.begin(), members.end(),
                           [&](const auto& member) { return visit(member.second, depth + 1); });
    }

    bool visit_plain(PyObject* x) {
        if (x == Py_None || PyBool_Check(x)) {
            note('b', x == Py_None ? 2 : x == Py_True);
        } else if (PyFloat_CheckExact(x)) {
            note('f', std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(x)));
        } else if (PyLong_CheckExact(x)) {
            int overflow = 0;
            note('i', PyLong_AsLongLongAndOverflow(x, &overflow));
            if (overflow) return false;
        } else if (PyUnicode_CheckExact(x)) {
            note('s', 0);
            return visit_text(x);
        } else {
            return false;
        }
        return true;
    }

    Hasher hasher_;
    std::vector<Tensor> tensors_;
};

/// How a function's results are put together: a tensor, or a tuple or list of them; other trees by Python.
enum class Form : std::uint8_t { one, tuple, list, tree };

class Calls {
  public:
    /// The results, or `missing` if these arguments must go the long way.
    nb::object call(nb::handle missing, nb::handle arguments, nb::handle named) const {
        if (keeps_pending()) return nb::borrow(missing);
        Walk walk;
        if (!walk.visit(arguments.ptr()) || !walk.visit(named.ptr())) return nb::borrow(missing);
        auto at = known_.find(walk.key());
        if (at == known_.end()) return nb::borrow(missing);
        Known known = at->second;  // a copy: others may forget it while this one computes
        std::vector<Tensor> results = without_gil([&] { return known.run->function(walk.tensors()); });
        switch (known.form) {
            case Form::one:
                return object_of(std::move(results[0]));
            case Form::tuple:
                return nb::tuple(list_of(results));
            case Form::list:
                return list_of(results);
            default:
                return known.program.attr("around")(list_of(results));
        }
    }

    void remember(nb::handle arguments, nb::handle named, nb::object program) {
        Walk walk;
        if (!walk.visit(arguments.ptr()) || !walk.visit(named.ptr())) return;
        auto name = nb::cast<std::string>(nb::object(program.attr("results")));
        Form form = name == "tensor"  ? Form::one
                    : name == "tuple" ? Form::tuple
                    : name == "list"  ? Form::list
                                      : Form::tree;
        const auto* run = nb::cast<const Compiled*>(nb::object(program.attr("run")));
        known_.insert_or_assign(walk.key(), Known{std::move(program), run, form});
    }

    void clear() { known_.clear(); }

  private:
    struct Known {
        nb::object program;
        const Compiled* run;  // the program's own
        Form form;
    };
    std::unordered_map<Hash128, Known> known_;
};

/// Calls' own, as Python's C interface calls it: of a small program nanobind's call took a tenth.
PyObject* short_way(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
    return guarded([&]() -> PyObject* {
        if (count != 2) throw ValueError("the arguments and those with names are wanted");
        return nb::inst_ptr<Calls>(self)->call(self, arguments[0], arguments[1]).release().ptr();
    });
}
PyMethodDef short_way_definition{"short_way", reinterpret_cast<PyCFunction>(short_way), METH_FASTCALL, nullptr};

}  // namespace

void bind_calls(nb::module_& m) {
    nb::class_<Calls>(m, "Calls")
        .def(nb::init<>())
        .def("short_way",
             [](nb::handle_t<Calls> self) { return nb::steal(PyCFunction_New(&short_way_definition, self.ptr())); })
        .def("remember", [](Calls& self, Given arguments, Given named,
                            nb::object program) { self.remember(arguments, named, std::move(program)); })
        .def("clear", &Calls::clear);
}

}  // namespace weft::python
