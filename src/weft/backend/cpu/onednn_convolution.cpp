#include "weft/backend/cpu/onednn_convolution.h"

#include "weft/found.h"

#if WEFT_HAVE_ONEDNN

#include <algorithm>
#include <mutex>
#include <vector>

#include "weft/backend/cpu/added_copies.h"
#include "weft/backend/cpu/late_library.h"
#include "weft/backend/cpu/library_threads.h"
#include "weft/backend/cpu/onednn_program.h"
#include "weft/base/error.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

using dnnl::memory;
using onednn::Handles;
using onednn::round_up;

// There are at most so many blocks; fewer where each block has a copy of the weights' gradient to be summed afterwards.
constexpr std::int64_t most_blocks = 16, most_gradients = 8, most_gradient_elements = 4 << 20,
                       least_gradient_work = 1 << 22;
// Pixels that each of several copies sums up: else adding the copies takes as long as making them (8 x 128 x 8 x 8 to 128 by 5 x 5 0.5 of the time).
constexpr std::int64_t least_gradient_pixels = 128;

void execute(const dnnl::primitive& primitive, const dnnl::stream& stream, const dnnl_exec_arg_t* arguments,
             int count) {
    dnnl_status_t status = dnnl_primitive_execute(primitive.get(), stream.get(), count, arguments);
    if (status == dnnl_out_of_memory) throw OutOfMemory("convolution: oneDNN found no memory");
    promise(status == dnnl_success, "oneDNN refused a convolution that it had prepared");
}

/// What one run needs of oneDNN's objects: handles for each slot and size of block.
struct Team {
    std::vector<Handles> of_full, of_rest;
};

class OneDnnWay final : public Convolution::Way {
  public:
    OneDnnWay(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides, const Use& use)
        : kind_(kind),
          slots_(use.block ? 1 : ThreadPool::instance().threads()),
          batch_(shape.batch),
          strides_(strides) {
        OneOpenMpThread guard;  // while primitives are made, too: how they split their work is decided then
        images_ = use.block ? batch_ : images_of_block(kind, shape);
        blocks_ = (batch_ + images_ - 1) / images_;
        auto* first = dynamic_cast<const OneDnnWay*>(use.first);
        std::optional<memory::desc> weights;
        if (first) weights = first->weight_of(first->full_).inner;
        full_ = onednn::convolution_program(kind, shape, strides, images_, weights);
        packed_outside_ = kind != ConvolutionKind::backward_weight && use.packs() && (first || !use.first);
        std::int64_t rest = batch_ % images_;
        if (rest > 0) rest_ = onednn::convolution_program(kind, shape, strides, rest, weight_of(full_).inner);
        plan_scratch();
        teams_.push_back(make_team());
    }

    std::size_t scratch_bytes() const override {
        return (packed_outside_ ? 0 : shared_) + static_cast<std::size_t>(slots_) * each_slot_;
    }
    std::size_t packed_bytes() const override { return packed_outside_ ? shared_ : 0; }
    void pack(const void* weights, void* packed) const override {
        std::unique_ptr<Team> team = take_team();
        inner_weights(*team, weights, static_cast<std::byte*>(packed));
        give_back(std::move(team));
    }
    std::string implementation() const override { return "oneDNN " + full_.name; }

    void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const override {
        std::unique_ptr<Team> team = take_team();
        auto* memory = static_cast<std::byte*>(scratch);
        bool gradient = kind_ == ConvolutionKind::backward_weight;
        const void* weights = packed;
        if (!packed && !gradient) weights = inner_weights(*team, second, memory);
        std::byte* spaces = packed ? memory : memory + shared_;
        auto block = [&](std::int64_t index, int slot) {
            std::byte* space = spaces + static_cast<std::size_t>(slot) * each_slot_;
            if (gradient)
                gradient_block(*team, index, slot, first, second, partial(index, result, memory), space);
            else
                convolve_block(*team, index, slot, first, weights, result, space);
        };
        parallel_for(blocks_, block, slots_);
        if (gradient) join_gradients(*team, result, memory);
        give_back(std::move(team));
    }

  private:
    static std::int64_t images_of_block(ConvolutionKind kind, const ConvolutionShape& s) {
        std::int64_t weights = s.out_channels * (s.in_channels / s.groups), pixels = 1, work = work_of_image(s),
                     most = most_blocks, least = work_of_block(s.batch * work);
        for (int axis = 0; axis < s.ndim; ++axis) weights *= s.kernel[axis], pixels *= s.out[axis];
        if (kind == ConvolutionKind::backward_weight) {
            most = std::clamp<std::int64_t>(
                std::min(most_gradient_elements / weights, s.batch * pixels / least_gradient_pixels), 2,
                most_gradients);
            least = least_gradient_work;
        }
        std::int64_t images = std::max(divide_up(s.batch, most), divide_up(least, work));
        return std::min(images, s.batch);
    }

