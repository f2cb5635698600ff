// The parts of a step of rows (row_blocks.h), one of each kind of step: how each operand moves with the rows, what a row costs, and the
// kernel for a block of them. A part's operands are in the order of the kernel, their numbers not yet given.
// Callers: compile/step_kernels.cpp.
#pragma once

#include "weft/compile/device.h"
#include "weft/compile/row_blocks.h"

namespace weft {

/// Elements of a row of an array of these dims, whose first axes are the rows; of a number, which may have none of them: 1.
double elements_of_row(const Dims& dims, std::size_t rows);

/// A loop whose first axes are the rows. `inside`: of each load and store whether it lives in the step.
RowPart loop_part(const KernelCompiler& compiler, const Loop& loop, std::size_t rows, const std::vector<bool>& inside);
/// A map (`inside` says of its accesses as above) and, in the same pass, the reduction of each row that reads its only result.
RowPart stored_reduction_part(const KernelCompiler& compiler, const Loop& map, const Loop& reduction, std::size_t rows,
                              const std::vector<bool>& inside, const std::vector<bool>& inside_of_reduction);
/// The same map and reduction, or a reduction alone, and beside them the map that ends the rows of an earlier block, or turn. Operands: as
/// KernelCompiler says.
RowBeside beside_part(const KernelCompiler& compiler, const Loop* map, const Loop& reduction, const Loop& behind,
                      std::size_t rows, const std::vector<std::vector<bool>>& inside, bool turns);
/// A reduction of the rows: its loop has them behind the axes that are kept.
RowPart row_sums_part(const KernelCompiler& compiler, const Loop& loop, const std::vector<bool>& inside);
/// A product: its rows are its batches and the rows of the first matrix; of the second matrix the rows are batches alone.
RowPart product_part(const KernelCompiler& compiler, const Node& node, const std::vector<Layout>& inputs,
                     const Layout& output, std::size_t rows);
/// A convolution, or pooling: its rows are images, of all that has them, so not of a convolution's weights.
RowPart window_part(const KernelCompiler& compiler, const Node& node, const std::vector<Layout>& inputs,
                    const Layout& output, bool convolution);

}  // namespace weft
