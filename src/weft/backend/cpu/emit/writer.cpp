#include "weft/base/integers.h"
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include <algorithm>
#include <cstring>
#include <optional>

#include "weft/backend/cpu/emit/writer.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/error.h"

namespace weft::cpu::emit {
namespace {

using Xbyak::Operand;

/// Registers for the addresses of streams; rax, rcx, rdx and rbp are for steps in between, the others have their tasks:
/// rbx the arguments, r12 the element of the row, r13 elements of a row, r14 rows to go, r15 elements of a vector that is not full.
constexpr int base_codes[] = {Operand::RSI, Operand::RDI, Operand::R8, Operand::R9, Operand::R10, Operand::R11};
constexpr std::ptrdiff_t most_streams = 32;  // that a processor follows by itself

}  // namespace

Writer::Writer(const KernelPlan& plan, void* memory, std::size_t size, bool many_registers)
    : CodeGenerator(size, memory),
      plan_(plan),
      very_wide_(plan.lane_bytes * plan.lanes == 64),
      many_registers_(many_registers) {
    setDefaultJmpNEAR(true);
    auto moves = [](const StreamKind& stream) {
        return stream.mode == Mode::contiguous || stream.mode == Mode::strided;
    };
    one_array_joined_ = (plan.code.joins() || plan.code.accumulates()) &&
                        std::count_if(plan.code.streams.begin(), plan.code.streams.end(), moves) == 1;
    extremes_alone_ = finds_extremes();
    sums_alone_ = finds_sums();
    fetches_next_ = plan.chain && is_no_zen() &&
                    std::count_if(plan.code.streams.begin(), plan.code.streams.end(), moves) > most_streams;
    find_pairs();
    lay_out_frame();
}

void Writer::lay_out_frame() {
    std::size_t streams = plan_.code.streams.size(), next = 64 * at(plan_.spill_slots);
    auto take = [&](std::size_t bytes) {
        std::size_t place = next;
        next += (bytes + 63) / 64 * 64;
        return place;
    };
    homes_at_ = take(64 * at(plan_.home_count));
    areas_at_ = take(64 * streams);
    places_at_ = take(64 * plan_.code.places.size());
    tails_at_ = take(128);
    operands_at_ = take(48);
    aheads_at_ = take(8 * streams);
    rows_at_ = take(8);
    if (plan_.sums_in_frame) sums_at_ = take(64 * at(plan_.unroll));
    saved_at_ = operands_at_ + 24;
    limit_at_ = saved_at_ + 8;
    in_place_at_ = limit_at_ + 8;
    frame_bytes_ = next;
    bool calls = !plan_.code.outsides.empty();
    std::size_t used = 0;
    for (const StreamKind& stream : plan_.code.streams) {
        bool moves = stream.mode != Mode::uniform && stream.mode != Mode::same_number && !in_lanes(stream.mode);
        bool direct = !calls && moves && used < std::size(base_codes);
        base_registers_.push_back(direct ? base_codes[used++] : -1);
    }
    bool by_columns = joins_columns() || plan_.waiting_at >= 0;  // which have tasks for registers, too
    for (std::size_t i = 0; i < base_registers_.size(); ++i) {
        bool direct =
            !by_columns && plan_.code.streams[i].ahead && base_registers_[i] >= 0 && used < std::size(base_codes);
        ahead_registers_.push_back(direct ? base_codes[used++] : -1);
    }
}

std::size_t Writer::write() {
    open();
    Xbyak::Label by_rows, done;
    if (joins_columns()) {
        join_columns(by_rows);
        jmp(done);
    } else if (plan_.waiting_at >= 0) {
        narrow_rows(by_rows);
        jmp(done);
    }
    L(by_rows);
    row_loop();
    L(done);
    close();
    write_constants();
    return getSize();
}

void Writer::open() {
    for (const auto& saved : {rbx, rbp, r12, r13, r14, r15}) push(saved);
    mov(rbx, rdi);
    mov(rax, rsp);
    sub(rsp, static_cast<std::uint32_t>(frame_bytes_));
    and_(rsp, -64);
    mov(ptr[rsp + static_cast<int>(saved_at_)], rax);
    mov(r13, argument(0));
    mov(r14, argument(1));
    for (std::size_t i = 0; i < base_registers_.size(); ++i)
        if (base_registers_[i] >= 0) mov(Xbyak::Reg64(base_registers_[i]), argument(arguments().base(i)));
    for (std::size_t i = 0; i < plan_.code.streams.size(); ++i) {
        if (!plan_.code.streams[i].ahead) continue;
        mov(rax, r14);
        imul(rax, argument(arguments().row_step(i)));
        mov(frame(aheads_at_ + 8 * i), rax);
    }
    for (auto [line, number] : plan_.pinned) {
        if (plan_.code.line(line).op == VectorOp::constant) load_constant(line, number);
    }
    note_in_place();
    move_accumulators(true);
}

void Writer::close() {
    move_accumulators(false);
    vzeroupper();
    mov(rsp, ptr[rsp + static_cast<int>(saved_at_)]);
    for (const auto& saved : {r15, r14, r13, r12, rbp, rbx}) pop(saved);
    ret();
}

void Writer::write_part(const Part& part, bool whole) {
    for (const Movement& movement : part.allocation.movements) {
        switch (movement.kind) {
            case Movement::Kind::perform:
                perform(part.tasks[at(movement.what)], movement, whole);
                break;
            case Movement::Kind::fill:
                fill(movement.what, movement.to, movement.slot);
                break;
            case Movement::Kind::spill: {
                const Line& line = plan_.code.line(plan_.line_of(movement.what));
                Address place = frame(64 * at(movement.slot));
                if (line.lane == Lane::mask)
                    spill_mask(place, movement.to);
                else
                    vmovups(place, full(movement.to));
            }
        }
    }
}

/// A value from memory: what was spilled, a row value from its home, or a constant.
void Writer::fill(std::int32_t value, std::int32_t to, std::int32_t slot) {
    std::int32_t number = plan_.line_of(value);
    const Line& line = plan_.code.line(number);
    if (slot < 0 && line.op == VectorOp::constant) return reload_constant(number, to);
    Address place = frame(slot >= 0 ? 64 * at(slot) : homes_at_ + 64 * at(plan_.homes[at(number)]));
    if (line.lane == Lane::mask)
        fill_mask(place, to);
    else
        vmovups(full(to), place);
}

void Writer::perform(const Part::Task& task, const Movement& movement, bool whole) {
    const Line& line = plan_.code.line(task.line);
    if (task.keep) {
        Address place = frame(homes_at_ + 64 * at(plan_.homes[at(task.line)]));
        if (line.lane == Lane::mask) return spill_mask(place, movement.from[0]);
        // Through memory alone a row's first vectors would wait for it twice.
        for (auto [kept, number] : row_pins_)
            if (kept == task.line) vmovaps(full(number), full(movement.from[0]));
        return vmovups(place, full(movement.from[0]));
    }
    auto local = [&] { return frame(places_at_ + 64 * line.immediate); };  // an Address takes longer than most lines
    switch (line.op) {
        case VectorOp::load:
            return line.once ? broadcast(line, movement.to) : load(line, movement.to, task.copy, whole);
        case VectorOp::store:
            return store(line, movement.from[0], task.copy, whole);
        case VectorOp::local_load:
            return load_from(local(), plan_.code.places[line.immediate], line.lane, movement.to, false);
        case VectorOp::local_store:
            return store_to(local(), plan_.code.places[line.immediate], line.from, movement.from[0], false);
        case VectorOp::leave:
            test_truth(movement.from[0], whole);
            return jnz(*rare_);
        case VectorOp::outside:
            return call(plan_.code.outsides[line.immediate]);
        default:
            if (task.second >= 0 || task.third >= 0) return perform_with_memory(task, movement);
            return common(line, movement.to, movement.from);
    }
}

void Writer::perform_with_memory(const Part::Task& task, const Movement& movement) {
    std::optional<Address> second, third;
    if (task.second >= 0) second_ = &second.emplace(place_of(task.second));
    if (task.third >= 0) third_ = &third.emplace(place_of(task.third));
    common(plan_.code.line(task.line), movement.to, movement.from);
    second_ = third_ = nullptr;
}

/// Where a constant, or what is computed once a row, lies as a whole vector.
Writer::Address Writer::place_of(std::int32_t number) {
    if (plan_.code.line(number).op == VectorOp::constant) return whole_constant(number);
    return frame(homes_at_ + 64 * at(plan_.homes[at(number)]));
}

PlanOptions options_for(Isa isa) {
    if (isa == Isa::avx512)
        return {.vector_bytes = 64, .registers = {31, 6}, .masks_are_vectors = false, .joining = {0, 1}};
    return {
        .vector_bytes = 32, .registers = {15, 0}, .masks_are_vectors = true, .joining = {1, 0}, .reads_memory = true};
}

std::vector<std::uint8_t> write_kernel(const KernelPlan& plan, Isa isa) {
    std::size_t movements = plan.row.allocation.movements.size() + plan.body.allocation.movements.size() +
                            plan.rest.allocation.movements.size() + plan.common_rest.allocation.movements.size() +
                            plan.common_row.allocation.movements.size();
    for (std::size_t size = 8192 + 24 * movements;; size *= 2) {
        std::vector<std::uint8_t> memory(size);
        try {
            auto writer =
                isa == Isa::avx512 ? avx512_writer(plan, memory.data(), size) : avx2_writer(plan, memory.data(), size);
            memory.resize(writer->write());
            return memory;
        } catch (const Xbyak::Error& error) {
            bool short_of_room = static_cast<int>(error) == Xbyak::ERR_CODE_IS_TOO_BIG;
            if (!short_of_room) throw InternalError(text("emitter: ", error.what()));
        }
    }
}

}  // namespace weft::cpu::emit

#endif
