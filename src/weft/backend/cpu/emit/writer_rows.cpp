// The rows of a kernel: how its loop goes from vector to vector, from row to row, and where it leaves the common path.
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include <algorithm>

#include "weft/backend/cpu/emit/writer.h"

namespace weft::cpu::emit {

void Writer::row_loop() {
    Xbyak::Label next_row, again, rest, bounded, rare, stored, plain, careful, folded, done;
    L(next_row);
    xor_(r12d, r12d);
    point_ahead();
    bool in_common = !plan_.common_row.tasks.empty();
    Xbyak::Label rare_row;
    if (in_common) rare_ = &rare_row;
    begin_row(in_common ? plan_.common_row : plan_.row);
    if (plan_.code.folds()) begin_accumulators();
    bool aligns = first_past() >= 0 && !plan_.code.folds();  // rows that are joined begin where a vector is aligned
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
        leave_with_nan(accumulator(static_cast<std::size_t>(extreme), 0), plan_.unroll,
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

/// The first stream that is stored past the caches, or -1.
std::ptrdiff_t Writer::first_past() const {
    const std::vector<StreamKind>& streams = plan_.code.streams;
    auto found = std::find_if(streams.begin(), streams.end(),
                              [](const StreamKind& stream) { return stream.mode == Mode::past; });
    return found == streams.end() ? -1 : found - streams.begin();
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

/// One vector at a time, the last perhaps not full, up to the limit. Where masks take instructions of their own, whole ones that are joined have none.
void Writer::rest_of_row(const Part& part) {
    Xbyak::Label next, end;
    Address limit = ptr[rsp + static_cast<int>(limit_at_)];
    int copies = plan_.code.joins() ? plan_.unroll : 1;  // each joins in registers of its own
    bool by_wholes = copies > 1 && !many_registers_ && first_past() < 0;
    std::vector<Xbyak::Label> tails(by_wholes ? at(copies) : 0);
    L(next);
    for (rest_copy_ = 0; rest_copy_ < copies; ++rest_copy_) {
        if (by_wholes) {
            lea(rax, ptr[r12 + lanes()]);
            cmp(rax, limit);
            ja(tails[at(rest_copy_)]);
            write_part(part, true);
            add(r12, lanes());
        } else {
            tail_of_row(part, end);
        }
    }
    jmp(next);
    for (rest_copy_ = 0; by_wholes && rest_copy_ < copies; ++rest_copy_) {
        L(tails[at(rest_copy_)]);
        tail_of_row(part, end);
        jmp(end);
    }
    rest_copy_ = -1;
    L(end);
}

/// A vector of elements up to the limit, perhaps not all of it.
void Writer::tail_of_row(const Part& part, Xbyak::Label& end) {
    Address limit = ptr[rsp + static_cast<int>(limit_at_)];
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

}  // namespace weft::cpu::emit

#endif
