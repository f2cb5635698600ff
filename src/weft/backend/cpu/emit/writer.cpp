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
}

std::size_t Writer::write() {
    open();
    row_loop();
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

void Writer::row_loop() {
    Xbyak::Label next_row, again, rest, bounded, rare, stored, plain, careful, folded, done;
    L(next_row);
    xor_(r12d, r12d);
    bool in_common = !plan_.common_row.tasks.empty();
    Xbyak::Label rare_row;
    if (in_common) rare_ = &rare_row;
    begin_row(in_common ? plan_.common_row : plan_.row);
    if (plan_.code.folds()) begin_accumulators();
    bool aligns = first_past() >= 0;
    if (aligns) align_row(bounded);
    L(again);
    whole_vectors(rest, rare);
    L(rare);  // the vectors at hand, which need the complete path
    lea(rax, ptr[r12 + lanes() * plan_.unroll]);
    mov(ptr[rsp + static_cast<int>(limit_at_)], rax);
    Xbyak::Label limited, rare_rest, end;
    jmp(limited);
    L(rest);
    if (extremes_alone_) {
        cmp(r12, r13);
        je(plain);
    }
    mov(ptr[rsp + static_cast<int>(limit_at_)], r13);
    L(bounded);
    if (!plan_.common_rest.tasks.empty()) {
        rare_ = &rare_rest;
        rest_of_row(plan_.common_rest);
        jmp(aligns ? stored : end);
        L(rare_rest);
    }
    if (in_common) {
        Xbyak::Label begun;
        jmp(begun);
        L(rare_row);
        begin_row(plan_.row);
        mov(ptr[rsp + static_cast<int>(limit_at_)], r13);
        L(begun);
    }
    L(limited);
    rest_of_row(plan_.rest);
    L(stored);
    if (aligns) mov(r12, ptr[rsp + static_cast<int>(limit_at_)]);  // a row's first elements are no whole vector
    cmp(r12, r13);
    jb(again);
    L(end);
    std::ptrdiff_t extreme = extreme_folded();
    if (extreme >= 0)  // then lanes are joined by one instruction, not by three that wait for each other
        leave_with_nan(accumulator(static_cast<std::size_t>(extreme), 0),
                       static_cast<int>(size_of(plan_.code.streams[static_cast<std::size_t>(extreme)].memory)),
                       careful);
    L(plain);
    if (plan_.code.folds()) without_nan(extreme >= 0, [&] { fold_accumulators(); });
    L(folded);
    dec(r14);
    jz(done);
    advance();
    jmp(next_row);
    if (extreme >= 0) {
        L(careful);
        fold_accumulators();
        jmp(folded);
    }
    L(done);
}

/// The first stream that is stored past the caches, or -1; rows that are joined as well begin where a vector is aligned.
std::ptrdiff_t Writer::first_past() const {
    const std::vector<StreamKind>& streams = plan_.code.streams;
    auto found = std::find_if(streams.begin(), streams.end(),
                              [](const StreamKind& stream) { return stream.mode == Mode::past; });
    return found == streams.end() || plan_.code.folds() ? -1 : found - streams.begin();
}

/// The elements of a row before the first line of memory that it fills: by themselves, as its last ones, so that all between fill lines.
void Writer::align_row(Xbyak::Label& bounded) {
    auto stream = static_cast<std::size_t>(first_past());
    Xbyak::Label aligned;
    mov(rax, base_of(stream));
    neg(rax);
    and_(eax, 63);
    jz(aligned);
    shr(eax, size_of(plan_.code.streams[stream].memory) == 8 ? 3 : 2);
    cmp(rax, r13);
    cmova(rax, r13);
    mov(ptr[rsp + static_cast<int>(limit_at_)], rax);
    jmp(bounded);
    L(aligned);
}

void Writer::begin_row(const Part& part) {
    std::vector<std::pair<std::int32_t, std::int32_t>> from_memory;
    for (auto pin : plan_.pinned) {
        const Line& line = plan_.code.line(pin.first);
        if (line.op == VectorOp::constant) continue;
        bool moved = line.lane != Lane::mask && !computes_in(part, pin.second);
        (moved ? row_pins_ : from_memory).push_back(pin);
    }
    write_part(part, true);
    for (auto [line, number] : from_memory) fill(line, number, -1);
    row_pins_.clear();
}

bool Writer::computes_in(const Part& part, std::int32_t number) const {
    return std::any_of(part.allocation.movements.begin(), part.allocation.movements.end(),
                       [&](const Movement& movement) { return movement.to == number; });
}

/// As many times as there are `unroll` vectors left.
void Writer::whole_vectors(Xbyak::Label& rest, Xbyak::Label& rare) {
    Xbyak::Label next;
    rare_ = &rare;
    int step = lanes() * plan_.unroll;
    lea(rax, ptr[r12 + step]);
    cmp(rax, r13);
    ja(rest);
    align_place(16);
    L(next);
    if (extremes_alone_)
        join_extremes(rest);
    else
        sums_alone_ ? join_sums() : write_part(plan_.body, true);
    add(r12, step);
    lea(rax, ptr[r12 + step]);
    cmp(rax, r13);
    jbe(next);
    jmp(rest);
}

/// One vector at a time, the last perhaps not full, up to the limit.
void Writer::rest_of_row(const Part& part) {
    Xbyak::Label next, end;
    Address limit = ptr[rsp + static_cast<int>(limit_at_)];
    int copies = plan_.code.joins() ? plan_.unroll : 1;  // each joins in registers of its own
    L(next);
    for (rest_copy_ = 0; rest_copy_ < copies; ++rest_copy_) {
        cmp(r12, limit);
        jae(end);
        mov(r15, limit);
        sub(r15, r12);
        mov(eax, lanes());
        cmp(r15, rax);
        cmova(r15, rax);
        prepare_tail();
        write_part(part, false);
        add(r12, lanes());
    }
    jmp(next);
    L(end);
}

void Writer::advance() {
    for (std::size_t i = 0; i < base_registers_.size(); ++i) {
        Address step = argument(arguments().row_step(i));
        if (base_registers_[i] >= 0) {
            add(Xbyak::Reg64(base_registers_[i]), step);
        } else {
            mov(rax, step);
            add(argument(arguments().base(i)), rax);
        }
    }
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
