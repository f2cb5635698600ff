// AVX2, FMA and F16C: truth values as lanes of ones or zeros in vector registers, as wide as the kernel's widest lane. Only lanes of
// 4 and 8 bytes load by masks, and are stored in pieces; narrower ones go through the frame.
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include "weft/backend/cpu/emit/writer.h"
#include "weft/base/error.h"

namespace weft::cpu::emit {
namespace {

class Avx2Writer final : public Writer {
  public:
    Avx2Writer(const KernelPlan& plan, void* memory, std::size_t size) : Writer(plan, memory, size, false) {}

  private:
    static constexpr int spare_number = 15;

    bool masks(DType memory) const override { return size_of(memory) >= 4; }

    /// The masks lie in the frame: lane i is all ones where i < r15.
    void prepare_tail() override {
        Xbyak::Ymm mask(spare_number);
        Xmm count(spare_number);
        for (int bytes : {4, 8}) {
            if (bytes == 8 && !wide_lanes()) continue;
            vmovq(count, r15);
            bytes == 8 ? vpbroadcastq(mask, count) : vpbroadcastd(mask, count);
            bytes == 8 ? vpcmpgtq(mask, mask, ptr[rip + counting_8_]) : vpcmpgtd(mask, mask, ptr[rip + counting_4_]);
            vmovups(frame(tail_at(bytes)), mask);
        }
    }
    void write_tables() override {
        align_place(32);
        L(counting_4_);
        for (std::uint32_t i = 0; i < 8; ++i) dd(i);
        L(counting_8_);
        for (std::uint64_t i = 0; i < 4; ++i) dq(i);
    }

    void spill_mask(const Address& address, std::int32_t number) override { vmovups(address, full(number)); }
    void test_truth(std::int32_t number, bool whole) override {
        if (whole)
            vtestps(Xbyak::Ymm(number), Xbyak::Ymm(number));
        else
            vtestps(Xbyak::Ymm(number), frame(tail_at(plan_.lane_bytes)));
    }
    void fill_mask(const Address& address, std::int32_t number) override { vmovups(full(number), address); }
    void broadcast_wide(std::int32_t to, const Address& address) override { vbroadcastsd(Xbyak::Ymm(to), address); }
    void broadcast_truth(std::int32_t to) override {
        neg(rax);
        vmovq(Xmm(to), rax);
        vpbroadcastq(Xbyak::Ymm(to), Xmm(to));
    }

    void load_from(const Address& address, DType memory, Lane lane, std::int32_t to, bool tail) override {
        if (memory == DType::bool_) return load_truth(address, to);
        Xmm result = reg(to, lane), mask = reg(spare_number, lane);
        if (tail) {
            vmovups(mask, frame(tail_at(width_of(lane))));
            return width_of(lane) == 8 ? vmaskmovpd(result, mask, address) : vmaskmovps(result, mask, address);
        }
        switch (memory) {
            case DType::int8:
                return vpmovsxbd(result, address);
            case DType::uint8:
                return vpmovzxbd(result, address);
            case DType::int16:
                return vpmovsxwd(result, address);
            case DType::float16:
                if (lane == Lane::f32) return vcvtph2ps(result, address);
                return vpmovzxwd(result, address);
            case DType::bfloat16:
            case DType::uint16:
                return vpmovzxwd(result, address);
            default:
                return vmovups(result, address);
        }
    }

    void load_truth(const Address& address, std::int32_t to) {
        Xmm result = full(to), zero = full(spare_number);
        wide_lanes() ? vpmovzxbq(result, address) : vpmovzxbd(result, address);
        vpxor(zero, zero, zero);
        wide_lanes() ? vpcmpgtq(result, result, zero) : vpcmpgtd(result, result, zero);
    }

    /// Parts of a vector in pieces: a masked store takes a Zen 3 twenty cycles, pieces four (rows of 59 of 60 floats 0.6 to 0.7 of the time, of 13
    /// 0.42, outer products with 13 0.64, a softmax of 100 0.87).
    void store_to(const Address& address, DType memory, Lane lane, std::int32_t from, bool tail) override {
        if (memory == DType::bool_) return store_truth(address, from);
        if (tail) return store_pieces(address, lane, from);
        Xmm value = reg(from, lane);
        if (size_of(memory) >= 4) return vmovups(address, value);
        Xmm words(spare_number);
        if (lane == Lane::f32) {
            vcvtps2ph(words, value, 0);
        } else {
            bool with_sign = memory == DType::int8 || memory == DType::uint8 || memory == DType::int16;
            Xmm low(from), high(from);
            if (lanes() == 8) vextracti128(high = words, Xbyak::Ymm(from), 1);
            with_sign ? vpackssdw(words, low, high) : vpackusdw(words, low, high);
        }
        if (size_of(memory) == 2) return lanes() == 8 ? vmovdqu(address, words) : vmovq(address, words);
        memory == DType::uint8 ? vpackuswb(words, words, words) : vpacksswb(words, words, words);
        store_bytes(address, words);
    }

