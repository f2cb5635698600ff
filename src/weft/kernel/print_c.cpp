#include "weft/kernel/print_c.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "weft/kernel/kernel_printer.h"

namespace weft {

std::string axis_name(std::size_t axis) {
    constexpr std::string_view letters = "ijkmpq";
    return axis < letters.size() ? std::string(1, letters[axis]) : text("i", axis);
}

namespace {

/// Names and kinds of an argument that is a number: the size of an axis, or the stride of an array along one.
struct Number {
    std::string name;
    std::int64_t value;
};

/// A stride that the text holds as it is: those of broadcast and of contiguous axes.
bool is_structure(std::int64_t stride) { return stride == 0 || stride == 1; }

/// The numbers that a kernel takes, in order; the first group are the sizes, then the strides of each array.
std::vector<std::vector<Number>> number_groups(const Loop& loop) {
    std::vector<std::vector<Number>> groups(1);
    for (std::size_t axis = 0; axis < loop.dims.size(); ++axis)
        groups[0].push_back({"n_" + axis_name(axis), loop.dims[axis]});
    auto add = [&](const std::vector<Access>& accesses, char letter) {
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            groups.emplace_back();
            const Dims& strides = accesses[i].strides;
            for (std::size_t axis = 0; axis < strides.size(); ++axis) {
                if (!is_structure(strides[axis]))
                    groups.back().push_back({text(letter, i, "_", axis_name(axis)), strides[axis]});
            }
            for (std::size_t k = 0; k < accesses[i].pointers.size(); ++k) {
                const Pointer& pointer = accesses[i].pointers[k];
                groups.back().push_back({text(letter, i, "_size", k), pointer.size});
                if (pointer.stride != 1) groups.back().push_back({text(letter, i, "_step", k), pointer.stride});
            }
            if (accesses[i].source == Source::random)
                groups.back().push_back({text(letter, i, "_key"), accesses[i].drawn.stride});
        }
    };
    add(loop.loads, 'x');
    add(loop.stores, 'y');
    std::erase_if(groups, [](const std::vector<Number>& group) { return group.empty(); });
    return groups;
}

/// "i * x0_i + j"
std::string place(char letter, std::size_t number, const Access& access) {
    std::string all;
    for (std::size_t axis = 0; axis < access.strides.size(); ++axis) {
        if (access.strides[axis] == 0) continue;
        if (!all.empty()) all += " + ";
        all += axis_name(axis);
        if (access.strides[axis] != 1) all += text(" * ", letter, number, "_", axis_name(axis));
    }
    return all;
}

}  // namespace

std::string element_text(char letter, std::size_t number, const Access& access) {
    std::string all = place(letter, number, access), array = text(letter, number);
    for (std::size_t k = 0; k < access.pointers.size(); ++k) {
        all += text(all.empty() ? "" : " + ", array, "_at", k);
        if (access.pointers[k].stride != 1) all += text(" * ", array, "_step", k);
    }
    return text(array, "[", all.empty() ? "0" : all, "]");
}

void KernelPrinter::comment() {
    std::size_t all = loop_.dims.size();
    if (loop_.scatter)
        return line("// ", name_, ": for every ", axes(0, all), " of a box of ", count(0, all),
                    ", in this order: ", name_of(*loop_.scatter), " where indices say.");
    if (!loop_.reduces()) return line("// ", name_, ": for every ", axes(0, all), " of a box of ", count(0, all), ".");
    if (loop_.scan)
        return line("// ", name_, ": for every ", axes(0, kept_), " of a box of ", count(0, kept_), ", the running ",
                    name_of(loop_.reductions[0]), " along ", axes(kept_, all), " of ", count(kept_, all), ".");
    line("// ", name_, ": for every ", axes(0, kept_), " of a box of ", count(0, kept_), ", joined over ",
         axes(kept_, all), " of ", count(kept_, all), ":");
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) line("// y", i, ": ", name_of(loop_.reductions[i]));
}

