// AVX-512 (F, BW, DQ, VL): truth values in mask registers, the last vector of a row by masking. k0 is spare, k7 the tail's mask.
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include "weft/backend/cpu/emit/writer.h"
#include "weft/base/error.h"

namespace weft::cpu::emit {
namespace {

class Avx512Writer final : public Writer {
  public:
    Avx512Writer(const KernelPlan& plan, void* memory, std::size_t size) : Writer(plan, memory, size, true) {}

  private:
    using Opmask = Xbyak::Opmask;
    static constexpr int spare_number = 31;

    /// Mask registers 1 to 6 are numbered from 0.
    static Opmask mask(std::int32_t number) { return Opmask(number + 1); }
    bool masks(DType) const override { return true; }

    void prepare_tail() override {
        mov(eax, -1);
        bzhi(eax, eax, r15d);
        if (lanes() <= 8)
            kmovb(k7, eax);
        else
            kmovw(k7, eax);
    }

    void spill_mask(const Address& address, std::int32_t number) override { kmovw(address, mask(number)); }
    void test_truth(std::int32_t number, bool whole) override {
        if (!whole) {  // what lies beyond the row is no reason
            kmovw(eax, mask(number));
            bzhi(eax, eax, r15d);
        } else if (lanes() == 4) {  // knotw sets what lies beyond them
            kmovb(eax, mask(number));
            test(al, 15);
        } else if (lanes() == 8)
            kortestb(mask(number), mask(number));
        else
            kortestw(mask(number), mask(number));
    }
    void fill_mask(const Address& address, std::int32_t number) override { kmovw(mask(number), address); }
    void broadcast_wide(std::int32_t to, const Address& address) override { vbroadcastsd(Xbyak::Zmm(to), address); }
    void broadcast_truth(std::int32_t to) override {
        neg(eax);
        kmovw(mask(to), eax);
    }

    void load_from(const Address& address, DType memory, Lane lane, std::int32_t to, bool tail) override {
        if (memory == DType::bool_) return load_truth(address, to, tail);
        Xmm result = reg(to, lane);
        if (tail) result = result | k7 | T_z;
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
                return width_of(lane) == 8 ? vmovupd(result, address) : vmovups(result, address);
        }
    }

    void load_truth(const Address& address, std::int32_t to, bool tail) {
        Xmm bytes(spare_number);
        if (tail)
            vmovdqu8(bytes | k7 | T_z, address);
        else if (lanes() == 4)
            vmovd(bytes, address);
        else if (lanes() == 8)
            vmovq(bytes, address);
        else
            vmovdqu8(bytes, address);
        vptestmb(mask(to), bytes, bytes);
    }

    void store_to(const Address& address, DType memory, Lane lane, std::int32_t from, bool tail) override {
        Address place = address;
        if (tail) place = address | k7;
        if (memory == DType::bool_) {
            Xmm bytes(spare_number);
            vpmovm2b(bytes, mask(from));
            vpabsb(bytes, bytes);
            if (!tail && lanes() == 4) return vmovd(place, bytes);
            if (!tail && lanes() == 8) return vmovq(place, bytes);
            return vmovdqu8(place, bytes);
        }
        Xmm value = reg(from, lane);
        switch (size_of(memory)) {
            case 1:
                return vpmovdb(place, value);
            case 2:
                return lane == Lane::f32 ? vcvtps2ph(place, value, 0) : vpmovdw(place, value);
            case 4:
                return vmovups(place, value);
            default:
                return vmovupd(place, value);
        }
    }