    /// A byte a lane.
    void store_bytes(const Address& address, const Xmm& bytes) {
        lanes() == 8 ? vmovq(address, bytes) : vmovd(address, bytes);
    }

    void store_truth(const Address& address, std::int32_t from) {
        Xmm words(spare_number);
        if (wide_lanes()) {
            narrow(words, from);
            vpackssdw(words, words, words);
        } else {
            vextracti128(words, Xbyak::Ymm(from), 1);
            vpackssdw(words, Xmm(from), words);
        }
        vpacksswb(words, words, words);
        vpabsb(words, words);
        store_bytes(address, words);
    }

    /// The lower halves of four lanes of 8 bytes.
    void narrow(const Xmm& to, std::int32_t from) {
        Xmm high(spare_number);
        vextracti128(high, Xbyak::Ymm(from), 1);
        vshufps(to, Xmm(from), high, 0x88);
    }

    void join(const StreamKind& kind, Lane lane, std::int32_t accumulator, std::int32_t value, bool tail) override {
        Xmm to = reg(accumulator, lane), b = reg(value, lane), mask = reg(joining_number, lane);
        Xmm spare = reg(spare_number, lane), joined = tail ? spare : to;
        bool narrow = width_of(lane) == 4, greatest = kind.reduction == Reduction::maximum;
        auto blend = [&](const Xmm& result, const Xmm& no, const Xmm& yes) {
            narrow ? vblendvps(result, no, yes, mask) : vblendvpd(result, no, yes, mask);
        };
        bool extreme = kind.reduction != Reduction::sum && kind.reduction != Reduction::product;
        if (!is_floating(kind.memory)) {
            join_integers(kind, joined, to, b);
        } else if (extreme && no_nan_) {
            if (narrow)
                greatest ? vmaxps(joined, to, b) : vminps(joined, to, b);
            else
                greatest ? vmaxpd(joined, to, b) : vminpd(joined, to, b);
        } else if (extreme) {  // where the accumulator is NaN it stays
            narrow ? vcmpps(mask, to, to, 3) : vcmppd(mask, to, to, 3);
            if (narrow)
                greatest ? vmaxps(spare, to, b) : vminps(spare, to, b);
            else
                greatest ? vmaxpd(spare, to, b) : vminpd(spare, to, b);
            blend(joined, spare, to);
        } else if (kind.reduction == Reduction::sum) {
            narrow ? vaddps(joined, to, second(b)) : vaddpd(joined, to, second(b));
        } else {
            narrow ? vmulps(joined, to, second(b)) : vmulpd(joined, to, second(b));
        }
        if (!tail) return;
        vmovups(mask, frame(tail_at(width_of(lane))));
        blend(to, to, joined);
    }
    void join_integers(const StreamKind& kind, const Xmm& to, const Xmm& a, const Xmm& b) {
        bool narrow = size_of(kind.memory) == 4, greatest = kind.reduction == Reduction::maximum;
        if (kind.reduction == Reduction::sum) return narrow ? vpaddd(to, a, second(b)) : vpaddq(to, a, second(b));
        if (kind.reduction == Reduction::product) return vpmulld(to, a, b);
        if (kind.memory == DType::uint32) return greatest ? vpmaxud(to, a, b) : vpminud(to, a, b);
        return greatest ? vpmaxsd(to, a, b) : vpminsd(to, a, b);
    }

    void own(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from) override {
        if (line.lane == Lane::mask) return truth(line, to, from);
        Xmm result = reg(to, line.lane), a = reg(from[0], line.from == Lane::none ? line.lane : line.from);
        Xmm b = from[1] >= 0 ? reg(from[1], line.lane) : a;
        switch (line.op) {
            case VectorOp::select:
                return select(line, result, from);
            case VectorOp::bit_and:
                return vpand(result, a, second(b));
            case VectorOp::bit_or:
                return vpor(result, a, second(b));
            case VectorOp::bit_xor:
                return vpxor(result, a, second(b));
            case VectorOp::round: {
                auto how = static_cast<std::uint8_t>(8 | line.immediate);
                return width_of(line.lane) == 4 ? vroundps(result, a, how) : vroundpd(result, a, how);
            }
            default:
                return convert(line, result, a, from[0]);
        }
    }

