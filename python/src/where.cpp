// The user's line: the innermost frame of Python that is not the package's own, as a std::source_location. Each place of a program (a code
// object and an instruction) is looked up once and kept; a code object that was seen stays alive.
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>

#include "object.h"

namespace weft::python {
namespace {

/// What a std::source_location points to, in g++'s library and in clang's.
struct SourcePlace {
    const char *file, *function;
    unsigned line, column;
};

std::source_location location_of(const SourcePlace* place) {
    static_assert(sizeof(std::source_location) == sizeof place);
    return std::bit_cast<std::source_location>(place);
}

/// Whether this library's std::source_location is what location_of takes it for.
bool understood() {
    static const SourcePlace probe{"probe", "", 12345, 0};
    static const bool is =
        location_of(&probe).line() == 12345 && std::strcmp(location_of(&probe).file_name(), "probe") == 0;
    return is;
}

struct Key {
    PyCodeObject* code;
    int instruction;
    bool operator==(const Key&) const = default;
};
struct HashKey {
    std::size_t operator()(const Key& key) const {
        return reinterpret_cast<std::uintptr_t>(key.code) / 16 * 0x9E3779B97F4A7C15u +
               static_cast<std::size_t>(key.instruction);
    }
};

/// The folder of the package: frames of its files are passed over.
const std::string& package_folder() {
    static const std::string* folder = [] {
        nb::object path = nb::module_::import_("weft").attr("__path__")[nb::int_(0)];
        return new std::string(nb::cast<std::string>(nb::str(path)));
    }();
    return *folder;
}

/// Null for a place in the package itself.
const SourcePlace* place_of(PyFrameObject* frame, PyCodeObject* code) {
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    const char* function = PyUnicode_AsUTF8(code->co_name);
    if (!file || !function) {
        PyErr_Clear();
        return nullptr;
    }
    if (std::string_view(file).starts_with(package_folder())) return nullptr;
    return new SourcePlace{file, function, static_cast<unsigned>(PyFrame_GetLineNumber(frame)), 0};
}

/// Takes over the count of the key's code object.
const SourcePlace* looked_up_place(PyFrameObject* frame, const Key& key) {
    static auto* places = new std::unordered_map<Key, const SourcePlace*, HashKey>;
    auto [entry, added] = places->try_emplace(key, nullptr);
    if (added)
        entry->second = place_of(frame, key.code);  // keeps the code object, whose names the place shows
    else
        Py_DECREF(key.code);
    return entry->second;
}

const SourcePlace* known_place(PyFrameObject* frame) {
    struct Found {
        Key key{};
        const SourcePlace* place = nullptr;
    };
    static std::array<Found, 64> lately;  // a loop has few places
    PyCodeObject* code = PyFrame_GetCode(frame);
#if PY_VERSION_HEX >= 0x030B0000
    int instruction = PyFrame_GetLasti(frame);
#else
    int instruction = PyFrame_GetLineNumber(frame);
#endif
    Key key{code, instruction};
    Found& found = lately[HashKey()(key) % lately.size()];
    if (found.key == key)
        Py_DECREF(code);
    else
        found = {key, looked_up_place(frame, key)};
    return found.place;
}

}  // namespace

std::source_location here() {
    if (!understood()) return {};
    PyFrameObject* frame = PyEval_GetFrame();  // borrowed
    Py_XINCREF(frame);
    while (frame) {
        const SourcePlace* place = known_place(frame);
        PyFrameObject* back = place ? nullptr : PyFrame_GetBack(frame);
        Py_DECREF(frame);
        if (place) return location_of(place);
        frame = back;
    }
    return {};
}

}  // namespace weft::python
