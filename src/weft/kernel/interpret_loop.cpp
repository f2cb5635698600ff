// Loops by the interpreter: every point in order, sums of floating types in long double and rounded once.
#include "weft/base/error.h"
#include "weft/core/philox.h"
#include "weft/kernel/address_facts.h"
#include "weft/kernel/cell.h"
#include "weft/kernel/interpreter.h"

namespace weft {
namespace {

using namespace cell;

/// Values joined one after another, as wide as there is.
struct Joined {
    std::int64_t count = 0, best_at = 0;
    long double re = 0, im = 0;
    Cell cell{};
};

bool is_nan(const Cell& cell, DType dtype) {
    return with_rep(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_floating_point_v<T>)
            return cell.get<T>() != cell.get<T>();
        else
            return false;
    });
}

void join_wide(Joined& joined, Reduction reduction, DType dtype, const Cell& value) {
    long double re = 0, im = 0;
    switch (dtype) {
        case DType::float32:
            re = value.get<float>();
            break;
        case DType::float64:
            re = value.get<double>();
            break;
        case DType::complex64:
            re = value.get<element::Complex<float>>().re;
            im = value.get<element::Complex<float>>().im;
            break;
        default:
            re = value.get<element::Complex<double>>().re;
            im = value.get<element::Complex<double>>().im;
            break;
    }
    if (joined.count == 0)
        joined.re = re, joined.im = im;
    else if (reduction == Reduction::sum)
        joined.re += re, joined.im += im;
    else if (!is_complex(dtype))
        joined.re *= re;
    else {
        long double old = joined.re;
        joined.re = old * re - joined.im * im;
        joined.im = old * im + joined.im * re;
    }
}

bool better(Reduction reduction, DType dtype, const Cell& value, const Cell& best) {
    if (is_nan(best, dtype)) return false;
    if (is_nan(value, dtype)) return true;
    return (reduction == Reduction::argmax ? compare<Opcode::less>(dtype, best, value)
                                           : compare<Opcode::less>(dtype, value, best))
               .get<Bool>()
               .byte != 0;
}

void join(Joined& joined, Reduction reduction, DType dtype, const Cell& value) {
    bool first = joined.count == 0;
    switch (reduction) {
        case Reduction::sum:
        case Reduction::product:
            if (is_inexact(dtype))
                join_wide(joined, reduction, dtype, value);
            else if (first)
                joined.cell = value;
            else if (reduction == Reduction::sum)
                joined.cell = binary<Opcode::add>(dtype, joined.cell, value);
            else
                joined.cell = binary<Opcode::multiply>(dtype, joined.cell, value);
            break;
        case Reduction::any:
        case Reduction::maximum:
            joined.cell = first ? value : binary<Opcode::maximum>(dtype, joined.cell, value);
            break;
        case Reduction::all:
        case Reduction::minimum:
            joined.cell = first ? value : binary<Opcode::minimum>(dtype, joined.cell, value);
            break;
        case Reduction::argmax:
        case Reduction::argmin:
            if (first || better(reduction, dtype, value, joined.cell))
                joined.cell = value, joined.best_at = joined.count;
            break;
    }
    ++joined.count;
}

Cell result_of(const Joined& joined, Reduction reduction, DType dtype) {
    Cell result = joined.cell;
    if (reduction == Reduction::argmax || reduction == Reduction::argmin) {
        result.set(joined.best_at);
    } else if (joined.count == 0) {
        result = constant_cell(dtype, identity_of(reduction, dtype));
    } else if (is_inexact(dtype) && (reduction == Reduction::sum || reduction == Reduction::product)) {
        switch (dtype) {
            case DType::float32:
                result.set(static_cast<float>(joined.re));
                break;
            case DType::float64:
                result.set(static_cast<double>(joined.re));
                break;
            case DType::complex64: {
                element::Complex<float> value{static_cast<float>(joined.re), static_cast<float>(joined.im)};
                result.set(value);
                break;
            }
            default: {
                element::Complex<double> value{static_cast<double>(joined.re), static_cast<double>(joined.im)};
                result.set(value);
                break;
            }
        }
    }
    return result;
}

