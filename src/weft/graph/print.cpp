// Tensors as NumPy prints arrays: rows in brackets, columns aligned, the middle of large arrays left out.
#include <charconv>
#include <cmath>

#include "weft/graph/tensor.h"

namespace weft {
namespace {

constexpr std::int64_t summarize_above = 1000;  // elements; NumPy's threshold
constexpr std::int64_t edge = 3;                // shown at each end of a summarized axis
constexpr std::size_t line_width = 75;          // columns; NumPy's

std::string digits(double value, std::chars_format format, int precision) {
    char buffer[400];
    auto end = precision < 0 ? std::to_chars(buffer, buffer + sizeof buffer, value, format)
                             : std::to_chars(buffer, buffer + sizeof buffer, value, format, precision);
    return std::string(buffer, end.ptr);
}

std::string shortest(double value, bool single, std::chars_format format) {
    char buffer[400];
    auto end = single ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value), format)
                      : std::to_chars(buffer, buffer + sizeof buffer, value, format);
    return std::string(buffer, end.ptr);
}

// How the numbers of one array are written: as fixed point or with exponents, with at most 8 digits after the point.
class FloatFormat {
  public:
    FloatFormat(const std::vector<double>& values, bool single) : single_(single) {
        double largest = 0, smallest = std::numeric_limits<double>::infinity();
        for (double v : values) {
            if (!std::isfinite(v) || v == 0) continue;
            largest = std::max(largest, std::abs(v)), smallest = std::min(smallest, std::abs(v));
        }
        if (largest > 0) scientific_ = largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000;
        for (double v : values) fraction_ = std::max(fraction_, fraction(written(v)));
    }
    std::string operator()(double value) const {
        if (std::isnan(value)) return "nan";
        if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
        std::string out = written(value);
        std::size_t have = fraction(out);
        if (scientific_) return out.insert(out.find('e'), fraction_ - have, '0');
        return out + std::string(fraction_ - have, ' ');  // NumPy pads with blanks: 1. and 2.5 stand under each other
    }

  private:
    static std::size_t fraction(const std::string& s) {
        std::size_t point = s.find('.');
        return point == std::string::npos ? 0 : std::min(s.find('e'), s.size()) - point - 1;
    }
    std::string written(double value) const {
        if (!std::isfinite(value)) return "";
        auto format = scientific_ ? std::chars_format::scientific : std::chars_format::fixed;
        std::string exact = shortest(value, single_, format), out = exact;
        if (fraction(exact) > 8) {
            out = digits(value, format, 8);
            std::size_t end = std::min(out.find('e'), out.size()), last = out.find_last_not_of('0', end - 1);
            out.erase(last + 1, end - last - 1);
        }
        if (out.find('.') == std::string::npos) out.insert(std::min(out.find('e'), out.size()), ".");
        return out;
    }
    bool single_, scientific_ = false;
    std::size_t fraction_ = 0;
};

class Printer {
  public:
    /// `separator` stands between numbers; `column`: where the first line begins.
    Printer(const Array& array, std::string separator, std::size_t column)
        : array_(array),
          separator_(std::move(separator)),
          column_(column),
          summarized_(array.size() > summarize_above) {
        visit(0, array.offset, [&](std::int64_t at) { gather(at); });
        bool single = array.dtype != DType::float64 && array.dtype != DType::complex128;
        if (!reals_.empty()) real_ = std::make_unique<FloatFormat>(reals_, single);
        if (!imaginaries_.empty()) imaginary_ = std::make_unique<FloatFormat>(imaginaries_, single);
        visit(0, array.offset, [&](std::int64_t at) { width_ = std::max(width_, element(at).size()); });
    }
    std::string print() {
        if (array_.ndim() == 0) return element(array_.offset);
        return rows(0, array_.offset, std::string(column_ + 1, ' '), line_width - (column_ > 0));
    }