    void select(const Line& line, const Xmm& result, const std::array<std::int32_t, 3>& from) {
        Xmm other = from[1] >= 0 ? reg(from[1], line.lane) : result, no = reg(from[2], line.lane);
        const Xbyak::Operand& yes = second(other);
        if (width_of(line.lane) == 8) return vblendvpd(result, no, yes, full(from[0]));
        if (!wide_lanes()) return vblendvps(result, no, yes, full(from[0]));
        Xmm mask(spare_number);
        narrow(mask, from[0]);
        vblendvps(result, no, yes, mask);
    }

    void truth(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from) {
        Xmm result = full(to);
        switch (line.op) {
            case VectorOp::compare:
            case VectorOp::int_compare:
                compare(line, reg(to, line.from), reg(from[0], line.from),
                        second(from[1] >= 0 ? reg(from[1], line.from) : full(to)));
                if (wide_lanes() && width_of(line.from) == 4) vpmovsxdq(result, half(to));
                return;
            case VectorOp::mask_and:
                return vpand(result, full(from[0]), full(from[1]));
            case VectorOp::mask_and_not:
                return vpandn(result, full(from[1]), full(from[0]));
            case VectorOp::mask_or:
                return vpor(result, full(from[0]), full(from[1]));
            case VectorOp::mask_xor:
                return vpxor(result, full(from[0]), full(from[1]));
            case VectorOp::mask_not: {
                Xmm ones = full(spare_number);
                vpcmpeqd(ones, ones, ones);
                return vpxor(result, full(from[0]), ones);
            }
            default:
                throw InternalError(text("avx2 emitter: no truth of operation ", static_cast<int>(line.op)));
        }
    }

    void compare(const Line& line, const Xmm& to, const Xmm& a, const Xbyak::Operand& b) {
        bool narrow = width_of(line.from) == 4;
        auto imm = static_cast<std::uint8_t>(line.immediate);
        if (line.op == VectorOp::compare)
            narrow ? vcmpps(to, a, b, imm) : vcmppd(to, a, b, imm);
        else if (line.immediate == static_cast<std::uint64_t>(IntPredicate::equal))
            narrow ? vpcmpeqd(to, a, b) : vpcmpeqq(to, a, b);
        else
            narrow ? vpcmpgtd(to, a, b) : vpcmpgtq(to, a, b);
    }

    void convert(const Line& line, const Xmm& to, const Xmm& a, std::int32_t from) {
        bool wide = width_of(line.lane) == 8, from_wide = width_of(line.from) == 8;
        Xmm words(spare_number);
        switch (line.op) {
            case VectorOp::to_float:
                return wide ? vcvtdq2pd(to, a) : vcvtdq2ps(to, a);
            case VectorOp::to_int:
                return from_wide ? vcvttpd2dq(to, a) : vcvttps2dq(to, a);
            case VectorOp::resize:
                return wide ? vcvtps2pd(to, a) : vcvtpd2ps(to, a);
            case VectorOp::extend:
                return vpmovsxdq(to, a);
            case VectorOp::extend_unsigned:
                return vpmovzxdq(to, a);
            case VectorOp::narrow:
                return narrow(to, from);
            case VectorOp::half_to_float:  // the numbers are 16 bits: packing does not saturate
                if (lanes() == 8) {
                    vextracti128(words, Xbyak::Ymm(from), 1);
                    vpackusdw(words, Xmm(from), words);
                } else {
                    vpackusdw(words, a, a);
                }
                return vcvtph2ps(to, words);
            case VectorOp::round_to_half:
                vcvtps2ph(words, a, 0);
                return vcvtph2ps(to, words);
            case VectorOp::float_to_half:
                vcvtps2ph(words, a, 0);
                return vpmovzxwd(to, words);
            default:
                throw InternalError(text("avx2 emitter: no instruction for operation ", static_cast<int>(line.op)));
        }
    }

    Xbyak::Label counting_4_, counting_8_;
};

}  // namespace

std::unique_ptr<Writer> avx2_writer(const KernelPlan& plan, void* memory, std::size_t size) {
    return std::make_unique<Avx2Writer>(plan, memory, size);
}

}  // namespace weft::cpu::emit

#endif
