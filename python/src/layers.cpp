// What layers need beside functions: first values of weights (nn/initialize.h) and recurrent layers, as weft._core.nn.
#include "typed.h"
#include "weft/nn/functional/recurrent.h"
#include "weft/nn/initialize.h"

namespace weft::python {
using typed::bind;

namespace {

namespace functional = weft::nn::functional;
namespace init = weft::nn::init;

DType or_float32(std::optional<DType> dtype) { return dtype.value_or(DType::float32); }

using Draw = Tensor (*)(const Dims&, double, const Tensor&, DType);

void bind_initial_values(nb::module_& m) {
    auto gained = [&](const char* name, Draw draw) {
        bind(m, name, [draw](const Dims& shape, double gain, const Tensor& key, std::optional<DType> dtype) {
            return draw(shape, gain, key, or_float32(dtype));
        });
    };
    gained("xavier_uniform", init::xavier_uniform);
    gained("xavier_normal", init::xavier_normal);
    gained("orthogonal", init::orthogonal);
    auto between = [&](const char* name, auto draw) {
        bind(m, name, [draw](const Dims& shape, double a, double b, const Tensor& key, std::optional<DType> dtype) {
            return draw(shape, a, b, key, or_float32(dtype));
        });
    };
    between("uniform", init::uniform);
    between("normal", init::normal);
    bind(m, "truncated_normal",
         [](const Dims& shape, double mean, double deviation, double low, double high, const Tensor& key,
            std::optional<DType> dtype) {
             return init::truncated_normal(shape, mean, deviation, low, high, key, or_float32(dtype));
         });
    bind(m, "sparse",
         [](const Dims& shape, std::int64_t inputs, double deviation, const Tensor& key, std::optional<DType> dtype) {
             return init::sparse(shape, inputs, deviation, key, or_float32(dtype));
         });
    bind(m, "fan_of", [](const Dims& shape) {
        init::Fan fan = init::fan_of(shape);
        return std::pair(fan.in, fan.out);
    });
    bind(m, "gain", [](std::string_view nonlinearity, double slope) { return init::gain(nonlinearity, slope); });
}

functional::RecurrentWeights weights_in(const std::vector<Tensor>& list, std::size_t first, bool bias, bool projected) {
    functional::RecurrentWeights w{list[first], list[first + 1]};
    if (bias) w.b_ih = list[first + 2], w.b_hh = list[first + 3];
    if (projected) w.w_hr = list[first + (bias ? 4 : 2)];
    return w;
}

void bind_recurrent(nb::module_& m) {
    using namespace functional;
    bind(m, "recurrent_cell",
         [](std::string_view kind, const Operand& x, const Tensor& h, const Tensor& c, const Tensor& w_ih,
            const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
             RecurrentState next = recurrent_cell(recurrence_named(kind), x, {h, c}, {w_ih, w_hh, b_ih, b_hh});
             return std::pair(next.h, next.c);
         });
    // The weights in one list, as PyTorch's layers hold them.
    bind(m, "recurrent",
         [](std::string_view kind, const Operand& x, const Tensor& h, const Tensor& c, const std::vector<Tensor>& flat,
            bool bias, bool projected, bool bidirectional, bool batch_first, double dropout, bool training,
            const Tensor& lengths, const Tensor& key) {
             std::size_t each = 2 + (bias ? 2 : 0) + (projected ? 1 : 0);
             if (flat.empty() || flat.size() % each != 0)
                 throw ValueError(text("recurrent: ", flat.size(), " weights are not ", each, " for each layer"));
             std::vector<RecurrentWeights> weights;
             for (std::size_t i = 0; i < flat.size(); i += each)
                 weights.push_back(weights_in(flat, i, bias, projected));
             RecurrentResult found =
                 recurrent(x, {h, c}, weights,
                           {recurrence_named(kind), bidirectional, batch_first, dropout, training, lengths, key});
             return std::tuple(found.output, found.last.h, found.last.c);
         });
}

}  // namespace

void bind_layers(nb::module_& module) {
    bind_initial_values(module);
    bind_recurrent(module);
}

}  // namespace weft::python
