// How a Writer stores streams.
#include "weft/base/integers.h"
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include <algorithm>

#include "weft/backend/cpu/emit/writer.h"

namespace weft::cpu::emit {

void Writer::store(const Line& line, std::int32_t from, int copy, bool whole) {
    const StreamKind& stream = plan_.code.streams[line.immediate];
    if (in_lanes(stream.mode)) {
        int place = rest_copy_ < 0 ? copy : rest_copy_;
        if (plan_.sums_in_frame) return sum_in_frame(line, from, place, whole);
        return join(stream, line.from, accumulator(line.immediate, place), from, !whole);
    }
    if (stream.mode == Mode::accumulated) return accumulate(line, from, copy, whole);
    if (stream.mode == Mode::number) {
        Address place = ptr[base_of(line.immediate)];
        return size_of(stream.memory) == 4 ? vmovss(place, Xmm(from)) : vmovsd(place, Xmm(from));
    }
    if (stream.mode == Mode::past && whole)
        return vmovntps(ptr[element_address(line.immediate, copy)], reg(from, line.from));
    if (!whole && may_be_in_place(line.immediate)) return store_tail(line, from, copy);
    if (stream.mode != Mode::strided && (whole || masks(stream.memory))) {
        store_to(ptr[element_address(line.immediate, copy)], stream.memory, line.from, from, !whole);
        for (std::size_t i = 0; whole && i < plan_.code.streams.size(); ++i)
            if (plan_.code.streams[i].asked_when_stored()) fetch_ahead(i, copy);
        return;
    }
    if (whole && size_of(stream.memory) >= 4) {
        point_at(line.immediate, copy);
        return distribute(size_of(stream.memory), from);
    }
    store_to(frame(area(line.immediate)), stream.memory, line.from, from, false);
    point_at(line.immediate, copy);
    move_elements(line.immediate, false, whole);
}

/// Pairs of arrays, stored and loaded, that may be the same one: elements of one size, stored as they lie in the lanes. None where there would be
/// very many, which are the arrays of many steps of a loop.
void Writer::find_pairs() {
    constexpr std::size_t most = 256;
    if (!many_registers_) return;  // AVX2 always stores in pieces
    auto moved = [&](VectorOp op, auto&& what) {
        for (std::int32_t number : plan_.code.order) {
            const Line& line = plan_.code.line(number);
            if (line.op == op && plan_.code.streams[line.immediate].mode == Mode::contiguous) what(line);
        }
    };
    moved(VectorOp::store, [&](const Line& store) {
        std::size_t size = size_of(plan_.code.streams[store.immediate].memory);
        if (static_cast<int>(size) != width_of(store.from)) return;
        moved(VectorOp::load, [&](const Line& load) {
            if (size_of(plan_.code.streams[load.immediate].memory) == size)
                pairs_.emplace_back(store.immediate, load.immediate);
        });
    });
    if (pairs_.size() > most) pairs_.clear();
}

bool Writer::may_be_in_place(std::size_t stored) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == stored; });
}

/// Into the frame: whether this call writes over what it reads, and rows stand behind each other; of rows of whole vectors, of which either way
/// stores the same, whatever is there.
void Writer::note_in_place() {
    if (pairs_.empty()) return;
    Xbyak::Label no_tails, one_row;
    test(r13d, lanes() - 1);
    jz(no_tails);
    xor_(eax, eax);
    cmp(r14, 1);
    je(one_row);
    for (auto [stored, loaded] : pairs_) {
        mov(rcx, argument(arguments().base(stored)));
        cmp(rcx, argument(arguments().base(loaded)));
        sete(dl);
        or_(al, dl);
    }
    L(one_row);
    mov(ptr[rsp + static_cast<int>(in_place_at_)], rax);
    L(no_tails);
}

/// The first r15 elements of a vector, by a masked store, or in pieces where rows are written over. Of a masked store the processor does not
/// know what it leaves alone: the next row's first elements, just behind, waited until it was through (26 cycles a row on a Zen 4: rows of 50
/// times a number in place 36 cycles, so 11; out of place 10 and 11, of 17 14 and 20).
void Writer::store_tail(const Line& line, std::int32_t from, int copy) {
    Xbyak::Label pieces, done;
    cmp(Xbyak::CodeGenerator::byte[rsp + static_cast<int>(in_place_at_)], 0);
    jne(pieces);
    DType memory = plan_.code.streams[line.immediate].memory;
    // On either way by instructions of its own, where the array has no register.
    auto place = [&] { return ptr[element_address(line.immediate, copy)]; };
    store_to(place(), memory, line.from, from, true);
    jmp(done);
    L(pieces);
    store_pieces(place(), line.from, from);
    L(done);
}

/// The first r15 elements of a vector, in pieces of 32, 16, 8 and 4 bytes.
void Writer::store_pieces(const Address& place, Lane lane, std::int32_t from) {
    Xbyak::Label done;
    int size = width_of(lane), spare = spare_number();
    lea(rax, place);
    vmovups(reg(spare, lane), reg(from, lane));
    for (int bytes = lanes() * size; bytes >= size; bytes /= 2) {
        Xbyak::Label none;
        test(r15d, bytes / size);
        jz(none);
        if (bytes >= 32)
            vmovups(ptr[rax], bytes == 64 ? Xmm(Xbyak::Zmm(spare)) : Xmm(Xbyak::Ymm(spare)));
        else if (bytes == 16)
            vmovups(ptr[rax], Xmm(spare));
        else
            bytes == 8 ? vmovq(ptr[rax], Xmm(spare)) : vmovd(ptr[rax], Xmm(spare));
        if (bytes == lanes() * size) {
            jmp(done);
        } else if (bytes > size) {
            add(rax, bytes);
            upper_half(spare, spare, bytes);
        }
        L(none);
    }
    L(done);
}

/// To the elements from rax on, rcx bytes apart, as collect() brings them.
void Writer::distribute(std::size_t size, std::int32_t from) {
    lea(rdx, ptr[rcx + rcx * 2]);
    std::size_t parts = at(lanes()) * size / 16;
    Xbyak::Ymm whole(from);
    for (std::size_t i = 0; i < parts; ++i) {
        Xmm part(i == 0 ? from : spare_number());
        auto place = static_cast<std::uint8_t>(i);
        if (i > 0 && parts == 4)
            vextracti32x4(part, Xbyak::Zmm(from), place);
        else if (i > 0)
            many_registers_ ? vextracti32x4(part, whole, place) : vextracti128(part, whole, place);
        if (size == 4) {
            vmovd(ptr[rax], part);
            vpextrd(ptr[rax + rcx], part, 1);
            vpextrd(ptr[rax + rcx * 2], part, 2);
            vpextrd(ptr[rax + rdx], part, 3);
        } else {
            vmovq(ptr[rax], part);
            vpextrq(ptr[rax + rcx], part, 1);
        }
        if (i + 1 < parts) lea(rax, ptr[rax + rcx * (size == 4 ? 4 : 2)]);
    }
}

}  // namespace weft::cpu::emit

#endif
