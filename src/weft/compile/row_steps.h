// What the steps of a plan have to do with rows: which they make, over which they run, which of their loads they read row by row.
// A row of an array is all that stands at one place of its leading axes. Callers: compile/row_groups.cpp.
#pragma once

#include "weft/compile/plan.h"

namespace weft {

class RowSteps {
  public:
    RowSteps(const Plan& plan, const Graph& graph) : plan_(plan), graph_(graph) {}

    bool is_product(const Step& step) const;
    /// A convolution or the gradient of its input: they make image by image.
    bool is_convolution(const Step& step) const;
    /// Whatever slides a window over images, one by one: the convolutions above, and pooling.
    bool slides(const Step& step) const;
    /// A reduction over trailing axes alone.
    bool reduces_rows(const Step& step) const;
    /// A reduction that joins axes between others.
    bool joins_inner_axes(const Step& step) const;
    /// A reduction of the rows themselves that is joined block by block.
    bool sums_over_rows(const Step& step, const Shape& rows) const;
    /// A product whose second matrix is each batch's own (attention's values), so that the first, made row by row, is all it shares.
    bool weighs(const Step& step) const;

    /// The axes that are rows for such a step, as the one that a group of steps grows from: of a reduction those in front of what it joins, of a
    /// product all but the last, of a convolution the images.
    Shape rows_of(const Step& step) const;

    /// Whether each row that the step makes is computed from the same row of what it reads (but for loads that reads() denies).
    bool runs_over(const Step& step, const Shape& rows) const;
    /// Whether the step reads this load row by row: axis for axis along its own rows; of a product's second matrix batches alone, of a
    /// convolution's weights nothing.
    bool reads(const Step& step, std::size_t load, const Shape& rows) const;

    /// Whether an array that the step reads lies across these rows: what follows each other in memory belongs to different ones, so that it
    /// is read better by columns, all rows at once; but for rows of `few` elements and less that follow each other
    /// in memory (0: none).
    bool reads_across(const Step& step, const Shape& rows, std::int64_t few) const;

    /// Whether a step reads a slot by indices, or indices from it: then all of it is made before.
    bool picks_from(const Step& step, std::int32_t slot) const;

    static bool has_more_than(const Shape& rows, const Shape& all);
    const Shape& space(const Step& step) const { return graph_.node(step.space).shape; }

  private:
    bool has(std::int32_t entry, const Shape& rows) const;
    bool keeps(std::int32_t entry, const Shape& rows) const;
    std::int64_t fastest_axis(std::int32_t entry) const;

    const Plan& plan_;
    const Graph& graph_;
};

/// Whether rows, of so many axes, lie one after the other in memory that lies in this order.
bool rows_lead(const Axes& order, std::size_t rows);
/// The shape without its axes of one; empty for a single element, or a single row.
Shape proper(const Shape& shape);
inline bool is_one(const Shape& shape) { return proper(shape).empty(); }

}  // namespace weft
