// What the compiler asks of a device: kernels for loops, and library kernels for the families that are not loops.
// A kernel is prepared once, for known sizes and strides (a Binding), and run often: run() allocates nothing, takes no lock (but the
// run that makes machine code that was put off), and may be called by several threads at once; so may the making of kernels. Devices
// know families, never operations.
// Callers: compile/ and runtime/ use it; backend/ implements it (cpu_compiler below is defined in backend/cpu).
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "weft/compile/quantities.h"
#include "weft/core/shape.h"
#include "weft/graph/node.h"
#include "weft/kernel/loop.h"

namespace weft {

/// How an operand of a library kernel lies in memory: strides in elements, from the address that run() is handed.
struct Layout {
    DType dtype = DType::float32;
    Dims dims;
    Dims strides;
    std::int64_t size() const { return element_count(dims); }
    bool contiguous() const { return Array{dtype, dims, strides, 0, nullptr}.contiguous(); }
};

struct Binding;

/// Where a kernel is in rows that it makes a few at a time: at the front of what it keeps of that, and how it makes the next ones.
struct RowCursor {
    void (*make)(RowCursor& at, std::int64_t count) = nullptr;
};

class Kernel {
  public:
    virtual ~Kernel() = default;
    /// Working memory that run() is handed, 64-byte aligned; the memory plan provides it.
    virtual std::size_t scratch_bytes() const { return 0; }
    /// `operands`: addresses of the inputs, then of the outputs, in the order of preparation.
    virtual void run(void* const* operands, std::byte* scratch) const = 0;
    /// After the last of several runs for blocks of one array (KernelUse): they need not wait for what they store to arrive.
    virtual void finish() const {}
    /// Of a kernel of so many rows, each made by itself, which may be run a few of them at a time, between those of others: how many bytes it keeps
    /// where it is in, 8-byte aligned. 0: it is not such. `step`: bytes from row to row of its last output, by which it knows what a row is.
    virtual std::size_t cursor_bytes(std::int64_t rows, std::int64_t step) const { return (void)rows, (void)step, 0; }
    /// Puts a RowCursor there, which stands at row `first`; a map behind a reduction (KernelCompiler::stored_reduction), at the first.
    virtual void start_rows(std::int64_t rows, std::int64_t first, void* const* operands, std::byte* cursor) const {
        (void)rows, (void)first, (void)operands, (void)cursor;
    }
    /// Throws what run() would throw for these operands before it writes: an index outside its axis. Reads index tensors alone.
    virtual void check(void* const* operands) const { (void)operands; }
    /// What is made of the second operand alone, where several runs read the same (KernelUse): made by share(), and handed to each run()
    /// behind its operands. 0: nothing.
    virtual std::size_t shared_bytes() const { return 0; }
    virtual void share(void* const* operands, std::byte* shared) const { (void)operands, (void)shared; }
    /// Kernels that say the same make the same of the same operand. Empty: only this one reads what it made.
    virtual std::string shared_format() const { return ""; }
    /// What it runs as often as it is told (a loop's step), or one of (a conditional's branches, by name).
    using Bodies = std::vector<std::pair<std::string_view, std::shared_ptr<const Binding>>>;
    virtual Bodies bodies() const { return {}; }
    /// What runs it, for the profile: "block evaluator", "oneDNN", "own gemm avx512".
    virtual std::string_view by() const = 0;
};

/// What a library kernel is made for.
struct KernelUse {
    bool block =
        false;  // for a block of rows (images), one of several that read the same second operand; each runs on one thread
    bool kept = false;  // its second operand stays as it is from run to run
    const Kernel* first =
        nullptr;  // of a block: the kernel of the first, if it is of another size; what that one shares, this one reads
    std::vector<bool> placed = {};  // of a join: the inputs that lie where they belong in its output
    /// Of a block of a product: how many bytes are read behind it, in one piece each. run() is handed where, behind what is shared, and may ask
    /// for them meanwhile.
    std::vector<std::size_t> ahead = {};
    bool soon = false;   // of a loop: its loads have Access::soon
    bool quiet = false;  // of a loop: nothing that it reads is asked for before
};

/// How parts of a block of rows that take turns of a few (which kernels do so, their cursor_bytes say) do best. Where they are not plain, loops compute
/// what depends on a row alone once a row, which is less than a call for every few.
enum class Turns : std::uint8_t {
    plain,    // one after the other
    fetched,  // what the next turn reads is asked for into the first-level cache: two of them have to fit it
    beside,   // the last part of a turn runs beside the first of the next, and nothing is asked for
};

class KernelCompiler {
  public:
    virtual ~KernelCompiler() = default;
    /// Operands of run(): the loop's loads, then its stores. `often`: it is run more than once in a run of the program, so nothing that
    /// makes it faster is put off until it is run again.
    virtual std::unique_ptr<Kernel> loop(Loop loop, bool often = false) const = 0;
    /// A map and the reduction that reads its only result, in one pass; nothing where the device has none for them. Operands of run(): the
    /// map's loads, its store, the reduction's stores.
    /// `behind`: the map that ends an earlier block of as many rows, which is done meanwhile; nothing where that is no faster than one after the
    /// other. Its loads stand behind the map's, its store behind the map's. With it there may be no map: then it goes beside a reduction alone,
    /// behind whose loads its own stand, and its store before the reduction's. `turns`: the map ends an earlier turn (Turns::beside), not a block.
    virtual std::unique_ptr<Kernel> stored_reduction(const Loop* map, const Loop& reduction,
                                                     const Loop* behind = nullptr, bool turns = false) const {
        return (void)map, (void)reduction, (void)behind, (void)turns, nullptr;
    }
    /// The operation of `node` (its family and attributes) on inputs that lie so, into an output that lies so.
    /// Operands of run(): the inputs, then the output. InternalError if the family is not one of the device's.
    virtual std::unique_ptr<Kernel> library(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                            const KernelUse& use = {}) const = 0;
    /// How many rows of a contraction (last axis but one of its output), or images of a convolution, at a time cost, each, no more than
    /// all of them.
    virtual std::int64_t least_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) const {
        return (void)node, (void)inputs, (void)output, 1;
    }
    /// The fewest rows of a contraction at a time that have the bits that they have among all: fewer may be other sums.
    virtual std::int64_t fewest_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) const {
        return (void)node, (void)inputs, (void)output, 1;
    }
    /// Whether a node whose output has so many rows (of the first axis), each made of the same row of its inputs, gives them the same bits where it is
    /// made of `fewer` at a time.
    virtual bool rows_alike(const Node& node, std::int64_t rows, std::int64_t fewer) const {
        return (void)node, (void)rows, (void)fewer, true;
    }
    /// Whether a result of row blocks is better fetched while what it is made of is computed (`much`: exponentials, a product) than stored past
    /// the caches at the end.
    virtual bool fetches_results(const Layout& result, bool much) const { return (void)result, (void)much, false; }
    virtual Turns turns() const { return Turns::plain; }
    /// The order of axes, slowest first, in which the device would have an output of this node lie (empty: row-major).
    virtual Axes preferred_order(const Operation& operation, std::size_t ndim) const {
        return (void)operation, (void)ndim, Axes{};
    }
    /// Measured when first asked for (a third of a second); zeros: not known.
    virtual Limits limits() const { return {}; }
};

/// Defined in backend/cpu: the second and last inversion of the house.
const KernelCompiler& cpu_compiler();

}  // namespace weft
