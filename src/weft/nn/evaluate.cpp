#include "weft/nn/evaluate.h"

#include <cmath>

#include "weft/nn/loss.h"
#include "weft/nn/training.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

Tensor rows_of(const Tensor& x, std::int64_t first, std::int64_t count) {
    Shape start(x.ndim(), Size(0)), length = x.shape();
    start[0] = first, length[0] = count;
    return slice(x, start, length);
}

}  // namespace

Evaluation::Evaluation(Metrics metrics, std::string_view name)
    : function_([metrics = std::move(metrics), name = std::string(name)](std::span<const Tensor> batch) {
          Training evaluating(false);
          ModuleScope scope(name);
          return metrics(batch);
      }) {}

ErrorCounter::ErrorCounter(std::function<Tensor(const Tensor&)> predict, std::string_view name)
    : evaluation_(
          [predict = std::move(predict)](std::span<const Tensor> batch) {
              return std::vector<Tensor>{error_rate(predict(batch[0]), batch[1])};
          },
          name) {}

void ErrorCounter::add(const Tensor& x, const Tensor& labels) {
    const Tensor batch[] = {x, labels};
    std::int64_t rows = x.dims().empty() ? 1 : x.dims()[0];
    if (rows == 0) return;
    double rate = evaluation_(batch)[0].item<float>();
    wrong_ += std::llround(rate * static_cast<double>(rows));
    count_ += rows;
}

double error_rate(const std::function<Tensor(const Tensor&)>& predict, std::string_view name, const Tensor& x,
                  const Tensor& labels, std::int64_t batch_size) {
    if (x.ndim() == 0 || labels.ndim() == 0 || !(x.shape()[0] == labels.shape()[0])) {
        throw ShapeError(text("error_rate: x has shape ", x.shape(), ", the labels ", labels.shape(),
                              "; both need a row for each example"));
    }
    if (batch_size < 1) throw ValueError(text("error_rate: batch_size is ", batch_size, "; it must be at least 1"));
    ErrorCounter counter(predict, name);
    std::int64_t rows = x.dims()[0];
    for (std::int64_t first = 0; first < rows; first += batch_size) {
        std::int64_t count = std::min(batch_size, rows - first);
        counter.add(rows_of(x, first, count), rows_of(labels, first, count));
    }
    return counter.rate();
}

}  // namespace weft::nn
