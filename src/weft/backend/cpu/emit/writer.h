// Machine code of a planned kernel: a function of one argument, an array of 64-bit words (Arguments). What the instruction sets share
// stands in Writer: the loops over rows and vectors, addresses, the frame, constants, instructions of one name; what differs is
// asked of the set's own class. The code is position-independent and keeps to the System V calling convention.
// Callers: kernel_cache.cpp; tests. Only where WEFT_HAVE_XBYAK.
#pragma once

#include <xbyak/xbyak.h>

#include <functional>
#include <memory>

#include "weft/backend/cpu/emit/kernel_plan.h"
#include "weft/base/integers.h"

namespace weft::cpu::emit {

/// What instructions that join can read from memory.
inline bool joins_from_memory(const StreamKind& kept) {
    return kept.reduction == Reduction::sum || (kept.reduction == Reduction::product && is_floating(kept.memory));
}

class Writer : protected Xbyak::CodeGenerator {
  public:
    Writer(const KernelPlan& plan, void* memory, std::size_t size, bool many_registers);
    virtual ~Writer() = default;
    /// Writes it all; the number of bytes.
    std::size_t write();

  protected:
    using Xmm = Xbyak::Xmm;
    using Address = Xbyak::Address;
    using RegExp = Xbyak::RegExp;

    // What an instruction set does its own way. A result may lie in an operand's register: it is written last.
    virtual void prepare_tail() = 0;  // the mask of the first r15 lanes
    virtual void own(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from) = 0;
    virtual void load_from(const Address& address, DType memory, Lane lane, std::int32_t to, bool tail) = 0;
    virtual void store_to(const Address& address, DType memory, Lane lane, std::int32_t from, bool tail) = 0;
    virtual void broadcast_wide(std::int32_t to, const Address& address) = 0;  // 8 bytes to all lanes
    virtual void broadcast_truth(std::int32_t to) = 0;                         // of eax, 0 or 1
    virtual void spill_mask(const Address& address, std::int32_t number) = 0;
    virtual void test_truth(
        std::int32_t number,
        bool whole) = 0;  // the zero flag: no lane holds, of a vector that is not whole none of the row
    virtual void fill_mask(const Address& address, std::int32_t number) = 0;
    /// The value joined to what the accumulator holds, in the first r15 lanes of a tail. Of sums, and floating products, it may be second().
    virtual void join(const StreamKind& kind, Lane lane, std::int32_t accumulator, std::int32_t value, bool tail) = 0;
    virtual void write_tables() {}  // constants of the set's own
    /// Whether load_from and store_to of part of a vector touch nothing beyond it.
    virtual bool masks(DType memory) const = 0;

    /// The register, a whole vector wide; and half as wide, for lanes of 4 bytes beside lanes of 8.
    Xmm full(std::int32_t number) const { return very_wide_ ? Xmm(Xbyak::Zmm(number)) : Xmm(Xbyak::Ymm(number)); }
    Xmm half(std::int32_t number) const { return very_wide_ ? Xmm(Xbyak::Ymm(number)) : Xmm(number); }
    Xmm reg(std::int32_t number, Lane lane) const {
        return width_of(lane) == plan_.lane_bytes || lane == Lane::mask ? full(number) : half(number);
    }
    Address argument(std::size_t number) const { return ptr[rbx + static_cast<int>(8 * number)]; }
    Arguments arguments() const { return {plan_.code.streams.size()}; }
    bool wide_lanes() const { return plan_.lane_bytes == 8; }
    int lanes() const { return plan_.lanes; }
    Address frame(std::size_t offset) const { return ptr[rsp + static_cast<int>(offset)]; }
    std::size_t tail_at(int lane_bytes) const { return tails_at_ + (lane_bytes == 8 ? 0 : 64); }
    const Xbyak::Reg64& rest_count() const { return r15; }

    static constexpr int joining_number = 14;  // of AVX2, where values are joined: out of the allocator's sight

    void align_place(std::size_t bytes);
    void store_pieces(const Address& place, Lane lane, std::int32_t from);

    const KernelPlan& plan_;
    const bool very_wide_;       // vectors of 64 bytes
    const bool many_registers_;  // 32 of them, and instructions that reach them
    bool no_nan_ = false;        // among what is joined, and in the accumulators
    /// The second operand of the line at hand.
    const Xbyak::Operand& second(const Xmm& in_register) const {
        return second_ ? static_cast<const Xbyak::Operand&>(*second_) : in_register;
    }

