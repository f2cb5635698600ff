// What Python's values say of an experiment, and its values in Python. Callers: experiment.cpp, search.cpp.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "bind.h"
#include "weft/base/json.h"
#include "weft/data/held.h"

namespace weft::python {

/// A part, or anything else of a file, as Python holds it, and the arrays that are named in it.
struct Description {
    Json value;
    std::vector<data::Hold> held = {};
};

/// None, numbers (NumPy's too), texts, paths, lists, dicts, parts, and data sets of arrays. DTypeError of anything else. The arrays live as long
/// as the result does.
Description described(nb::handle object);

nb::object python_value(const Json& value);

/// What Python wants while it waits for a computation: signals, and what its functions raise, end it at the next step.
class Interrupts {
  public:
    /// Asked after every step; signals wait for so long.
    bool stop();
    /// Calls a function of Python, which may be None, with what `made` gives, unless something was raised already.
    template <class F>
    void call(const nb::object& function, F made) {
        if (raised_ || function.is_none()) return;
        nb::gil_scoped_acquire held;
        try {
            function(made());
        } catch (const nb::python_error& error) {
            raised_.emplace(error);
        }
    }
    void rethrow() {
        if (raised_) throw nb::python_error(*raised_);
    }

  private:
    std::optional<nb::python_error> raised_;
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

}  // namespace weft::python
