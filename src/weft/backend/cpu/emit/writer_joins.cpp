// Values that are joined in registers: brought there, joined, folded and taken back.
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include <algorithm>
#include <cstring>

#include "weft/backend/cpu/emit/vector_arithmetic.h"
#include "weft/backend/cpu/emit/writer.h"

namespace weft::cpu::emit {
namespace {

/// The neutral value's bits.
std::uint64_t neutral_bits(const StreamKind& stream) {
    Literal neutral = identity_of(stream.reduction, stream.memory);
    return with_dtype(stream.memory, [&](auto tag) {
        auto value = neutral.as<typename decltype(tag)::Type>();
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, std::min(sizeof bits, sizeof value));
        return bits;
    });
}

}  // namespace

/// Between the registers and the arrays that joined streams point to.
void Writer::move_accumulators(bool in) {
    for (std::size_t i = 0; i < plan_.code.streams.size(); ++i) {
        const StreamKind& stream = plan_.code.streams[i];
        if (stream.mode != Mode::joined) continue;
        mov(rax, argument(arguments().base(i)));
        auto size = static_cast<int>(size_of(stream.memory));
        for (int copy = 0; copy < plan_.unroll; ++copy) {
            Address place = ptr[rax + copy * lanes() * size];
            in ? vmovups(accumulating(i, copy), place) : vmovups(place, accumulating(i, copy));
        }
    }
}

/// Whether one array's elements are joined as they lie, and nothing else is done. (They may be read for nothing, beside a constant that is joined.)
bool Writer::joins_alone(bool (*mode)(Mode)) const {
    const std::vector<StreamKind>& streams = plan_.code.streams;
    if (streams.size() != 2 || plan_.code.order.size() != 2) return false;
    const StreamKind &read = streams[0], &kept = streams[1];
    bool loads = plan_.code.line(plan_.code.order[0]).op == VectorOp::load;
    return loads && mode(kept.mode) && size_of(kept.memory) >= 4 && read.mode == Mode::contiguous &&
           read.memory == kept.memory;
}

/// Whether the greatest or least elements of each row of an array are all that is computed. Then what is joined is one instruction (join_extremes), not
/// three that wait for each other, and meanwhile memory is asked for nothing.
bool Writer::finds_extremes() const {
    if (!joins_alone(in_lanes) || plan_.unroll % 4 != 0) return false;
    const StreamKind& kept = plan_.code.streams[1];
    bool extreme = kept.reduction == Reduction::maximum || kept.reduction == Reduction::minimum;
    return kept.mode == Mode::folded && extreme && is_floating(kept.memory);
}

/// The vectors at hand, as many together as there are registers; to the rest of the row, which is joined otherwise, if one of them has a NaN. So no
/// accumulator holds one; those that were joined before it may be joined again.
void Writer::join_extremes(Xbyak::Label& rest) {
    const Line &read = plan_.code.line(plan_.code.order[0]), &joined = plan_.code.line(plan_.code.order[1]);
    int together = very_wide_ ? plan_.unroll : 4;
    for (int first = 0; first < plan_.unroll; first += together) {
        for (int i = 0; i < together; ++i) load(read, i, first + i, true);
        leave_with_nan(0, together, width_of(read.lane), rest);
        without_nan(true, [&] {
            for (int i = 0; i < together; ++i) store(joined, i, first + i, true);
        });
    }
}

/// The one stream that is folded, if it is of greatest or least floats; else -1.
std::ptrdiff_t Writer::extreme_folded() const {
    const std::vector<StreamKind>& streams = plan_.code.streams;
    auto folded = [](const StreamKind& stream) { return stream.mode == Mode::folded; };
    auto found = std::find_if(streams.begin(), streams.end(), folded);
    if (std::count_if(streams.begin(), streams.end(), folded) != 1) return -1;
    bool extreme = found->reduction == Reduction::maximum || found->reduction == Reduction::minimum;
    return extreme && is_floating(found->memory) && plan_.unroll % 4 == 0 ? found - streams.begin() : -1;
}

/// Where one of so many registers from the first on has a NaN: two by two, for a comparison with each other says it of both.
void Writer::leave_with_nan(std::int32_t first, int count, int width, Xbyak::Label& to) {
    auto compare = [&](const auto& mask, int copy) {
        Xmm one = full(first + copy), other = full(first + copy + 1);
        width == 4 ? vcmpps(mask, one, other, 3) : vcmppd(mask, one, other, 3);
    };
    for (int copy = 0; copy < count; copy += 4) {
        bool four = copy + 2 < count;
        if (!very_wide_) {  // four, always
            Xmm mask = full(joining_number), other = full(spare_number());
            compare(mask, copy);
            compare(other, copy + 2);
            vorps(mask, mask, other);
            vtestps(mask, mask);
            jnz(to);
            continue;
        }
        compare(k6, copy);
        if (four) compare(k7, copy + 2);
        kortestw(k6, four ? k7 : k6);
        jnz(to);
    }
}

/// Whether the sum or product of an array is all that is computed.
bool Writer::finds_sums() const { return joins_alone(in_lanes) && joins_from_memory(plan_.code.streams[1]); }