  private:
    Literal value(std::int64_t at) const {
        return with_dtype(array_.dtype, [&](auto tag) -> Literal {
            using T = typename decltype(tag)::Type;
            T v = reinterpret_cast<const T*>(array_.buffer->data())[at];
            if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
                return Literal(static_cast<float>(v));
            else if constexpr (std::is_arithmetic_v<T>)
                return Literal(v);
            else
                return Literal(std::complex<double>(v));
        });
    }
    void gather(std::int64_t at) {
        Literal v = value(at);
        if (v.kind == Kind::floating || v.kind == Kind::complex) reals_.push_back(v.real);
        if (v.kind == Kind::complex) imaginaries_.push_back(std::abs(v.imaginary));
    }
    std::string element(std::int64_t at) const {
        Literal v = value(at);
        if (v.kind == Kind::boolean) return v.integer ? "True" : "False";
        if (v.kind == Kind::floating) return (*real_)(v.real);
        if (v.kind == Kind::complex)
            return (*real_)(v.real) + (std::signbit(v.imaginary) ? "-" : "+") + (*imaginary_)(std::abs(v.imaginary)) +
                   "j";
        return text(v);
    }
    bool skips(std::size_t axis, std::int64_t i) const {
        return summarized_ && array_.dims[axis] > 2 * edge && i == edge;
    }
    std::int64_t resume(std::size_t axis) const { return array_.dims[axis] - edge; }

    // Depth is the number of axes, not the size of a graph.
    template <class F>
    void visit(std::size_t axis, std::int64_t at, const F& f) {
        if (axis == array_.ndim()) return f(at);
        for (std::int64_t i = 0; i < array_.dims[axis]; ++i) {
            if (skips(axis, i)) i = resume(axis);
            visit(axis + 1, at + i * array_.strides[axis], f);
        }
    }
    /// The axes from `axis` on, in brackets; lines after the first begin with `indent`, and end `width` columns from the left.
    std::string rows(std::size_t axis, std::int64_t at, const std::string& indent, std::size_t width) const {
        bool last = axis + 1 == array_.ndim();
        std::string out, line = indent;
        std::string end(separator_.find_last_not_of(' ') + 1 ? "," : "");
        end += std::string(array_.ndim() - axis - 1, '\n');
        auto add = [&](const std::string& word, bool more) {
            if (!last) {
                out += indent + word + (more ? end : "");
                return;
            }
            if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
                out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
                line = indent;
            }
            line += word + (more ? separator_ : "");
        };
        for (std::int64_t i = 0; i < array_.dims[axis]; ++i) {
            if (skips(axis, i)) {
                add("...", true);
                i = resume(axis);
            }
            std::int64_t next = at + i * array_.strides[axis];
            add(last ? padded(element(next)) : rows(axis + 1, next, indent + ' ', width - 1),
                i + 1 < array_.dims[axis]);
        }
        if (last) out += line;
        return '[' + (out.empty() ? out : out.substr(indent.size())) + ']';
    }
    std::string padded(const std::string& word) const { return std::string(width_ - word.size(), ' ') + word; }

    const Array& array_;
    std::string separator_;
    std::size_t column_;
    bool summarized_;
    std::vector<double> reals_, imaginaries_;
    std::unique_ptr<FloatFormat> real_, imaginary_;
    std::size_t width_ = 0;
};

}  // namespace

std::string str(const Tensor& tensor) {
    Array array = tensor.array();
    return Printer(array, " ", 0).print();
}

std::string repr(const Tensor& tensor) {
    Array array = tensor.array();
    std::string out = "array(" + Printer(array, ", ", 6).print();
    bool default_type = array.dtype == DType::int64 || array.dtype == DType::bool_;
    if (default_type && array.size() > 0) return out + ")";
    std::string type = text("dtype=", array.dtype, ")");
    std::size_t line = out.size() - (out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1);
    if (array.size() == 0 && array.ndim() > 1) type = text("shape=", array.dims, ", ", type);
    return out + (line + type.size() + 2 > line_width ? ",\n      " : ", ") + type;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << str(tensor); }

}  // namespace weft
