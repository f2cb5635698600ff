// Random scatters: of what random programs compute, by one or two index tensors of any layout, onto memory of any layout.
// Callers: tests/backend.
#pragma once

#include "backend/random_loop.h"

namespace weft {

/// Steps of the store: of some axes of the box, of those along which indices count, in any order; none leads back into another.
inline void place_store(Random& random, LoopCase& made, int indices) {
    Loop& loop = made.loop;
    Access& store = loop.stores[0];
    store.strides = Dims(loop.dims.size(), 0);
    std::vector<std::size_t> order;  // axes of the box, then indices
    for (std::size_t axis = 0; axis < loop.dims.size(); ++axis)
        if (pick(random, 2)) order.push_back(axis);
    for (int k = 0; k < indices; ++k) order.push_back(loop.dims.size() + static_cast<std::size_t>(k));
    if (pick(random, 2)) std::shuffle(order.begin(), order.end(), random);
    std::int64_t step = pick(random, 6) == 0 ? 2 : 1;
    for (std::size_t at : order) {
        bool index = at >= loop.dims.size();
        std::int64_t size = index ? 1 + pick(random, 30) : std::max<std::int64_t>(loop.dims[at], 1);
        std::int64_t stride = pick(random, 8) == 0 ? -step : step;
        if (index)
            store.pointers.push_back({add_indices(random, made, index_type(random), size), size, stride,
                                      static_cast<std::int64_t>(store.pointers.size()), "scatter"});
        else
            store.strides[at] = stride;
        step *= size + (pick(random, 6) == 0 ? 1 : 0);
    }
}

inline LoopCase random_scatter(int seed, bool complex = true) {
    Random random(static_cast<unsigned>(seed));
    LoopCase made;
    Loop& loop = made.loop;
    std::vector<DType> types = random_types(random);
    if (!complex) std::replace_if(types.begin(), types.end(), is_complex, DType::float32);
    for (DType& type : types) type = compute_dtype(type);
    ProgramMaker maker(random, types, complex);
    maker.grow(pick(random, 3) ? pick(random, 6) : 0);
    Scalar value = maker.any();
    if (is_half(value.dtype())) value = cast(value, DType::float32);
    maker.builder().output(value);
    loop.program = maker.builder().take();
    loop.dims = random_dims(random, 4, seed % 10 == 0 ? 150000 : 4000);
    for (DType type : types) {
        loop.loads.push_back({memory_type(random, type), random_strides(random, loop.dims, true)});
        made.loads.push_back(memory_for(random, loop.loads.back(), loop.dims, seed % 7 == 0));
    }
    if (seed % 3 == 2) load_by_indices(random, made);
    if (seed % 2) load_without_memory(random, made);
    DType dtype = loop.program.dtype(loop.program.outputs[0]);
    loop.scatter = static_cast<ScatterMode>(pick(random, is_complex(dtype) ? 2 : 4));
    loop.stores.push_back({memory_type(random, dtype), {}});
    place_store(random, made, pick(random, 3) ? 1 : 2);
    made.stores.push_back(memory_for(random, loop.stores[0], loop.dims, seed % 7 == 0));
    return made;
}

}  // namespace weft
