// Scatters as text. Points that may meet, those along axes along which the store does not move by its stride, are one thread's, which joins
// them in their order: the same bits in every dialect, and the CPU's.
#include "weft/kernel/kernel_printer.h"

namespace weft {

void KernelPrinter::scatter() {
    const Access& store = loop_.stores[0];
    std::vector<std::size_t> apart, meeting;
    for (std::size_t axis = 0; axis < loop_.dims.size(); ++axis)
        (store.strides[axis] != 0 && !nest_ ? apart : meeting).push_back(axis);
    if (!nest_) {
        std::string points = apart.empty() ? "1" : "";
        for (std::size_t axis : apart) points += (points.empty() ? "n_" : " * n_") + axis_name(axis);
        open(loop_head("point", of_grid(words_.thread), points, of_grid(words_.threads)));
        std::string inside;  // what a step along an axis counts
        std::vector<std::string> lines;
        for (std::size_t k = apart.size(); k-- > 0;) {
            std::string size = "n_" + axis_name(apart[k]), at = inside.empty() ? "point" : "point / (" + inside + ")";
            lines.push_back(
                text("const ", index_, " ", axis_name(apart[k]), " = ", at, k > 0 ? " % " + size : "", ";"));
            inside = inside.empty() ? size : size + " * " + inside;
        }
        for (std::size_t k = lines.size(); k-- > 0;) line(lines[k]);
    }
    for (std::size_t axis : meeting) open_nest(axis, axis + 1);
    body();
    read_indices('y', 0, store);
    std::string there = element_text('y', 0, store), joined = writer_.cast(value(0), value_type(0), store.dtype);
    if (auto opcode = opcode_of(*loop_.scatter, value_type(0))) {
        std::string type(c_type(value_type(0)));
        if (store.dtype != value_type(0)) {  // the value as memory would hold it
            line("const ", c_type(store.dtype), " stored = ", joined, ";");
            joined = "stored";
        }
        line("const ", type, " update = ", writer_.cast(joined, store.dtype, value_type(0)), ";");
        line("const ", type, " old = ", writer_.cast(there, store.dtype, value_type(0)), ";");
        line("const ", type, " sum = ", writer_.binary(*opcode, value_type(0), "update", "old"), ";");
        joined = writer_.cast("sum", value_type(0), store.dtype);
    }
    line(there, " = ", joined, ";");
    close(meeting.size() + !nest_);
}

}  // namespace weft
