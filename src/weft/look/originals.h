// Prepared examples, and what a model makes in their form, as they were before `prepare:`: whitened numbers are no pictures, what they were
// made of are. Callers: look/run_report.cpp, look/model_pictures.cpp, look/first_layer.cpp.
#pragma once

#include "weft/look/example_picture.h"
#include "weft/train/run.h"
#include "weft/viz/picture.h"

namespace weft::look {

/// Rows of numbers that can be drawn, all in one shape.
struct Pictured {
    Array rows;  // (n, planes * height * width), float32
    PictureShape shape;
    bool inverted = false;  // they went through the inverse of `prepare:`
    std::int64_t size() const { return rows.dims[0]; }
    const float* row(std::int64_t i) const { return rows.data<float>() + i * rows.dims[1]; }
};

class Originals {
  public:
    /// Of the kept phase's first input, whose prepared examples are of this shape and go by this name.
    Originals(const train::Run& run, Dims example, const std::string& input);

    /// `x` (n, ...), as many numbers a row as an example has: through the inverse of `prepare:` where it has one that leads to pictures, else as
    /// they are. ShapeError says why they are no pictures.
    Pictured pictured(const Array& x) const;
    /// The same of directions: where each row leads from the middle of the data as they were. With z = P (x - m), a row w is the change of x by
    /// which z moves along w, P^-1 w (as Pylearn2's show_weights maps weights back).
    Pictured pictured_directions(const Array& rows) const;

  private:
    /// Float32, or nothing: there is no inverse, and `why` tells.
    std::optional<Array> inverted(const Array& x, std::string& why) const;
    Array shaped(const Array& x) const;
    Pictured chosen(const Array& x, const std::optional<Array>& before, const std::string& why) const;

    data::Preparation preparation_;
    bool prepares_ = false;
    std::string knows_no_inverse_;  // or empty
    Dims example_;
};

}  // namespace weft::look
