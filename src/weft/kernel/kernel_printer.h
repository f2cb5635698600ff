// One kernel as text: what the printer of C does for each loop. Callers: kernel/print_c.cpp (maps, and what all have in common),
// kernel/print_c_reduction.cpp, print_c_scan.cpp, print_c_scatter.cpp.
#pragma once

#include "weft/base/error.h"
#include "weft/kernel/c_writer.h"
#include "weft/kernel/print_c.h"

namespace weft {

/// "i", "j", ...: the index of an axis.
std::string axis_name(std::size_t axis);
/// "x0[i * x0_i + j]"; of a load that moves by indices "x0[j + x0_at0 * x0_step0]", where x0_at0 was declared.
std::string element_text(char letter, std::size_t number, const Access& access);

/// Prints one kernel. The way of a loop through its box is C's own nest of loops, or a grid's threads; the rest is common.
class KernelPrinter {
  public:
    KernelPrinter(const NamedLoop& named, Dialect dialect, CWriter& writer)
        : loop_(named.loop),
          name_(named.name),
          words_(words_of(dialect)),
          nest_(dialect == Dialect::c),
          index_(c_type(index_dtype(named.loop, dialect))),
          writer_(writer),
          kept_(named.loop.dims.size() - named.loop.reduced) {}

    std::string print() {
        comment();
        signature();
        line("{");
        ++depth_;
        if (words_.offsets) move_to_first();
        if (!words_.aligned.empty()) assume_alignments();
        if (loop_.scan)
            scan();
        else if (loop_.scatter)
            scatter();
        else if (!loop_.reduces())
            map();
        else if (nest_)
            reduction_of_nest();
        else
            reduction_of_groups();
        --depth_;
        line("}");
        return std::move(text_);
    }

  private:
    template <class... Parts>
    void line(const Parts&... parts) {
        text_ += text(indent(), parts..., "\n");
    }
    std::string indent() const { return std::string(4 * depth_, ' '); }
    void open(const std::string& head) {
        line(head, " {");
        ++depth_;
    }
    void close(std::size_t blocks = 1) {
        for (; blocks > 0; --blocks) {
            --depth_;
            line("}");
        }
    }
    /// "(i, j)" or "n_i * n_j" of the axes [from, to).
    std::string axes(std::size_t from, std::size_t to) const {
        std::string all;
        for (std::size_t axis = from; axis < to; ++axis) all += (axis == from ? "" : ", ") + axis_name(axis);
        return "(" + all + ")";
    }
    std::string count(std::size_t from, std::size_t to) const {
        std::string all;
        for (std::size_t axis = from; axis < to; ++axis) all += (axis == from ? "n_" : " * n_") + axis_name(axis);
        return all.empty() ? "1" : all;
    }
    /// The dialect's expression (DialectWords) of the type of indices.
    std::string of_grid(std::string_view words) const { return filled(words, {{'I', index_}}); }
    /// "for (int64_t i = 0; i < n; i += m)"
    std::string loop_head(std::string_view i, std::string_view from, std::string_view to, std::string_view step) const {
        return text("for (", index_, " ", i, " = ", from, "; ", i, " < ", to, "; ", i, " += ", step, ")");
    }
    DType value_type(std::size_t output) const { return loop_.program.dtype(loop_.program.outputs[output]); }
    const std::string& value(std::size_t output) const {
        return values_[static_cast<std::size_t>(loop_.program.outputs[output])];
    }

    void comment();
    void signature();
    void move_to_first();
    void assume_alignments();
    void map();
    void scan();
    void scatter();
    void reduction_of_nest();
    void reduction_of_groups();

    /// Opens C's loops over the axes [from, to).
    void open_nest(std::size_t from, std::size_t to);
    /// The indices of the row-major position `at` in the box of the axes [from, to).
    void indices(std::size_t from, std::size_t to, std::string_view at);
    /// Where the index tensors of a load or store point, counted from the front.
    void read_indices(char letter, std::size_t number, const Access& access);
    /// What a load without memory gives at the point.
    std::string made(std::size_t load);
    /// The program at one point: its loads and statements.
    void body();
    void declare_lanes();
    /// The values of a point into their lane; `first`: the condition that the lane holds nothing yet.
    void join_point(std::string_view first);
    /// Lanes `lane` and `lane + step` joined.
    void join_lanes();
    std::string joined(std::size_t output, const std::string& a, const std::string& b);
    std::string lane_of(std::size_t output, std::string_view lane) const {
        return text("y", output, "_lanes[", lane, "]");
    }
    std::string place_of(std::size_t output, std::string_view lane) const {
        return text("y", output, "_places[", lane, "]");
    }
    void store_results(std::string_view number_of_elements);

    const Loop& loop_;
    const std::string& name_;
    const DialectWords& words_;
    bool nest_;
    std::string_view index_;  // the type of indices
    CWriter& writer_;
    std::size_t kept_;
    std::size_t depth_ = 0;
    std::string text_;
    std::vector<std::string> values_;
};

}  // namespace weft