    const onednn::Operand& weight_of(const onednn::Program& p) const {
        return kind_ == ConvolutionKind::backward_weight ? p.result : p.second;
    }

    void plan_scratch() {
        const onednn::Operand& weights = weight_of(full_);
        if (kind_ != ConvolutionKind::backward_weight)
            shared_ = weights.bytes();
        else if (blocks_ > 1 || weights.reordered)
            shared_ = static_cast<std::size_t>(blocks_) * round_up(weights.inner.get_size());
        for (const onednn::Program* p : {&full_, rest_ ? &*rest_ : &full_}) {
            std::size_t bytes = p->scratchpad + p->first.bytes();
            bytes += kind_ == ConvolutionKind::backward_weight ? p->second.bytes() : p->result.bytes();
            each_slot_ = std::max(each_slot_, bytes);
        }
    }

    std::unique_ptr<Team> make_team() const {
        auto team = std::make_unique<Team>();
        for (int slot = 0; slot < slots_; ++slot) {
            team->of_full.emplace_back(full_);
            if (rest_) team->of_rest.emplace_back(*rest_);
        }
        return team;
    }
    std::unique_ptr<Team> take_team() const {
        {
            std::lock_guard lock(mutex_);
            if (!teams_.empty()) {
                std::unique_ptr<Team> team = std::move(teams_.back());
                teams_.pop_back();
                return team;
            }
        }
        return make_team();  // another thread runs this convolution at the same time
    }
    void give_back(std::unique_ptr<Team> team) const {
        std::lock_guard lock(mutex_);
        teams_.push_back(std::move(team));
    }

    bool is_rest(std::int64_t block) const { return rest_ && block == blocks_ - 1; }
    const onednn::Program& program(std::int64_t block) const { return is_rest(block) ? *rest_ : full_; }
    Handles& handles(Team& team, std::int64_t block, int slot) const {
        return (is_rest(block) ? team.of_rest : team.of_full)[static_cast<std::size_t>(slot)];
    }

    static void point(memory& handle, const void* at) {
        dnnl_memory_set_data_handle(handle.get(), const_cast<void*>(at));
    }
    static void reorder(const onednn::Operand& operand, const dnnl::stream& stream, const memory& from,
                        const memory& to) {
        dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
        execute(operand.reorder, stream, arguments, 2);
    }
    /// Where the primitive finds an operand that the user has at `data`: there, or reordered into `space`, which moves
    /// on.
    static void bring(const onednn::Operand& operand, Handles::Pair& pair, const dnnl::stream& stream, const void* data,
                      std::byte*& space) {
        if (!operand.reordered) return point(pair.inner, data);
        point(pair.user, data);
        point(pair.inner, space);
        reorder(operand, stream, pair.user, pair.inner);
        space += operand.bytes();
    }

    const void* inner_weights(Team& team, const void* weights, std::byte* scratch) const {
        if (!full_.second.reordered) return weights;
        OneOpenMpThread guard;
        Handles& h = team.of_full[0];
        std::byte* space = scratch;
        bring(full_.second, h.second, h.stream, weights, space);
        return scratch;
    }

    const void* image(const void* data, const WindowStrides& strides, std::int64_t block) const {
        return static_cast<const float*>(data) + block * images_ * strides.batch;
    }

    void convolve_block(Team& team, std::int64_t block, int slot, const void* first, const void* weights, void* result,
                        std::byte* space) const {
        OneOpenMpThread guard;
        const onednn::Program& p = program(block);
        Handles& h = handles(team, block, slot);
        bool forward = kind_ == ConvolutionKind::forward;
        bring(p.first, h.first, h.stream, image(first, forward ? strides_.input : strides_.output, block), space);
        point(h.second.inner, weights);
        const void* to = image(result, forward ? strides_.output : strides_.input, block);
        point(h.result.inner, p.result.reordered ? space : to);
        point(h.scratchpad, space + p.result.bytes());
        dnnl_exec_arg_t arguments[] = {{forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST, h.first.inner.get()},
                                       {DNNL_ARG_WEIGHTS, h.second.inner.get()},
                                       {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC, h.result.inner.get()},
                                       {DNNL_ARG_SCRATCHPAD, h.scratchpad.get()}};
        execute(p.primitive, h.stream, arguments, 4);
        if (!p.result.reordered) return;
        point(h.result.user, to);
        reorder(p.result, h.stream, h.result.inner, h.result.user);
    }