/// Counts through the axes [from, to) of dims; false once it is back at the start.
bool advance(Dims& at, const Dims& dims, std::size_t from, std::size_t to) {
    for (std::size_t axis = to; axis-- > from;) {
        if (++at[axis] < dims[axis]) return true;
        at[axis] = 0;
    }
    return false;
}

std::int64_t place(const Access& access, const Dims& at) {
    std::int64_t elements = 0;
    for (std::size_t axis = 0; axis < access.strides.size(); ++axis) elements += access.strides[axis] * at[axis];
    return elements * static_cast<std::int64_t>(size_of(access.dtype));
}

bool has_point(const Dims& dims, std::size_t from, std::size_t to) {
    for (std::size_t axis = from; axis < to; ++axis) {
        if (dims[axis] == 0) return false;
    }
    return true;
}

/// What an index tensor says at a point, counted from the front. IndexError outside the axis.
std::int64_t index(const Loop& loop, const Pointer& pointer, const void* const* loads, const Dims& at) {
    const Access& from = loop.loads[static_cast<std::size_t>(pointer.load)];
    Cell cell{};
    std::memcpy(cell.bytes, static_cast<const std::byte*>(loads[pointer.load]) + place(from, at), size_of(from.dtype));
    auto said = cast_cell(cell, from.dtype, DType::int64).get<std::int64_t>();
    std::int64_t place = said < 0 ? said + pointer.size : said;
    if (place < 0 || place >= pointer.size) refuse_index(pointer, said);
    return place;
}

/// What the pointers of a load or store add to its place, in bytes.
std::int64_t pointed(const Loop& loop, const Access& access, const void* const* loads, const Dims& at) {
    std::int64_t elements = 0;
    for (const Pointer& pointer : access.pointers) elements += index(loop, pointer, loads, at) * pointer.stride;
    return elements * static_cast<std::int64_t>(size_of(access.dtype));
}

/// Every index of the loop, before anything is written; also those of a box that has no points but for other axes.
void check_indices(const Loop& loop, const void* const* loads) {
    for (const auto* accesses : {&loop.loads, &loop.stores}) {
        for (const Access& access : *accesses) {
            for (const Pointer& pointer : access.pointers) {
                const Access& from = loop.loads[static_cast<std::size_t>(pointer.load)];
                Dims dims = loop.dims, at(dims.size());
                for (std::size_t axis = 0; axis < dims.size(); ++axis)
                    if (from.strides[axis] == 0) dims[axis] = 1;
                if (!has_point(dims, 0, dims.size())) continue;
                do (void)index(loop, pointer, loads, at);
                while (advance(at, dims, 0, dims.size()));
            }
        }
    }
}

/// What a load that reads no memory gives at a point.
Cell made(const Access& load, const void* const* loads, std::size_t number, const Dims& at) {
    auto width = static_cast<std::int64_t>(size_of(load.dtype));
    std::int64_t n = number_at(loads[number], load.dtype) + place(load, at) / width;
    Cell cell{};
    if (load.source == Source::counting) {
        cell.set(n);
        return cell;
    }
    const auto* first = static_cast<const std::uint32_t*>(loads[load.drawn.key]);
    auto word = [&](std::int64_t k) {
        auto block = static_cast<std::uint64_t>(k) / 4;
        PhiloxCounter counter{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0,
                              load.drawn.stream};
        return philox(counter, {first[0], first[load.drawn.stride]})[static_cast<std::size_t>(k) % 4];
    };
    if (load.dtype == DType::uint32)
        cell.set(word(n));
    else
        cell.set(static_cast<std::uint64_t>(word(2 * n + 1)) << 32 | word(2 * n));
    return cell;
}

void read(std::vector<Cell>& inputs, const Loop& loop, const void* const* loads, const Dims& at) {
    for (std::size_t i = 0; i < loop.loads.size(); ++i) {
        if (loop.loads[i].source != Source::memory) {
            inputs[i] = made(loop.loads[i], loads, i, at);
            continue;
        }
        Cell cell{};
        std::int64_t bytes = place(loop.loads[i], at) + pointed(loop, loop.loads[i], loads, at);
        std::memcpy(cell.bytes, static_cast<const std::byte*>(loads[i]) + bytes, size_of(loop.loads[i].dtype));
        inputs[i] = cast_cell(cell, loop.loads[i].dtype, loop.program.inputs[i]);
    }
}