void KernelPrinter::signature() {
    std::vector<std::string> lines;
    auto arrays = [&](const std::vector<Access>& accesses, char letter, std::string_view constant) {
        std::string all;
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            if (i) all += ", ";
            if (accesses[i].source != Source::memory) {
                all += text("int64_t ", letter, i, "_first");
                continue;
            }
            all += text(words_.global, constant, c_type(accesses[i].dtype), "* ", letter, i);
            if (words_.offsets) all += text(", int64_t ", letter, i, "_first");
        }
        if (!all.empty()) lines.push_back(all);
    };
    arrays(loop_.loads, 'x', "const ");
    arrays(loop_.stores, 'y', "");
    for (const std::vector<Number>& group : number_groups(loop_)) {
        std::string all;
        for (const Number& number : group) all += text(all.empty() ? "" : ", ", index_, " ", number.name);
        lines.push_back(all);
    }
    std::string head = text(words_.kernel, "void ", name_, "("), gap(head.size(), ' ');
    for (std::size_t i = 0; i < lines.size(); ++i)
        line(i == 0 ? head : gap, lines[i], i + 1 == lines.size() ? ")" : ",");
    if (lines.empty()) line(head, "void)");
}

void KernelPrinter::move_to_first() {
    for (std::size_t i = 0; i < loop_.loads.size(); ++i)
        if (loop_.loads[i].source == Source::memory) line("x", i, " += x", i, "_first;");
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) line("y", i, " += y", i, "_first;");
}

void KernelPrinter::assume_alignments() {
    auto assume = [&](const std::vector<Access>& accesses, char letter, std::string_view constant) {
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            if (accesses[i].alignment == 0) continue;
            line(letter, i, " = (", words_.global, constant, c_type(accesses[i].dtype), "*)", words_.aligned, "(",
                 letter, i, ", ", accesses[i].alignment, ");");
        }
    };
    assume(loop_.loads, 'x', "const "), assume(loop_.stores, 'y', "");
}

void KernelPrinter::open_nest(std::size_t from, std::size_t to) {
    for (std::size_t axis = from; axis < to; ++axis) {
        std::string i = axis_name(axis);
        open(text("for (", index_, " ", i, " = 0; ", i, " < n_", i, "; ++", i, ")"));
    }
}

void KernelPrinter::indices(std::size_t from, std::size_t to, std::string_view at) {
    for (std::size_t axis = from; axis < to; ++axis) {
        std::string inside = count(axis + 1, to), place(at);
        if (axis + 1 < to) place += axis + 2 < to ? text(" / (", inside, ")") : text(" / ", inside);
        if (axis > from) place += text(" % n_", axis_name(axis));
        line("const ", index_, " ", axis_name(axis), " = ", place, ";");
    }
}

void KernelPrinter::read_indices(char letter, std::size_t number, const Access& access) {
    for (std::size_t k = 0; k < access.pointers.size(); ++k) {
        auto from = static_cast<std::size_t>(access.pointers[k].load);
        std::string at = text(letter, number, "_at", k);
        line(index_, " ", at, " = (", index_, ")", element_text('x', from, loop_.loads[from]), ";");
        line("if (", at, " < 0) ", at, " += ", letter, number, "_size", k, ";");
    }
}

std::string KernelPrinter::made(std::size_t load) {
    const Access& access = loop_.loads[load];
    std::string number = text("x", load, "_first"), moved = place('x', load, access);
    if (!moved.empty()) number += " + " + moved;
    if (access.source == Source::counting) return "(" + number + ")";
    auto key = static_cast<std::size_t>(access.drawn.key);
    line("const int64_t x", load, "_number = ", number, ";");
    auto word = [&](std::string_view at) {
        return text(writer_.philox_word(), "(x", key, "[0], x", key, "[x", load, "_key], ", access.drawn.stream, "u, ",
                    at, ")");
    };
    number = text("x", load, "_number");
    if (access.dtype == DType::uint32) return word(number);
    return text("((uint64_t)", word("2 * " + number + " + 1"), " << 32 | ", word("2 * " + number), ")");
}