    /// Where block `index` leaves its gradient of the weights, in the library's layout.
    void* partial(std::int64_t index, void* result, std::byte* scratch) const {
        return shared_ == 0 ? result
                            : scratch + static_cast<std::size_t>(index) * round_up(full_.result.inner.get_size());
    }

    void gradient_block(Team& team, std::int64_t block, int slot, const void* input, const void* output, void* weights,
                        std::byte* space) const {
        OneOpenMpThread guard;
        const onednn::Program& p = program(block);
        Handles& h = handles(team, block, slot);
        bring(p.first, h.first, h.stream, image(input, strides_.input, block), space);
        bring(p.second, h.second, h.stream, image(output, strides_.output, block), space);
        point(h.result.inner, weights);
        point(h.scratchpad, space);
        dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, h.first.inner.get()},
                                       {DNNL_ARG_DIFF_DST, h.second.inner.get()},
                                       {DNNL_ARG_DIFF_WEIGHTS, h.result.inner.get()},
                                       {DNNL_ARG_SCRATCHPAD, h.scratchpad.get()}};
        execute(p.primitive, h.stream, arguments, 4);
    }

    void join_gradients(Team& team, void* result, std::byte* scratch) const {
        if (shared_ == 0) return;
        auto elements = static_cast<std::int64_t>(full_.result.inner.get_size() / sizeof(float));
        auto apart = static_cast<std::int64_t>(round_up(full_.result.inner.get_size()) / sizeof(float));
        add_copies(static_cast<float*>(partial(0, result, scratch)), blocks_, apart, elements);
        OneOpenMpThread guard;
        Handles& h = team.of_full[0];
        point(h.result.inner, scratch);
        point(h.result.user, result);
        if (full_.result.reordered)
            reorder(full_.result, h.stream, h.result.inner, h.result.user);
        else
            std::copy_n(reinterpret_cast<const float*>(scratch), elements, static_cast<float*>(result));
    }

    ConvolutionKind kind_;
    int slots_;
    std::int64_t batch_, images_ = 1, blocks_ = 1;
    ConvolutionStrides strides_;
    onednn::Program full_;
    std::optional<onednn::Program> rest_;
    std::size_t shared_ = 0, each_slot_ = 0;
    bool packed_outside_ = false;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Team>> teams_;  // those at rest
};

/// Strides that oneDNN can describe: positive ones.
bool describable(const WindowStrides& strides, const Spatial& sizes) {
    if (strides.batch <= 0 || strides.channel <= 0) return false;
    for (int axis = 0; axis < most_spatial; ++axis)
        if (sizes[axis] > 1 && strides.spatial[axis] <= 0) return false;
    return true;
}

}  // namespace

/// oneDNN 2.6 sums rows of the kernel along the first of three axes that it never began, and writes beyond its memory, where that axis moves by
/// several and its padding reaches further than a step: wrong for kernels 4 to 9, of 7 by 7 by 7 in twos with a depth of 5 to 7.
static bool writes_beyond_weights(const ConvolutionShape& s) {
    return s.kernel[0] > 1 && s.stride[0] > 1 && s.pad_lo[0] > s.stride[0];
}

std::unique_ptr<const Convolution::Way> onednn_convolution(ConvolutionKind kind, const ConvolutionShape& shape,
                                                           const ConvolutionStrides& strides,
                                                           const Convolution::Way::Use& use) {
    std::int64_t least = std::min({shape.batch, shape.in_channels, shape.out_channels});
    for (int axis = 0; axis < most_spatial; ++axis) least = std::min({least, shape.in[axis], shape.out[axis]});
    if (least == 0 || !describable(strides.input, shape.in) || !describable(strides.weight, shape.kernel) ||
        !describable(strides.output, shape.out) || !is_there(LateLibrary::onednn))
        return nullptr;
    if (kind == ConvolutionKind::backward_weight && writes_beyond_weights(shape)) return nullptr;
    try {
        auto way = std::make_unique<OneDnnWay>(kind, shape, strides, use);
        bool plain = way->implementation().find("ref") != std::string::npos;  // its plain loops: ours are better
        bool follows = use.first && way->packed_bytes() > 0;
        if (plain && !follows) return nullptr;
        return way;
    } catch (const dnnl::error&) {
        return nullptr;  // it has nothing for this
    }
}

}  // namespace weft::cpu

#else

namespace weft::cpu {

std::unique_ptr<const Convolution::Way> onednn_convolution(ConvolutionKind, const ConvolutionShape&,
                                                           const ConvolutionStrides&, const Convolution::Way::Use&) {
    return nullptr;
}

}  // namespace weft::cpu

#endif
