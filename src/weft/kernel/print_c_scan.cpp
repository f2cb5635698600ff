// Running results as text: one lane after another, or a thread a lane; the same bits in every dialect, and the CPU's.
#include "weft/kernel/kernel_printer.h"

namespace weft {

void KernelPrinter::scan() {
    std::string axis = axis_name(kept_), size = "n_" + axis, type = std::string(c_type(value_type(0)));
    if (nest_) {
        open_nest(0, kept_);
    } else {
        open(loop_head("point", of_grid(words_.thread), count(0, kept_), of_grid(words_.threads)));
        indices(0, kept_, "point");
    }
    line(type, " running = ", writer_.literal(value_type(0), identity_of(loop_.reductions[0], value_type(0))), ";");
    open(text("for (", index_, " r = 0; r < ", size, "; ++r)"));
    line("const ", index_, " ", axis, " = ", loop_.scan->backwards ? size + " - 1 - r" : "r", ";");
    body();
    line("const ", type, " next = ", joined(0, "running", value(0)), ";");
    line(element_text('y', 0, loop_.stores[0]), " = ",
         writer_.cast(loop_.scan->exclusive ? "running" : "next", value_type(0), loop_.stores[0].dtype), ";");
    line("running = next;");
    close();
    close(nest_ ? kept_ : 1);
}

}  // namespace weft