    /// Where the accumulator is NaN it stays, by k6; beside the comparison, not after it, for each value waits for the one before.
    void join(const StreamKind& kind, Lane lane, std::int32_t accumulator, std::int32_t value, bool tail) override {
        Xmm to = reg(accumulator, lane), a = to, b = reg(value, lane);
        bool narrow = width_of(lane) == 4, greatest = kind.reduction == Reduction::maximum;
        if (is_floating(kind.memory) && kind.reduction != Reduction::sum && kind.reduction != Reduction::product) {
            auto extreme = [&](const Xmm& result) {
                if (narrow)
                    greatest ? vmaxps(result, a, b) : vminps(result, a, b);
                else
                    greatest ? vmaxpd(result, a, b) : vminpd(result, a, b);
            };
            if (no_nan_) return extreme(to);
            Xmm joined = reg(spare_number, lane);
            narrow ? vcmpps(k6, a, a, 3) : vcmppd(k6, a, a, 3);
            extreme(joined);
            Xmm blended = (tail ? joined : to) | k6;
            narrow ? vblendmps(blended, joined, a) : vblendmpd(blended, joined, a);
            if (!tail) return;
            return narrow ? vmovups(to | k7, joined) : vmovupd(to | k7, joined);
        }
        if (tail) to = to | k7;
        if (is_floating(kind.memory)) {
            if (kind.reduction == Reduction::sum) return narrow ? vaddps(to, a, second(b)) : vaddpd(to, a, second(b));
            return narrow ? vmulps(to, a, second(b)) : vmulpd(to, a, second(b));
        }
        bool without_sign = kind.memory == DType::uint32 || kind.memory == DType::uint64;
        if (kind.reduction == Reduction::sum) return narrow ? vpaddd(to, a, second(b)) : vpaddq(to, a, second(b));
        if (kind.reduction == Reduction::product) return narrow ? vpmulld(to, a, b) : vpmullq(to, a, b);
        if (without_sign && greatest) return narrow ? vpmaxud(to, a, b) : vpmaxuq(to, a, b);
        if (without_sign) return narrow ? vpminud(to, a, b) : vpminuq(to, a, b);
        if (greatest) return narrow ? vpmaxsd(to, a, b) : vpmaxsq(to, a, b);
        return narrow ? vpminsd(to, a, b) : vpminsq(to, a, b);
    }

    void own(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from) override {
        if (line.lane == Lane::mask) return truth(line, mask(to), from);
        Xmm result = reg(to, line.lane), a = reg(from[0], line.from == Lane::none ? line.lane : line.from);
        bool narrow = width_of(line.lane) == 4;
        switch (line.op) {
            case VectorOp::select: {
                Xmm yes = reg(from[1], line.lane), no = reg(from[2], line.lane);
                return narrow ? vblendmps(result | mask(from[0]), no, yes) : vblendmpd(result | mask(from[0]), no, yes);
            }
            case VectorOp::bit_and:
                return vpandd(result, a, reg(from[1], line.lane));
            case VectorOp::bit_or:
                return vpord(result, a, reg(from[1], line.lane));
            case VectorOp::bit_xor:
                return vpxord(result, a, reg(from[1], line.lane));
            case VectorOp::round:
                return narrow ? vrndscaleps(result, a, rounding(line)) : vrndscalepd(result, a, rounding(line));
            case VectorOp::about_inverse_root:
                return narrow ? vrsqrt14ps(result, a) : vrsqrt14pd(result, a);
            case VectorOp::scale:
                if (from[2] >= 0) result = result | mask(from[2]) | T_z;
                return narrow ? vscalefps(result, a, reg(from[1], line.lane))
                              : vscalefpd(result, a, reg(from[1], line.lane));
            default:
                return convert(line, result, a) ? void() : wide_integers(line, result, a, from);
        }
    }
    static std::uint8_t rounding(const Line& line) { return static_cast<std::uint8_t>(8 | line.immediate); }

    void wide_integers(const Line& line, const Xmm& result, const Xmm& a, const std::array<std::int32_t, 3>& from) {
        Xmm b = from[1] >= 0 ? reg(from[1], line.lane) : a;
        switch (line.op) {
            case VectorOp::int_multiply:
                return vpmullq(result, a, b);
            case VectorOp::int_lesser:
                return vpminsq(result, a, b);
            case VectorOp::int_greater:
                return vpmaxsq(result, a, b);
            case VectorOp::unsigned_lesser:
                return vpminuq(result, a, b);
            case VectorOp::unsigned_greater:
                return vpmaxuq(result, a, b);
            case VectorOp::shift_right:
                return vpsraq(result, a, static_cast<std::uint8_t>(std::min<std::uint64_t>(line.immediate, 64)));
            case VectorOp::shift_right_by:
                return vpsravq(result, a, b);
            default:
                throw InternalError(text("avx512 emitter: no instruction for operation ", static_cast<int>(line.op)));
        }
    }

