// Whether layers that behave differently while learning (dropout, batch normalisation) are learning now: a property of the thread,
// set for a scope, read when a layer is called. A compiled function keeps the mode in which it was traced.
// Callers: train_step sets it; Dropout and BatchNorm read it.
#pragma once

namespace weft::nn {

/// While one lives, this thread's layers train (or, with false, evaluate: how it is outside of any scope).
class Training {
  public:
    explicit Training(bool training = true);
    ~Training();
    Training(const Training&) = delete;
    Training& operator=(const Training&) = delete;

  private:
    bool outer_;
};

bool training();

}  // namespace weft::nn