void write(const Loop& loop, void* const* stores, std::size_t i, const Dims& at, const Cell& value, DType dtype) {
    Cell cell = cast_cell(value, dtype, loop.stores[i].dtype);
    std::memcpy(static_cast<std::byte*>(stores[i]) + place(loop.stores[i], at), cell.bytes,
                size_of(loop.stores[i].dtype));
}

/// The value of a scatter's point onto what lies where it belongs.
void join_there(const Loop& loop, const void* const* loads, void* const* stores, const Dims& at, const Cell& value) {
    const Access& store = loop.stores[0];
    DType dtype = loop.program.dtype(loop.program.outputs[0]);
    std::byte* there = static_cast<std::byte*>(stores[0]) + place(store, at) + pointed(loop, store, loads, at);
    Cell old{}, update = cast_cell(value, dtype, store.dtype);
    std::memcpy(old.bytes, there, size_of(store.dtype));
    if (auto opcode = opcode_of(*loop.scatter, dtype)) {
        Cell a = cast_cell(update, store.dtype, dtype), b = cast_cell(old, store.dtype, dtype);
        update = cast_cell(*opcode == Opcode::add       ? binary<Opcode::add>(dtype, a, b)
                           : *opcode == Opcode::maximum ? binary<Opcode::maximum>(dtype, a, b)
                                                        : binary<Opcode::minimum>(dtype, a, b),
                           dtype, store.dtype);
    }
    std::memcpy(there, update.bytes, size_of(store.dtype));
}

/// The lane of which `at` is a point.
void scan(const Loop& loop, const void* const* loads, void* const* stores, Dims& at) {
    std::size_t axis = loop.dims.size() - 1;
    std::int32_t output = loop.program.outputs[0];
    DType dtype = loop.program.dtype(output);
    std::vector<Cell> inputs(loop.program.inputs.size()), values;
    Cell running = constant_cell(dtype, identity_of(loop.reductions[0], dtype));
    for (std::int64_t i = 0; i < loop.dims[axis]; ++i) {
        at[axis] = loop.scan->backwards ? loop.dims[axis] - 1 - i : i;
        read(inputs, loop, loads, at);
        run(loop.program, inputs, values);
        const Cell& value = values[static_cast<std::size_t>(output)];
        Cell next = loop.reductions[0] == Reduction::sum ? binary<Opcode::add>(dtype, running, value)
                                                         : binary<Opcode::multiply>(dtype, running, value);
        write(loop, stores, 0, at, loop.scan->exclusive ? running : next, dtype);
        running = next;
    }
    at[axis] = 0;
}

}  // namespace

void interpret(const Loop& loop, const void* const* loads, void* const* stores) {
    verify(loop);
    AddressFacts(loop).check(loads, stores);
    const Program& program = loop.program;
    std::vector<Cell> inputs(program.inputs.size()), values;
    std::size_t kept = loop.dims.size() - loop.reduced, all = loop.dims.size();
    check_indices(loop, loads);
    if (!has_point(loop.dims, 0, kept)) return;
    Dims at(all);
    do {
        if (loop.scan) {
            scan(loop, loads, stores, at);
            continue;
        }
        std::vector<Joined> joined(program.outputs.size());
        if (has_point(loop.dims, kept, all)) {
            do {
                read(inputs, loop, loads, at);
                run(program, inputs, values);
                for (std::size_t i = 0; i < program.outputs.size(); ++i) {
                    const Cell& value = values[static_cast<std::size_t>(program.outputs[i])];
                    DType dtype = program.dtype(program.outputs[i]);
                    if (loop.reduces())
                        join(joined[i], loop.reductions[i], dtype, value);
                    else if (loop.scatter)
                        join_there(loop, loads, stores, at, value);
                    else
                        write(loop, stores, i, at, value, dtype);
                }
            } while (advance(at, loop.dims, kept, all));
        }
        for (std::size_t i = 0; loop.reduces() && i < program.outputs.size(); ++i) {
            DType dtype = program.dtype(program.outputs[i]);
            write(loop, stores, i, at, result_of(joined[i], loop.reductions[i], dtype),
                  result_dtype(loop.reductions[i], dtype));
        }
    } while (advance(at, loop.dims, 0, kept));
}

}  // namespace weft
