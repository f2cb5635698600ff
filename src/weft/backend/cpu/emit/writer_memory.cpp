// How a Writer reaches memory: streams, the frame, constants, calls.
#include "weft/base/integers.h"
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include <algorithm>
#include <cstring>

#include "weft/backend/cpu/emit/writer.h"
#include "weft/backend/cpu/isa.h"

namespace weft::cpu::emit {
namespace {

// Where one array is read to be joined, nothing else is waited for, and processors alone do not keep up: they fetch within a page, and less
// well where rows begin within a cache line. Measured on a Zen 5, 64 MB along rows of 300, 256 and 512: 25, 41 and 45 GB/s, and 51, 50
// and 49 so; 2 and 4 KB ahead gave 40 to 46; along the middle axis of 256^3 33 and 44. Of two arrays it was slower. A Zen 4 lost 20 to
// 30 % by it (18 GB/s of 23 to 28: what is asked for into the first-level cache takes places that loads wait for); asked for into the
// second-level cache, nearer, it gained up to 10 %.
// An Emerald Rapids, whose third-level cache answers late: 2 KB ahead into the first level, 64 MB along rows of 256, along all, 16 MB along rows
// of 1,024: 2.58 to 2.45 ms, 2.56 to 2.30, 0.64 to 0.55; 128 MB of doubles 8.8 to 6.7 (1 and 4 KB, or into the second level: no better).
constexpr int far_ahead = 8192, near_ahead = 1024, between_ahead = 2048;  // bytes
constexpr std::ptrdiff_t much_computed = 12;                              // lines: an exponential (Zen 4)

}  // namespace

Xbyak::Reg64 Writer::base_of(std::size_t stream) {
    if (base_registers_[stream] >= 0) return Xbyak::Reg64(base_registers_[stream]);
    mov(rax, argument(arguments().base(stream)));
    return rax;
}

Xbyak::RegExp Writer::element_address(std::size_t stream, int copy) {
    int size = static_cast<int>(size_of(plan_.code.streams[stream].memory));
    return base_of(stream) + r12 * size + copy * lanes() * size;
}

void Writer::load(const Line& line, std::int32_t to, int copy, bool whole) {
    const StreamKind& stream = plan_.code.streams[line.immediate];
    if (stream.ahead && one_array_joined_)
        fetch_joined(line.immediate, copy);
    else if (fetches_next_ && whole && stream.mode == Mode::contiguous)
        fetch_next(line.immediate, copy);
    if (stream.mode == Mode::counting) return count(line.immediate, to, copy);
    if (stream.mode == Mode::contiguous && (whole || masks(stream.memory))) {
        load_from(ptr[element_address(line.immediate, copy)], stream.memory, line.lane, to, !whole);
        bool asks = stream.ahead && !stream.asked_when_stored() && !one_array_joined_;
        if (asks && whole) fetch_ahead(line.immediate, copy);
        return;
    }
    point_at(line.immediate, copy);
    if (whole && size_of(stream.memory) >= 4) return collect(size_of(stream.memory), to);
    move_elements(line.immediate, true, whole);
    load_from(frame(area(line.immediate)), stream.memory, line.lane, to, false);
}

/// What the vector at hand takes, as far on as the call's rows reach, line by line between what is computed: loads waited behind four requests at
/// once. Nothing happens where no memory is. Into the second-level cache, for
/// the first is too small for a block. A Zen 4 does little of what it is asked so; into the first it does, and what that lets go stays in the
/// second: softmax of 4,096 x 1,024 23.4 to 19.0 cycles for 16 numbers. Where little is computed, or of several arrays, loads wait for the places
/// that it takes: gradients of a softmax and of a layer norm 1.3. An Intel does better where one array is asked for, which is read for the last time:
/// layer norms and root mean squares of 12 to 32 MB in 0.92 to 0.98 of the time, logarithms of softmaxes 0.96 to 1.0; of two arrays 1.02. Where two
/// turns of rows fit the first level (compile/row_turns.cpp), it does so with all (a layer norm's gradient 0.88, a softmax's 1.03), and what will be
/// written over is asked for to be written.
void Writer::fetch_ahead(std::size_t stream, int copy) {
    constexpr int line = 64;
    const StreamKind& kind = plan_.code.streams[stream];
    auto size = static_cast<int>(size_of(kind.memory));
    bool near = is_zen4() ? one_much_computed() : kind.near;
    int width = lanes() * size, first = divide_up(copy * width, line) * line;
    if (first >= (copy + 1) * width) return;  // the vector before has asked for its line
    Xbyak::Reg64 ahead = rcx;
    if (ahead_registers_[stream] >= 0) {
        ahead = Xbyak::Reg64(ahead_registers_[stream]);
    } else {
        mov(rcx, frame(aheads_at_ + 8 * stream));
        add(rcx, base_of(stream));
    }
    for (int offset = first; offset < (copy + 1) * width; offset += line) {
        Address at = ptr[ahead + r12 * size + offset];
        if (kind.asked_when_stored())
            prefetchw(at);
        else
            near ? prefetcht0(at) : prefetcht1(at);
    }
}

/// Where a row's elements are asked for, as far as there are registers for it.
void Writer::point_ahead() {
    for (std::size_t i = 0; i < ahead_registers_.size(); ++i) {
        if (ahead_registers_[i] < 0) continue;
        Xbyak::Reg64 ahead(ahead_registers_[i]);
        mov(ahead, frame(aheads_at_ + 8 * i));
        add(ahead, base_of(i));
    }
}

/// Whether one array alone is asked for, and an exponential or as much computed.
bool Writer::one_much_computed() const {
    auto arrays = std::count_if(plan_.code.streams.begin(), plan_.code.streams.end(),
                                [](const StreamKind& kind) { return kind.ahead; });
    auto computed = std::count_if(plan_.code.order.begin(), plan_.code.order.end(), [&](std::int32_t line) {
        VectorOp op = plan_.code.line(line).op;
        return op != VectorOp::load && op != VectorOp::store && op != VectorOp::constant;
    });
    return arrays == 1 && computed >= much_computed;
}

/// Of the one array that is read to be joined, what lies some way on. A Zen 3 follows it better by itself (sums of 16 and 64 MB of floats along rows 0.8
/// to 0.88 of the time, of doubles 0.96, whatever the distance).
void Writer::fetch_joined(std::size_t stream, int copy) {
    if (is_zen3()) return;
    is_zen4() ? prefetcht1(ptr[element_address(stream, copy) + near_ahead])
              : prefetcht0(ptr[element_address(stream, copy) + (is_zen5() ? far_ahead : between_ahead)]);
}

/// Of more arrays than an Intel's processor follows by itself (steps of a loop that are computed at once read a slice each), where a chain leaves
/// time: tanh(a h + x), 16 MB of x, 1,000 doubles a step 9.6 to 4.4 ns a number, floats 1.9 to 0.75.
void Writer::fetch_next(std::size_t stream, int copy) {
    auto size = static_cast<int>(size_of(plan_.code.streams[stream].memory));
    prefetcht0(ptr[element_address(stream, copy) + plan_.unroll * lanes() * size]);
}

void Writer::point_at(std::size_t stream, int copy) {
    const StreamKind& kind = plan_.code.streams[stream];
    if (kind.mode == Mode::strided) {
        mov(rcx, argument(arguments().step(stream)));
        lea(rdx, ptr[r12 + copy * lanes()]);
        imul(rdx, rcx);
        Xbyak::Reg64 base = base_of(stream);
        lea(rax, ptr[base + rdx]);
    } else {
        lea(rax, ptr[element_address(stream, copy)]);
        mov(ecx, static_cast<std::uint32_t>(size_of(kind.memory)));
    }
}

/// The elements from rax on, rcx bytes apart, 16 bytes at a time: processors' own gathers are no faster.
void Writer::collect(std::size_t size, std::int32_t to) {
    lea(rdx, ptr[rcx + rcx * 2]);
    std::size_t parts = at(lanes()) * size / 16;
    Xbyak::Ymm whole(to);
    for (std::size_t i = 0; i < parts; ++i) {
        Xmm part(i == 0 ? to : spare_number());
        if (size == 4) {
            vmovd(part, ptr[rax]);
            vpinsrd(part, part, ptr[rax + rcx], 1);
            vpinsrd(part, part, ptr[rax + rcx * 2], 2);
            vpinsrd(part, part, ptr[rax + rdx], 3);
        } else {
            vmovq(part, ptr[rax]);
            vpinsrq(part, part, ptr[rax + rcx], 1);
        }
        if (i + 1 < parts) lea(rax, ptr[rax + rcx * (size == 4 ? 4 : 2)]);
        if (i == 0) continue;
        auto place = static_cast<std::uint8_t>(i);
        if (parts == 4)
            vinserti32x4(Xbyak::Zmm(to), Xbyak::Zmm(to), part, place);
        else
            many_registers_ ? vinserti32x4(whole, whole, part, place) : vinserti128(whole, whole, part, place);
    }
}

/// One element at a time between the array and the stream's area in the frame: narrow ones, and those of part of a vector.
void Writer::move_elements(std::size_t stream, bool into_area, bool whole) {
    auto size = static_cast<int>(size_of(plan_.code.streams[stream].memory));
    auto move = [&](const Xbyak::Reg& through, const RegExp& place) {
        if (into_area) {
            mov(through, ptr[rax]);
            mov(ptr[place], through);
        } else {
            mov(through, ptr[place]);
            mov(ptr[rax], through);
        }
    };
    auto move_one = [&](const RegExp& place) {
        if (size == 1)
            move(dl, place);
        else if (size == 2)
            move(dx, place);
        else if (size == 4)
            move(edx, place);
        else
            move(rdx, place);
        add(rax, rcx);
    };
    auto start = static_cast<int>(area(stream));
    if (whole) {
        for (int i = 0; i < lanes(); ++i) move_one(rsp + start + i * size);
        return;
    }
    Xbyak::Label again;
    xor_(ebp, ebp);
    L(again);
    move_one(rsp + rbp * size + start);
    inc(ebp);
    cmp(ebp, r15d);
    jb(again);
}

/// Numbers have addresses (kernel/loop.h): the element's stands for the first lane's.
void Writer::count(std::size_t stream, std::int32_t to, int copy) {
    lea(rax, ptr[element_address(stream, copy)]);
    broadcast_number(to);
    vpaddq(full(to), full(to), ptr[rip + steps_]);
    counts_ = true;
}

void Writer::broadcast_number(std::int32_t to) {
    sar(rax, 3);
    if (very_wide_) return vpbroadcastq(Xbyak::Zmm(to), rax);
    vmovq(Xmm(to), rax);
    vpbroadcastq(Xbyak::Ymm(to), Xmm(to));
}

void Writer::broadcast(const Line& line, std::int32_t to) {
    if (plan_.code.streams[line.immediate].mode == Mode::same_number) {
        mov(rax, base_of(line.immediate));
        return broadcast_number(to);
    }
    DType memory = plan_.code.streams[line.immediate].memory;
    Xbyak::Reg64 base = base_of(line.immediate);
    if (size_of(memory) == 4) return vbroadcastss(reg(to, line.lane), ptr[base]);
    if (size_of(memory) == 8) return broadcast_wide(to, ptr[base]);
    Address narrow = size_of(memory) == 1 ? Xbyak::CodeGenerator::byte[base] : Xbyak::CodeGenerator::word[base];
    bool with_sign = memory == DType::int8 || memory == DType::int16;
    with_sign ? movsx(eax, narrow) : movzx(eax, narrow);
    if (memory == DType::bool_) return broadcast_truth(to);
    Xmm low(to);
    vmovd(low, eax);
    if (line.lane == Lane::f32) vcvtph2ps(low, low);
    vpbroadcastd(reg(to, line.lane), low);
}

/// Step: void(void* out, const void* const* operands, std::int64_t count, const StepInfo& info).
void Writer::call(const Outside& outside) {
    auto place = [&](std::int32_t number) { return static_cast<int>(places_at_ + 64 * at(number)); };
    for (std::size_t n = 0; n < 3; ++n) {
        if (outside.operands[n] < 0) continue;
        lea(rax, ptr[rsp + place(outside.operands[n])]);
        mov(ptr[rsp + static_cast<int>(operands_at_ + 8 * n)], rax);
    }
    StepInfo info{.function = outside.function};
    std::uint64_t record[(sizeof info + 7) / 8] = {};
    std::memcpy(record, &info, sizeof info);
    constexpr int below = (sizeof record + 63) / 64 * 64;
    sub(rsp, below);
    for (std::size_t i = 0; i < std::size(record); ++i) {
        mov(rax, record[i]);
        mov(frame(8 * i), rax);
    }
    lea(rdi, ptr[rsp + below + place(outside.result)]);
    lea(rsi, ptr[rsp + below + static_cast<int>(operands_at_)]);
    mov(edx, lanes());
    mov(rcx, rsp);
    vzeroupper();
    std::uint64_t target = 0;
    std::memcpy(&target, &outside.step, sizeof outside.step);
    mov(rax, target);
    Xbyak::CodeGenerator::call(rax);
    add(rsp, below);
}

void Writer::load_constant(std::int32_t number, std::int32_t to) {
    const Line& line = plan_.code.line(number);
    load_pattern(line.immediate, width_of(line.lane), reg(to, line.lane));
}

/// A constant without a register, for each vector anew: where a broadcast to 64 bytes goes through the units that compute (Zen 4), whole
/// vectors lie in memory, as many as the first-level cache has room for beside the arrays.
void Writer::reload_constant(std::int32_t number, std::int32_t to) {
    const Line& line = plan_.code.line(number);
    std::pair<std::uint64_t, int> constant{line.immediate, width_of(line.lane)};
    auto known = std::find(whole_constants_.begin(), whole_constants_.end(), constant);
    bool room = very_wide_ && whole_constants_.size() < most_whole_constants;
    if (known == whole_constants_.end() && !room) return load_constant(number, to);
    vmovups(reg(to, line.lane), whole_constant(number));
}

/// Of the plan's choice, or where there is room.
Writer::Address Writer::whole_constant(std::int32_t number) {
    const Line& line = plan_.code.line(number);
    std::pair<std::uint64_t, int> constant{line.immediate, width_of(line.lane)};
    auto known = std::find(whole_constants_.begin(), whole_constants_.end(), constant);
    auto offset = static_cast<int>(64 * (known - whole_constants_.begin()));
    if (known == whole_constants_.end()) whole_constants_.push_back(constant);
    return ptr[rip + whole_pool_ + offset];
}

void Writer::load_pattern(std::uint64_t bits, int bytes, const Xmm& to) {
    std::pair<std::uint64_t, int> constant{bits, bytes};
    auto known = std::find(constants_.begin(), constants_.end(), constant);
    auto offset = static_cast<int>(8 * (known - constants_.begin()));
    if (known == constants_.end()) constants_.push_back(constant);
    Address place = ptr[rip + pool_ + offset];
    if (bytes == 8)
        broadcast_wide(to.getIdx(), place);
    else
        vbroadcastss(to, place);
}

// Kernels are copied to whole lines of memory (code_pool.h), so places count from where this one begins, not by the address it is written at.
void Writer::align_place(std::size_t bytes) { nop((bytes - getSize() % bytes) % bytes); }

void Writer::write_constants() {
    align_place(whole_constants_.empty() ? 8 : 64);
    L(whole_pool_);
    for (auto [bits, bytes] : whole_constants_) {
        std::uint64_t pattern = bytes == 8 ? bits : (bits & 0xffffffff) * 0x100000001;
        for (int i = 0; i < 8; ++i) dq(pattern);
    }
    L(pool_);
    for (const auto& constant : constants_) dq(constant.first);
    L(steps_);
    for (int lane = 0; counts_ && lane < lanes(); ++lane) dq(static_cast<std::uint64_t>(lane));
    write_tables();
}

}  // namespace weft::cpu::emit

#endif
