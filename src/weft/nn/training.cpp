#include "weft/nn/training.h"

#include <utility>

namespace weft::nn {
namespace {

thread_local bool now_training = false;

}  // namespace

Training::Training(bool training) : outer_(std::exchange(now_training, training)) {}
Training::~Training() { now_training = outer_; }

bool training() { return now_training; }

}  // namespace weft::nn
