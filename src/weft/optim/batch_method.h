// Methods that ask for the loss at several points before they move: L-BFGS, nonlinear conjugate gradients, gradient descent with a line
// search. They want a loss without noise: the whole training set or a large batch, with what is drawn at random held fixed in a step
// (train/objective.cpp does so). Points and directions are computed in double on one thread, so results are the same for any number of
// threads; the state lies in cells between steps, so a run goes on bit for bit. Callers: train/, Python, users.
#pragma once

#include "weft/optim/line_search.h"
#include "weft/optim/optimizer.h"

namespace weft::optim {

class BatchMethod : public Optimizer {
  public:
    /// The loss of the parameters as they are; their gradients are put into the vector.
    using Measure = std::function<double(std::vector<Tensor>& gradients)>;

    /// One step: iterations that lower the loss of one batch. Gives the loss before it. Where no lower loss is found, or the loss is not
    /// finite, parameters stay as they are.
    double minimise(std::span<const Parameter> parameters, const Measure& measure);
    /// How long the last iteration's step was, as a multiple of its direction.
    virtual double last_step() const { return lr(); }

  protected:
    BatchMethod(std::string_view name) : Optimizer(name, 0, {}) {}

    using Vector = std::vector<double>;
    /// The parameters as one vector, while a step is made.
    struct Point {
        Vector x, gradient;
        double loss = 0;
    };
    /// Loss and gradient at x.
    using Evaluate = std::function<double(const Vector& x, Vector& gradient)>;
    virtual void iterate(Point& point, const Evaluate& evaluate) = 0;

    /// The state cells of this number, of all parameters, as one vector.
    Vector read(std::size_t number) const;
    void write(std::size_t number, const Vector& values);
    /// A point along a direction, and whether there is one (none for no search: then it is the point at `first`).
    static std::optional<LinePoint> search(LineSearch search, const Point& point, const Vector& direction, double first,
                                           const Evaluate& evaluate);
    /// Moves there.
    static void go(Point& point, const Vector& direction, LinePoint to);

  private:
    void update(DType, std::span<Slot*>) override;
};

double dot(std::span<const double> a, std::span<const double> b);

struct LBFGSOptions {
    double lr = 1;  ///< the step that is tried first, or taken if there is no search
    std::int64_t max_iter = 20;
    std::int64_t max_eval = 0;  ///< losses asked for in a step, after which no iteration begins; 0: 5/4 of max_iter
    double tolerance_grad = 1e-7, tolerance_change = 1e-9;
    std::int64_t history_size = 100;
    LineSearch line_search = nullptr;
    bool across_batches =
        true;  ///< gradients of one step are compared with those of the step before: for batches that are all the same
};

/// Nocedal (1980), Liu and Nocedal (1989): PyTorch's options, defaults and rules of ending; with a line search of weft's own.
class LBFGS final : public BatchMethod {
  public:
    explicit LBFGS(LBFGSOptions options = {});
    double last_step() const override;

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void iterate(Point& point, const Evaluate& evaluate) override;
    struct Memory;
    Memory remembered();
    void remember(const Memory& memory);
    LBFGSOptions options_;
};

enum class Conjugate { none, polak_ribiere, fletcher_reeves };

struct ConjugateGradientOptions {
    Conjugate formula = Conjugate::polak_ribiere;
    LineSearch line_search = strict_wolfe;
    std::int64_t iterations = 10;  ///< of a step
    double lr =
        0.1;  ///< the first step that is ever tried, along the gradient; then the rate is the step that was taken
    bool across_batches = false;  ///< directions go on from one step to the next: for batches that are all the same
};

/// Nonlinear conjugate gradients: direction = -g + beta * direction, with beta = max(0, g.(g - g_old) / g_old.g_old) (Polak and Ribiere,
/// 1969; PR+) or g.g / g_old.g_old (Fletcher and Reeves, 1964). Without a formula: gradient descent with a line search.
class ConjugateGradient final : public BatchMethod {
  public:
    explicit ConjugateGradient(ConjugateGradientOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void iterate(Point& point, const Evaluate& evaluate) override;
    double beta(const Vector& gradient, const Vector& before) const;
    ConjugateGradientOptions options_;
};

}  // namespace weft::optim
