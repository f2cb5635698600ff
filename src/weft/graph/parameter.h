// Parameter: a named cell that holds a Tensor and can be given a new one; the only thing in weft that changes. Weights, optimizer
// state, running statistics and the state of generators are Parameters, so the set of cells is the checkpoint.
// A Parameter is a handle: copies share the cell. While a function is being traced, reads and writes go to the tracer.
// Callers: nn/, optim/, random, runtime/ (tracing).
#pragma once

#include <memory>
#include <string>

#include "weft/graph/tensor.h"

namespace weft {

struct Cell {
    std::string name;
    Tensor value;
    bool trainable = true;  // takes part in parameters(); a running mean does not
};

class Parameter {
  public:
    Parameter();
    explicit Parameter(const Tensor& value, std::string name = "", bool trainable = true);

    /// A handle to a cell that is there already (null: a handle to nothing, of which only cell() may be asked).
    explicit Parameter(std::shared_ptr<Cell> cell) : cell_(std::move(cell)) {}

    /// The value now (in a traced function: the value when it is called).
    Tensor value() const;
    operator Tensor() const { return value(); }
    /// ShapeError or DTypeError if the new value's shape or dtype differs from the old one's.
    void set(const Tensor& value, std::source_location where = std::source_location::current());

    const std::string& name() const { return cell_->name; }
    void rename(std::string name) { cell_->name = std::move(name); }
    bool trainable() const { return cell_->trainable; }
    void freeze(bool frozen = true) { cell_->trainable = !frozen; }
    const std::shared_ptr<Cell>& cell() const { return cell_; }
    Shape shape() const { return cell_->value.shape(); }
    DType dtype() const { return cell_->value.dtype(); }

  private:
    std::shared_ptr<Cell> cell_;
};

/// Sees the reads and writes of cells on this thread, in place of the cells (a tracer).
class CellObserver {
  public:
    CellObserver();
    virtual ~CellObserver();
    CellObserver(const CellObserver&) = delete;
    CellObserver& operator=(const CellObserver&) = delete;
    virtual Tensor read(const std::shared_ptr<Cell>& cell) = 0;
    virtual void write(const std::shared_ptr<Cell>& cell, const Tensor& value) = 0;
    static CellObserver* current();

  private:
    CellObserver* outer_;
};

}  // namespace weft