/// The vectors at hand, by instructions that read them: with one less for each, a processor looks further ahead, and asks memory for more. Sums of
/// 128 MB on a Zen 4 took 0.88 of the time so.
void Writer::join_sums() {
    const Line& joined = plan_.code.line(plan_.code.order[1]);
    const StreamKind& kept = plan_.code.streams[1];
    for (int copy = 0; copy < plan_.unroll; ++copy) {
        if (plan_.code.streams[0].ahead) fetch_joined(0, copy);
        Address place = ptr[element_address(0, copy)];
        second_ = &place;
        join(kept, joined.from, accumulator(1, copy), 0, false);
        second_ = nullptr;
    }
}

/// Of folded streams, at the start of a row: the neutral values.
void Writer::begin_accumulators() {
    for (std::size_t i = 0; i < plan_.code.streams.size(); ++i) {
        const StreamKind& stream = plan_.code.streams[i];
        if (stream.mode != Mode::folded) continue;
        std::uint64_t bits = neutral_bits(stream);
        for (int copy = 0; copy < plan_.unroll; ++copy) {
            if (copy == 0 || !plan_.sums_in_frame)
                load_pattern(bits, static_cast<int>(size_of(stream.memory)), accumulating(i, copy));
            if (plan_.sums_in_frame) vmovups(sum_in_frame(copy), accumulating(i, 0));
        }
    }
}

/// At its end: lane i with lane i + 32, i + 16, and so on. No vector's own values are alive then: the first register is free.
void Writer::fold_accumulators() {
    for (std::size_t i = 0; i < plan_.code.streams.size(); ++i) {
        const StreamKind& stream = plan_.code.streams[i];
        if (stream.mode != Mode::folded) continue;
        std::int32_t first = plan_.sums_in_frame ? 1 : accumulator(i, 0);
        int copies = plan_.unroll;
        if (plan_.sums_in_frame) {
            copies /= 2;
            for (int copy = 0; copy < copies; ++copy) {
                vmovups(full(first + copy), sum_in_frame(copy));
                Address other = sum_in_frame(copy + copies);
                second_ = &other;
                join(stream, lane_of(stream.memory), first + copy, first + copy, false);
                second_ = nullptr;
            }
        }
        fold_in_registers(stream, first, copies);
        Xbyak::Reg64 base = base_of(i);
        size_of(stream.memory) == 4 ? vmovd(ptr[base], Xmm(first)) : vmovq(ptr[base], Xmm(first));
    }
}

void Writer::fold_in_registers(const StreamKind& stream, std::int32_t first, int copies) {
    constexpr std::int32_t free = 0;
    Lane lane = lane_of(stream.memory);
    auto size = static_cast<int>(size_of(stream.memory));
    for (copies /= 2; copies > 0; copies /= 2)
        for (int copy = 0; copy < copies; ++copy) join(stream, lane, first + copy, first + copy + copies, false);
    for (int bytes = lanes() * size / 2; bytes >= size; bytes /= 2) {
        upper_half(free, first, bytes);
        join(stream, lane, first, free, false);
    }
}

/// One of the sums, from the frame and back there.
void Writer::sum_in_frame(const Line& line, std::int32_t from, int copy, bool whole) {
    Xmm sum = reg(plan_.accumulators_at, line.from), value = reg(from, line.from);
    if (whole) {  // (of two NaN the value's stays)
        width_of(line.from) == 4 ? vaddps(sum, value, sum_in_frame(copy)) : vaddpd(sum, value, sum_in_frame(copy));
    } else {
        vmovups(sum, sum_in_frame(copy));
        join(plan_.code.streams[line.immediate], line.from, plan_.accumulators_at, from, true);
    }
    vmovups(sum_in_frame(copy), sum);
}

/// The upper of two halves of so many bytes.
void Writer::upper_half(std::int32_t to, std::int32_t from, int bytes) {
    if (bytes == 32)
        vextracti64x4(Xbyak::Ymm(to), Xbyak::Zmm(from), 1);
    else if (bytes == 16)
        many_registers_ ? vextracti32x4(Xmm(to), Xbyak::Ymm(from), 1) : vextracti128(Xmm(to), Xbyak::Ymm(from), 1);
    else
        vpshufd(Xmm(to), Xmm(from), bytes == 8 ? 0xEE : 0x55);
}

Writer::Xmm Writer::accumulating(std::size_t stream, int copy) const {
    bool whole = static_cast<int>(size_of(plan_.code.streams[stream].memory)) == plan_.lane_bytes;
    return whole ? full(accumulator(stream, copy)) : half(accumulator(stream, copy));
}

std::int32_t Writer::accumulator(std::size_t stream, int copy) const {
    std::int32_t before = 0;
    for (std::size_t i = 0; i < stream; ++i) before += in_lanes(plan_.code.streams[i].mode);
    return plan_.accumulators_at + before * plan_.unroll + copy;
}

/// Lanes beyond a tail are joined too, and not stored.
void Writer::accumulate(const Line& line, std::int32_t from, int copy, bool whole) {
    const StreamKind& stream = plan_.code.streams[line.immediate];
    if (columns_wait_) return join(stream, line.from, waiting(line.immediate, copy), from, false);
    Address place = ptr[element_address(line.immediate, copy)];
    load_from(place, stream.memory, line.from, plan_.accumulators_at, !whole);
    join(stream, line.from, plan_.accumulators_at, from, false);
    store_to(place, stream.memory, line.from, plan_.accumulators_at, !whole);
}

}  // namespace weft::cpu::emit

#endif
