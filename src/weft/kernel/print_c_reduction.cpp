// Reductions as text: 64 lanes in every dialect, joined pairwise.
#include "weft/kernel/kernel_printer.h"

namespace weft {
namespace {

bool is_position(Reduction reduction) { return reduction == Reduction::argmax || reduction == Reduction::argmin; }

}  // namespace

void KernelPrinter::declare_lanes() {
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
        line(words_.local, c_type(value_type(i)), " y", i, "_lanes[", reduction_lanes, "];");
        if (is_position(loop_.reductions[i])) line(words_.local, "int64_t y", i, "_places[", reduction_lanes, "];");
    }
}

std::string KernelPrinter::joined(std::size_t output, const std::string& a, const std::string& b) {
    auto by = [&](Opcode opcode) { return writer_.binary(opcode, value_type(output), a, b); };
    switch (loop_.reductions[output]) {
        case Reduction::sum:
            return by(Opcode::add);
        case Reduction::product:
            return by(Opcode::multiply);
        case Reduction::maximum:
        case Reduction::any:
            return by(Opcode::maximum);
        case Reduction::minimum:
        case Reduction::all:
            return by(Opcode::minimum);
        case Reduction::argmax:
        case Reduction::argmin:
            break;
    }
    throw InternalError("print_c: positions are chosen, not joined");
}

void KernelPrinter::join_point(std::string_view first) {
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
        std::string lane = lane_of(i, "lane");
        if (!is_position(loop_.reductions[i])) {
            line(lane, " = ", first, " ? ", value(i), " : ", joined(i, lane, value(i)), ";");
            continue;
        }
        std::string better = writer_.better(loop_.reductions[i], value_type(i)), place = place_of(i, "lane");
        open(text("if (", first, " || ", better, "(", lane, ", ", place, ", ", value(i), ", r))"));
        line(lane, " = ", value(i), ";");
        line(place, " = r;");
        close();
    }
}

void KernelPrinter::join_lanes() {
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
        std::string lane = lane_of(i, "lane"), other = lane_of(i, "lane + step");
        if (!is_position(loop_.reductions[i])) {
            line(lane, " = ", joined(i, lane, other), ";");
            continue;
        }
        std::string better = writer_.better(loop_.reductions[i], value_type(i)), place = place_of(i, "lane"),
                    other_place = place_of(i, "lane + step");
        open(text("if (", better, "(", lane, ", ", place, ", ", other, ", ", other_place, "))"));
        line(lane, " = ", other, ";");
        line(place, " = ", other_place, ";");
        close();
    }
}

void KernelPrinter::store_results(std::string_view number_of_elements) {
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
        bool position = is_position(loop_.reductions[i]);
        DType dtype = result_dtype(loop_.reductions[i], value_type(i));
        std::string none = position ? "0" : writer_.literal(dtype, identity_of(loop_.reductions[i], dtype));
        std::string result = position ? place_of(i, "0") : lane_of(i, "0");
        if (loop_.stores[i].dtype != dtype) {
            none = writer_.cast(none, dtype, loop_.stores[i].dtype);
            result = writer_.cast(result, dtype, loop_.stores[i].dtype);
        }
        line(element_text('y', i, loop_.stores[i]), " = ", number_of_elements, " == 0 ? ", none, " : ", result, ";");
    }
}

void KernelPrinter::reduction_of_nest() {
    std::size_t all = loop_.dims.size();
    declare_lanes();
    open_nest(0, kept_);
    line(index_, " r = 0;  // elements joined so far");
    open_nest(kept_, all);
    body();
    line("const int lane = (int)(r % ", reduction_lanes, ");");
    join_point(text("r < ", reduction_lanes));
    line("++r;");
    close(loop_.reduced);
    open(text("for (int step = ", reduction_lanes / 2, "; step > 0; step /= 2)"));
    open("for (int lane = 0; lane < step && lane + step < r; ++lane)");
    join_lanes();
    close(2);
    store_results("r");
    close(kept_);
}

void KernelPrinter::reduction_of_groups() {
    std::size_t all = loop_.dims.size();
    declare_lanes();
    line("const int lane = ", words_.lane, ";");
    line("const ", index_, " results = ", count(0, kept_), ", elements = ", count(kept_, all), ";");
    open(loop_head("result", of_grid(words_.group), "results", of_grid(words_.groups)));
    indices(0, kept_, "result");
    open(loop_head("r", "lane", "elements", text(reduction_lanes)));
    indices(kept_, all, "r");
    body();
    join_point("r == lane");
    close();
    line(words_.barrier);
    open(text("for (int step = ", reduction_lanes / 2, "; step > 0; step /= 2)"));
    open("if (lane < step && lane + step < elements)");
    join_lanes();
    close();
    line(words_.barrier);
    close();
    open("if (lane == 0)");
    store_results("elements");
    close();
    line(words_.barrier, "  // before the lanes are used again");
    close();
}

}  // namespace weft
