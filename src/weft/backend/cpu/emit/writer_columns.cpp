// Columns of an array that are joined as they lie: what they are joined to waits in the registers, all of them, while the rows pass.
#include "weft/base/integers.h"
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include <algorithm>
#include <iterator>

#include "weft/backend/cpu/emit/writer.h"
#include "weft/backend/cpu/isa.h"

namespace weft::cpu::emit {
namespace {

constexpr int all_registers = 32, vector_bytes = 64;
constexpr int most_narrow = 16;                // vectors of a row of which some are computed for all rows, then others
constexpr int ordered_masks[] = {2, 3, 4, 5};  // in turns, for each waits for the comparison before it
// Bytes from the last vector on, that are asked for from memory: more than one byte of an address holds from each, so that all requests are as
// long. On a Zen 4 2 KB ahead, into the second-level cache, 0.84 of the time without it, 8 KB 0.9, into the first-level cache 0.98; on others as
// far, and whereto, other sums ask (writer_memory.cpp).
constexpr int near_ahead = 2176, far_ahead = 8192;

}  // namespace

/// Whether columns of an array, as it lies, are joined, nothing else is done, and vectors can be told to leave lanes as they are.
bool Writer::joins_columns() const {
    return very_wide_ && joins_alone([](Mode mode) { return mode == Mode::accumulated; });
}

/// Of which one is for what is read, where instructions that join do not read memory or it is looked at for NaN.
int Writer::most_waiting() const {
    return joins_from_memory(plan_.code.streams[1]) ? all_registers : all_registers - 1;
}

/// All of a call: one load a vector, where going row by row, what is joined to is loaded and stored as well. A row of more vectors than there
/// are registers goes in parts of about one size, but where memory is read from beyond the caches: that is done row by row, as is what holds
/// NaN. On a Zen 4, sums of 256 cubed down the middle axis 22 to 34 GB/s, of 256 x 256 floats 46 to 70, of 1,000 x 300 47 to 68; in parts
/// from memory 10, row by row 24.
void Writer::join_columns(Xbyak::Label& by_rows) {
    const int shift = wide_lanes() ? 3 : 4;
    Xbyak::Label part;
    lea(r8, ptr[r13 + lanes() - 1]);
    shr(r8, shift);
    if (plan_.code.streams[0].ahead) {
        cmp(r8, most_waiting());
        ja(by_rows);
    }
    auto divide = [&](const Xbyak::Reg64& by) {  // r8, the quotient rounded up
        lea(rax, ptr[r8 + by - 1]);
        xor_(edx, edx);
        div(by);
    };
    mov(ecx, most_waiting());
    divide(rcx);
    mov(rcx, rax);  // parts
    divide(rcx);
    shl(rax, shift);
    mov(r8, rax);  // elements of one
    L(part);
    mov(r9, r8);
    cmp(r9, r13);
    cmova(r9, r13);
    join_part(shift, by_rows);
    for (std::size_t stream : {0, 1}) lea(base_of(stream), ptr[base_of(stream) + r9 * (vector_bytes >> shift)]);
    sub(r13, r9);
    jnz(part);
}

/// r9 elements of each row: in the registers from the first on, and the first r15 lanes of one vector, the last, in register 0. rdx and rcx
/// point to that, where it is joined and in the row; rbp counts the others.
void Writer::join_part(int shift, Xbyak::Label& by_rows) {
    const Line& joined = plan_.code.line(plan_.code.order[1]);
    const StreamKind& kept = plan_.code.streams[1];
    const bool ordered = is_floating(kept.memory) && !joins_from_memory(kept);
    lea(rbp, ptr[r9 - 1]);
    shr(rbp, shift);
    mov(rax, rbp);
    shl(rax, shift);
    mov(r15, r9);
    sub(r15, rax);
    prepare_tail();
    mov(rax, rbp);
    shl(rax, 6);
    lea(rdx, ptr[base_of(1) + rax]);
    lea(rcx, ptr[base_of(0) + rax]);
    mov(r10, argument(arguments().row_step(0)));
    mov(r11, r14);
    for (int mask : ordered_masks)
        if (ordered) kxnorw(Xbyak::Opmask(mask), Xbyak::Opmask(mask), Xbyak::Opmask(mask));
    each_vector([&](int number) {
        load_from(before(rdx, number), kept.memory, joined.from, number, number == 0);
        if (ordered) see_ordered(number, number, joined.from);
    });
    each_vector([&](int number) { join_vector(joined, number, ordered); },
                [&] {
                    add(rcx, r10);
                    dec(r11);
                });
    if (ordered) leave_unordered(by_rows);
    each_vector([&](int number) { store_to(before(rdx, number), kept.memory, joined.from, number, number == 0); });
}

void Writer::join_vector(const Line& joined, int number, bool ordered) {
    const StreamKind &read = plan_.code.streams[0], &kept = plan_.code.streams[1];
    const bool tail = number == 0;
    Address place = before(rcx, number);
    if (read.ahead) {
        Address later = ptr[rcx + ((is_zen5() ? far_ahead : near_ahead) - number * vector_bytes)];
        is_zen4() ? prefetcht1(later) : prefetcht0(later);
    }
    if (joins_from_memory(kept)) {
        second_ = &place;
        join(kept, joined.from, number, number, tail);
        second_ = nullptr;
        return;
    }
    const int value = all_registers - 1;
    load_from(place, kept.memory, joined.from, value, tail);
    if (ordered) see_ordered(value, number, joined.from);
    without_nan(ordered, [&] { join(kept, joined.from, number, value, tail); });
}

/// Lanes in which a NaN is met leave one of the masks.
void Writer::see_ordered(int value, int number, Lane lane) {
    const Xbyak::Opmask mask(ordered_masks[at(number) % std::size(ordered_masks)]);
    const Xmm seen = full(value);
    constexpr std::uint8_t is_ordered = 7;
    width_of(lane) == 4 ? vcmpps(mask | mask, seen, seen, is_ordered) : vcmppd(mask | mask, seen, seen, is_ordered);
}

void Writer::leave_unordered(Xbyak::Label& by_rows) {
    kandw(k2, k2, k3);
    kandw(k4, k4, k5);
    kandw(k2, k2, k4);
    wide_lanes() ? kortestb(k2, k2) : kortestw(k2, k2);
    jnc(by_rows);
}

/// What is written for each vector, down to register 0: a jump leaves out registers that are not used. `next`, where it is something, says by the
/// zero flag whether that was the last time.
void Writer::each_vector(const std::function<void(int)>& write, const std::function<void()>& next) {
    Xbyak::Label begin, last, end;
    jmp(begin);
    std::size_t first = getSize();
    for (int number = most_waiting() - 1; number > 0; --number) write(number);
    auto one = static_cast<int>((getSize() - first) / at(most_waiting() - 1));
    L(last);
    write(0);
    if (next) {
        next();
        jz(end);
        jmp(rax);
    } else {
        jmp(end);
    }
    L(begin);
    imul(r12, rbp, one);
    lea(rax, ptr[rip + last]);
    sub(rax, r12);
    jmp(rax);
    L(end);
}

/// Of rows of few vectors, whatever is computed: some vectors of each row at a time, what they are joined to in registers. Row by row a row waits for the
/// one before to be stored and loaded again.
void Writer::narrow_rows(Xbyak::Label& by_rows) {
    const int step = lanes() * plan_.unroll;
    const bool ahead = std::any_of(plan_.code.streams.begin(), plan_.code.streams.end(),
                                   [](const StreamKind& stream) { return stream.ahead; });
    Xbyak::Label group, rest, done;
    cmp(r13, ahead ? step : most_narrow * lanes());
    ja(by_rows);
    mov(frame(rows_at_), r14);
    columns_wait_ = true;
    xor_(r12d, r12d);
    L(group);
    lea(rax, ptr[r12 + step]);
    cmp(rax, r13);
    ja(rest);
    rows_of_group(plan_.body, plan_.unroll);
    add(r12, step);
    jmp(group);
    L(rest);
    cmp(r12, r13);
    jae(done);
    mov(r15, r13);
    sub(r15, r12);
    mov(eax, lanes());
    cmp(r15, rax);
    cmova(r15, rax);
    prepare_tail();
    rows_of_group(plan_.rest, 1);
    add(r12, lanes());
    jmp(rest);
    L(done);
    columns_wait_ = false;
}

/// `copies` vectors of each row from element r12 on; or part of one, of `rest`.
void Writer::rows_of_group(const Part& part, int copies) {
    const bool whole = &part == &plan_.body;
    Xbyak::Label row, end;
    move_waiting(true, copies, !whole);
    L(row);
    begin_row(plan_.row);
    write_part(part, whole);
    dec(r14);
    jz(end);
    advance();
    jmp(row);
    L(end);
    move_waiting(false, copies, !whole);
    rewind();
}

/// Between the registers and the rows of results.
void Writer::move_waiting(bool in, int copies, bool tail) {
    for (std::int32_t number : plan_.code.order) {
        const Line& line = plan_.code.line(number);
        if (line.op != VectorOp::store) continue;
        const StreamKind& stream = plan_.code.streams[line.immediate];
        for (int copy = 0; copy < copies; ++copy) {
            Address place = ptr[element_address(line.immediate, copy)];
            std::int32_t held = waiting(line.immediate, copy);
            in ? load_from(place, stream.memory, line.from, held, tail)
               : store_to(place, stream.memory, line.from, held, tail);
        }
    }
}

/// All streams, and the count of rows, to the first one.
void Writer::rewind() {
    mov(r14, frame(rows_at_));
    lea(rcx, ptr[r14 - 1]);
    for (std::size_t i = 0; i < base_registers_.size(); ++i) {
        mov(rax, rcx);
        imul(rax, argument(arguments().row_step(i)));
        if (base_registers_[i] >= 0)
            sub(Xbyak::Reg64(base_registers_[i]), rax);
        else
            sub(argument(arguments().base(i)), rax);
    }
}

std::int32_t Writer::waiting(std::size_t stream, int copy) const {
    std::int32_t before = 0;
    for (std::size_t i = 0; i < stream; ++i) before += plan_.code.streams[i].mode == Mode::accumulated;
    return plan_.waiting_at + before * plan_.unroll + copy;
}

}  // namespace weft::cpu::emit

#endif
