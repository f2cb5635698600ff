// Random scans: of arrays as they lie, and of what random programs compute, along any axis of any layout.
// Callers: tests/backend.
#pragma once

#include "backend/random_loop.h"

namespace weft {

/// A value that sums and products take: halves are stored as such.
inline Scalar runs(ProgramMaker& maker, Random& random) {
    Scalar value = maker.any();
    if (pick(random, 2)) value = maker.any(pick(random, 2) ? DType::float32 : DType::int64);
    if (is_half(value.dtype())) value = cast(value, DType::float32);
    return value.dtype() == DType::bool_ ? cast(value, DType::int64) : value;
}

inline LoopCase random_scan(int seed, bool complex = true) {
    Random random(static_cast<unsigned>(seed));
    LoopCase made;
    Loop& loop = made.loop;
    std::vector<DType> types = random_types(random);
    if (!complex) std::replace_if(types.begin(), types.end(), is_complex, DType::float32);
    for (DType& type : types) type = compute_dtype(type);
    ProgramMaker maker(random, types, complex);
    maker.grow(pick(random, 3) ? pick(random, 6) : 0);
    maker.builder().output(runs(maker, random));
    loop.program = maker.builder().take();
    do loop.dims = random_dims(random, 4, seed % 10 == 0 ? 100000 : 4000);
    while (loop.dims.empty());
    loop.reduced = 1;
    loop.reductions = {pick(random, 2) ? Reduction::sum : Reduction::product};
    loop.scan = Scan{.exclusive = pick(random, 3) == 0, .backwards = pick(random, 3) == 0};
    for (DType type : types) {
        loop.loads.push_back({memory_type(random, type), random_strides(random, loop.dims, true)});
        made.loads.push_back(memory_for(random, loop.loads.back(), loop.dims, seed % 7 == 0));
    }
    DType dtype = loop.program.dtype(loop.program.outputs[0]);
    loop.stores.push_back({memory_type(random, dtype), random_strides(random, loop.dims, false)});
    made.stores.push_back(memory_for(random, loop.stores.back(), loop.dims, false));
    if (seed % 3 == 2) load_by_indices(random, made);
    if (seed % 2) load_without_memory(random, made);
    return made;
}

}  // namespace weft