void KernelPrinter::body() {
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < loop_.loads.size(); ++i) read_indices('x', i, loop_.loads[i]);
    for (std::size_t i = 0; i < loop_.loads.size(); ++i) {
        const Access& load = loop_.loads[i];
        std::string value = load.source == Source::memory ? element_text('x', i, load) : made(i);
        inputs.push_back(writer_.cast(value, load.dtype, loop_.program.inputs[i]));
    }
    text_ += writer_.statements(loop_.program, inputs, indent(), values_);
}

void KernelPrinter::map() {
    std::size_t all = loop_.dims.size();
    if (nest_) {
        open_nest(0, all);
    } else {
        open(loop_head("point", of_grid(words_.thread), count(0, all), of_grid(words_.threads)));
        indices(0, all, "point");
    }
    body();
    for (std::size_t i = 0; i < loop_.stores.size(); ++i)
        line(element_text('y', i, loop_.stores[i]), " = ", writer_.cast(value(i), value_type(i), loop_.stores[i].dtype),
             ";");
    close(nest_ ? all : 1);
}

namespace {

void require_name(const std::string& name) {
    bool fits = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
    for (char c : name) fits &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!fits) throw InternalError(text("print_c: '", name, "' is no name for a kernel; letters, digits and _ are"));
}

}  // namespace

std::string print_c(std::span<const NamedLoop> loops, Dialect dialect) {
    CWriter writer(dialect);
    std::string kernels;
    for (const NamedLoop& named : loops) {
        verify(named.loop);
        require_name(named.name);
        kernels += (kernels.empty() ? "" : "\n") + KernelPrinter(named, dialect, writer).print();
    }
    std::string typedefs = typedefs_for(writer.definitions() + kernels, dialect);
    if (!typedefs.empty()) typedefs += "\n";
    return text(words_of(dialect).opening, typedefs, writer.definitions(), kernels);
}

std::string print_c(const Loop& loop, Dialect dialect, std::string_view name) {
    NamedLoop named{std::string(name), loop};
    return print_c({&named, 1}, dialect);
}

std::vector<std::int64_t> numbers_for(const Loop& loop) {
    std::vector<std::int64_t> numbers;
    for (const std::vector<Number>& group : number_groups(loop)) {
        for (const Number& number : group) numbers.push_back(number.value);
    }
    return numbers;
}

namespace {

constexpr std::int64_t most_groups = 65535;  // beyond, threads stride: devices differ in what they take
constexpr int threads_alone = 256;           // of a group whose threads have nothing to do with each other

}  // namespace

DType index_dtype(const Loop& loop, Dialect dialect) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(),
                           most_points = most - most_groups * threads_alone;  // a thread counts on by all threads
    if (dialect == Dialect::c) return DType::int64;
    auto fits = [&](std::int64_t number) { return number >= -most && number <= most; };
    std::int64_t points = 1;
    for (std::int64_t size : loop.dims)  // also parts of the box are counted, of one that is empty too
        if (__builtin_mul_overflow(points, std::max<std::int64_t>(size, 1), &points) || points > most_points)
            return DType::int64;
    for (std::int64_t number : numbers_for(loop))
        if (!fits(number)) return DType::int64;
    for (const auto* accesses : {&loop.loads, &loop.stores}) {
        for (const Access& access : *accesses) {
            Extent extent = extent_of(access, loop.dims);
            if (!fits(extent.first) || !fits(extent.last)) return DType::int64;
        }
    }
    return DType::int32;
}

Launch launch_for(const Loop& loop) {
    std::size_t kept = loop.dims.size() - loop.reduced;
    std::int64_t results = 1;
    for (std::size_t axis = 0; axis < kept; ++axis)  // points of a scatter that may meet are one thread's
        if (!loop.scatter || loop.stores[0].strides[axis] != 0) results *= loop.dims[axis];
    bool groups_join = loop.reduces() && !loop.scan;  // else each thread works alone
    int threads = groups_join ? reduction_lanes : threads_alone;
    std::int64_t groups = groups_join ? results : (results + threads - 1) / threads;
    return {std::min(groups, most_groups), threads};
}

}  // namespace weft