  private:
    void lay_out_frame();
    void open();
    void close();
    void move_accumulators(bool in);
    void begin_accumulators();
    void fold_accumulators();
    bool joins_alone(bool (*mode)(Mode)) const;
    bool finds_extremes() const;
    void join_extremes(Xbyak::Label& rest);
    bool finds_sums() const;
    void join_sums();
    bool joins_columns() const;
    int most_waiting() const;
    void join_columns(Xbyak::Label& by_rows);
    void join_part(int shift, Xbyak::Label& by_rows);
    void join_vector(const Line& joined, int number, bool ordered);
    void see_ordered(int value, int number, Lane lane);
    void leave_unordered(Xbyak::Label& by_rows);
    void each_vector(const std::function<void(int)>& write, const std::function<void()>& next = {});
    void narrow_rows(Xbyak::Label& by_rows);
    void rows_of_group(const Part& part, int copies);
    void move_waiting(bool in, int copies, bool tail);
    void rewind();
    std::int32_t waiting(std::size_t stream, int copy) const;
    Address before(const Xbyak::Reg64& last, int vectors) const { return ptr[last - 64 * vectors]; }
    std::ptrdiff_t extreme_folded() const;
    void leave_with_nan(std::int32_t first, int count, int width, Xbyak::Label& to);
    template <class Write>
    void without_nan(bool known, Write write) {
        no_nan_ = known;
        write();
        no_nan_ = false;
    }
    Address sum_in_frame(int copy) const { return frame(sums_at_ + 64 * at(copy)); }
    void sum_in_frame(const Line& line, std::int32_t from, int copy, bool whole);
    void fold_in_registers(const StreamKind& stream, std::int32_t first, int copies);
    void upper_half(std::int32_t to, std::int32_t from, int bytes);
    Xmm accumulating(std::size_t stream, int copy) const;
    std::int32_t accumulator(std::size_t stream, int copy) const;
    void row_loop();
    void whole_vectors(Xbyak::Label& rest, Xbyak::Label& rare);
    std::ptrdiff_t first_past() const;
    void align_row(Xbyak::Label& bounded);
    void begin_row(const Part& part);
    bool computes_in(const Part& part, std::int32_t number) const;
    void rest_of_row(const Part& part);
    void tail_of_row(const Part& part, Xbyak::Label& end);
    void advance();
    void write_part(const Part& part, bool whole);
    void perform(const Part::Task& task, const Movement& movement, bool whole);
    void fill(std::int32_t value, std::int32_t to, std::int32_t slot);
    void common(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from);
    bool arithmetic(const Line& line, const Xmm& to, const Xmm& a, const Xbyak::Operand& b);
    bool integers(const Line& line, const Xmm& to, const Xmm& a, const Xbyak::Operand& b);
    void fused(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from);
    void fused_with_memory(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from);
    void perform_with_memory(const Part::Task& task, const Movement& movement);
    Address place_of(std::int32_t line);
    void point_ahead();
    void fetch_ahead(std::size_t stream, int copy);
    void fetch_joined(std::size_t stream, int copy);
    bool one_much_computed() const;
    void load(const Line& line, std::int32_t to, int copy, bool whole);
    void store(const Line& line, std::int32_t from, int copy, bool whole);
    void find_pairs();
    bool may_be_in_place(std::size_t stored) const;
    void note_in_place();
    void store_tail(const Line& line, std::int32_t from, int copy);
    void accumulate(const Line& line, std::int32_t from, int copy, bool whole);
    void count(std::size_t stream, std::int32_t to, int copy);
    void broadcast_number(std::int32_t to);  // what an address in rax stands for
    void broadcast(const Line& line, std::int32_t to);
    void call(const Outside& outside);

    void fetch_next(std::size_t stream, int copy);
    Xbyak::Reg64 base_of(std::size_t stream);
    RegExp element_address(std::size_t stream, int copy);
    void point_at(std::size_t stream, int copy);  // rax: the element's address; rcx: the bytes to the next
    void collect(std::size_t size, std::int32_t to);
    void distribute(std::size_t size, std::int32_t from);
    int spare_number() const { return many_registers_ ? 31 : 15; }  // a register for steps in between
    void move_elements(std::size_t stream, bool into_area, bool whole);
    std::size_t area(std::size_t stream) const { return areas_at_ + 64 * stream; }
    void load_constant(std::int32_t line, std::int32_t to);
    void reload_constant(std::int32_t line, std::int32_t to);
    Address whole_constant(std::int32_t line);
    void load_pattern(std::uint64_t bits, int bytes, const Xmm& to);
    void write_constants();

    // By stream: its address, and what is asked for ahead; -1: they stay among the arguments, or are added up each time.
    std::vector<std::int32_t> base_registers_, ahead_registers_;
    std::size_t aheads_at_ = 0, homes_at_ = 0, areas_at_ = 0, places_at_ = 0, tails_at_ = 0, operands_at_ = 0,
                saved_at_ = 0, limit_at_ = 0, in_place_at_ = 0, rows_at_ = 0, sums_at_ = 0, frame_bytes_ = 0;
    // While a row begins: lines, and registers that become theirs at once.
    std::vector<std::pair<std::int32_t, std::int32_t>> row_pins_;
    std::vector<std::pair<std::size_t, std::size_t>> pairs_;  // streams that may be one array: stored, loaded
    bool one_array_joined_ = false;                           // and nothing else comes from memory
    bool fetches_next_ = false;                               // the next vectors, of many arrays
    bool extremes_alone_ = false;                             // finds_extremes()
    bool sums_alone_ = false;                                 // finds_sums()
    bool columns_wait_ = false;                               // what is accumulated, in registers: narrow_rows()
    int rest_copy_ = -1;                                      // the vector of `unroll` that the rest of a row is at
    Xbyak::Label* rare_ = nullptr;                            // where the common path is left to
    std::vector<std::pair<std::uint64_t, int>> constants_;    // pattern and width, 8 bytes each in the pool
    std::vector<std::pair<std::uint64_t, int>> whole_constants_;
    Xbyak::Label pool_, whole_pool_, steps_;
    const Address *second_ = nullptr, *third_ = nullptr;  // operands of the line at hand that lie in memory
    bool counts_ = false;                                 // steps_, the numbers of a vector's lanes, are needed
};

/// The registers of an instruction set (avx2 or avx512), a spare one of each bank left out.
PlanOptions options_for(Isa isa);
std::vector<std::uint8_t> write_kernel(const KernelPlan& plan, Isa isa);

std::unique_ptr<Writer> avx2_writer(const KernelPlan& plan, void* memory, std::size_t size);
std::unique_ptr<Writer> avx512_writer(const KernelPlan& plan, void* memory, std::size_t size);

}  // namespace weft::cpu::emit
