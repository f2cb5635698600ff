// Looking inside, settings, files.

#include "object.h"
#include "weft/base/thread_pool.h"
#include "weft/compile/stages.h"
#include "weft/io/safetensors.h"
#include "weft/runtime/debug.h"
#include "weft/runtime/explain.h"
#include "weft/viz/explanation.h"

namespace weft::python {
namespace {

std::string joined(const std::set<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
    return all;
}

std::string names_of(const DebugModes& modes) {
    std::set<std::string> names;
    if (modes.nan) names.insert("nan");
    if (modes.rewrites) names.insert("rewrites");
    if (modes.trace) names.insert("trace");
    return joined(names);
}

}  // namespace

void bind_tools(nb::module_& m) {
    nb::class_<Explanation>(m, "Explanation",
                            "How a program runs: each stage as text, all of it by str(), as a page in a notebook.")
        .def_ro("graph", &Explanation::graph, "As written, an operation a line, with the user's line.")
        .def_ro("rewrites", &Explanation::rewrites, "Each with its name, its place, before and after.")
        .def_ro("plan", &Explanation::plan, "The steps, and why neighbours are not one.")
        .def_ro("kernels", &Explanation::kernels, "What is run, each with its text.")
        .def_ro("memory", &Explanation::memory, "Who lies where, from which step to which.")
        .def_prop_ro("timings", &Explanation::timings,
                     "A step a line: time, share, bytes and operations a second, share of the limits.")
        .def_ro("arena_bytes", &Explanation::arena_bytes, "Memory for what passes between steps.")
        .def_prop_ro(
            "limits",
            [](const Explanation& self) {
                const Limits& all = self.limits;
                return std::map<std::string, double>{
                    {"operations", all.operations}, {"copied", all.bytes}, {"read", all.read_bytes}};
            },
            "What the machine can do, as measured: float32 operations, bytes copied and bytes read beyond the caches, "
            "in a second.")
        .def("__str__", &Explanation::str)
        .def("__repr__", &Explanation::str)
        .def("_repr_html_", [](const Explanation& self) { return viz::html(self); });
    m.def("explain", [](Given list) {
        std::vector<Tensor> all = tensors(list, "explain");
        return without_gil([&] { return explain(all); });
    });
    m.def("debug", [] { return names_of(debug_modes()); });
    m.def("set_debug", [](const std::string& names) { debug(names); });
    m.def("shown", [] { return joined(shown_stages()); });
    m.def("set_shown", [](const std::string& names) { show_stages(names); });
    m.def("threads", [] { return ThreadPool::instance().threads(); });
    m.def("set_threads", [](int count) {
        if (count < 1) throw ValueError(text("threads: ", count, "; there must be one"));
        without_gil([&] { ThreadPool::instance().set_threads(count); });
    });
    m.def("save_arrays",
          [](const std::string& path, Given names, Given list, const std::map<std::string, std::string>& metadata) {
              std::vector<Tensor> all = tensors(list, "save");
              without_gil([&] { eval(all); });
              io::NamedArrays contents;
              std::size_t i = 0;
              for (nb::handle name : names) contents.arrays[nb::cast<std::string>(name)] = contiguous(all[i++].array());
              contents.metadata = {metadata.begin(), metadata.end()};
              without_gil([&] { io::save_safetensors(path, contents); });
          });
    m.def("load_arrays", [](const std::string& path) {
        io::NamedArrays contents = without_gil([&] { return io::load_safetensors(path); });
        nb::dict arrays, metadata;
        for (auto& [name, array] : contents.arrays)
            arrays[nb::str(name.c_str(), name.size())] = object_of(Tensor(array));
        for (auto& [name, value] : contents.metadata) metadata[nb::str(name.c_str(), name.size())] = value;
        return nb::make_tuple(arrays, metadata);
    });
}

}  // namespace weft::python