    void truth(const Line& line, const Opmask& to, const std::array<std::int32_t, 3>& from) {
        auto imm = static_cast<std::uint8_t>(line.immediate & 31);
        switch (line.op) {
            case VectorOp::compare: {
                Xmm a = reg(from[0], line.from), b = reg(from[1], line.from);
                return width_of(line.from) == 4 ? vcmpps(to, a, b, imm) : vcmppd(to, a, b, imm);
            }
            case VectorOp::int_compare:
                return compare(line, to, reg(from[0], line.from), reg(from[1], line.from));
            case VectorOp::mask_and:
                return kandw(to, mask(from[0]), mask(from[1]));
            case VectorOp::mask_and_not:
                return kandnw(to, mask(from[1]), mask(from[0]));
            case VectorOp::mask_or:
                return korw(to, mask(from[0]), mask(from[1]));
            case VectorOp::mask_xor:
                return kxorw(to, mask(from[0]), mask(from[1]));
            case VectorOp::mask_not:
                return knotw(to, mask(from[0]));
            default:
                throw InternalError(text("avx512 emitter: no truth of operation ", static_cast<int>(line.op)));
        }
    }

    void compare(const Line& line, const Opmask& to, const Xmm& a, const Xmm& b) {
        auto predicate = static_cast<std::uint8_t>(line.immediate & 7);
        bool without_sign = line.immediate & static_cast<unsigned>(IntPredicate::is_unsigned);
        if (line.immediate == static_cast<unsigned>(IntPredicate::apart))
            return width_of(line.from) == 4 ? vptestnmd(to, a, b) : vptestnmq(to, a, b);
        if (width_of(line.from) == 4)
            without_sign ? vpcmpud(to, a, b, predicate) : vpcmpd(to, a, b, predicate);
        else
            without_sign ? vpcmpuq(to, a, b, predicate) : vpcmpq(to, a, b, predicate);
    }

    /// From the lane of a to the line's; false if the line is no conversion.
    bool convert(const Line& line, const Xmm& to, const Xmm& a) {
        bool narrow = width_of(line.lane) == 4, from_narrow = width_of(line.from) == 4;
        Xmm bytes = half(spare_number);
        switch (line.op) {
            case VectorOp::to_float:
                if (from_narrow)
                    narrow ? vcvtdq2ps(to, a) : vcvtdq2pd(to, a);
                else
                    narrow ? vcvtqq2ps(to, a) : vcvtqq2pd(to, a);
                return true;
            case VectorOp::unsigned_to_float:
                if (from_narrow)
                    narrow ? vcvtudq2ps(to, a) : vcvtudq2pd(to, a);
                else
                    narrow ? vcvtuqq2ps(to, a) : vcvtuqq2pd(to, a);
                return true;
            case VectorOp::to_int:
                if (narrow)
                    from_narrow ? vcvttps2dq(to, a) : vcvttpd2dq(to, a);
                else
                    from_narrow ? vcvttps2qq(to, a) : vcvttpd2qq(to, a);
                return true;
            case VectorOp::to_unsigned:
                if (narrow)
                    from_narrow ? vcvttps2udq(to, a) : vcvttpd2udq(to, a);
                else
                    from_narrow ? vcvttps2uqq(to, a) : vcvttpd2uqq(to, a);
                return true;
            case VectorOp::resize:
                from_narrow ? vcvtps2pd(to, a) : vcvtpd2ps(to, a);
                return true;
            case VectorOp::extend:
                return vpmovsxdq(to, a), true;
            case VectorOp::extend_unsigned:
                return vpmovzxdq(to, a), true;
            case VectorOp::narrow:
                return vpmovqd(to, a), true;
            case VectorOp::half_to_float:
                if (wide_lanes()) bytes = Xmm(spare_number);
                vpmovdw(bytes, a);
                return vcvtph2ps(to, bytes), true;
            case VectorOp::round_to_half:
                if (wide_lanes()) bytes = Xmm(spare_number);
                vcvtps2ph(bytes, a, 0);
                return vcvtph2ps(to, bytes), true;
            case VectorOp::float_to_half:
                if (wide_lanes()) bytes = Xmm(spare_number);
                vcvtps2ph(bytes, a, 0);
                return vpmovzxwd(to, bytes), true;
            default:
                return false;
        }
    }
};

}  // namespace

std::unique_ptr<Writer> avx512_writer(const KernelPlan& plan, void* memory, std::size_t size) {
    return std::make_unique<Avx512Writer>(plan, memory, size);
}

}  // namespace weft::cpu::emit

#endif
