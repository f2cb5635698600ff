#include "weft/runtime/trace.h"

#include <algorithm>

#include "weft/graph/node.h"

namespace weft {
namespace {

class Tracer : public CellObserver {
  public:
    explicit Tracer(std::vector<Trace::CellUse>& uses) : uses_(uses) {}

    Tensor read(const std::shared_ptr<Cell>& cell) override {
        Trace::CellUse& use = use_of(cell);
        if (use.written) return use.written;
        if (!use.placeholder) use.placeholder = input(cell->name, cell->value.shape(), cell->value.dtype());
        return use.placeholder;
    }
    void write(const std::shared_ptr<Cell>& cell, const Tensor& value) override { use_of(cell).written = value; }

  private:
    Trace::CellUse& use_of(const std::shared_ptr<Cell>& cell) {
        auto at = std::find_if(uses_.begin(), uses_.end(), [&](const Trace::CellUse& use) { return use.cell == cell; });
        if (at != uses_.end()) return *at;
        uses_.push_back({cell, {}, {}});
        return uses_.back();
    }
    std::vector<Trace::CellUse>& uses_;
};

}  // namespace

Trace trace(const CompiledFunction::Body& body, std::span<const Tensor> arguments) {
    Trace trace;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        trace.arguments.push_back(
            input(text("argument ", i), arguments[i].shape(), arguments[i].dtype(), arguments[i].node()->where));
    }
    KeepPending keep;
    Tracer tracer(trace.cells);
    trace.results = body(trace.arguments);
    for (const Tensor& result : trace.results) {
        if (!result) throw ValueError("a traced function returned an empty Tensor");
    }
    return trace;
}

}  // namespace weft
