// Loops as content and as text.
#include <sstream>

#include "weft/base/error.h"
#include "weft/kernel/loop.h"

namespace weft {

Hash128 hash_of(const Loop& loop) {
    Hasher hasher;
    Hash128 program = hash_of(loop.program);
    hasher.add(program.high);
    hasher.add(program.low);
    auto add = [&](const Dims& numbers) {
        hasher.add(numbers.size());
        for (std::int64_t number : numbers) hasher.add(static_cast<std::uint64_t>(number));
    };
    add(loop.dims);
    hasher.add(loop.reduced);
    for (const auto* accesses : {&loop.loads, &loop.stores}) {
        hasher.add(accesses->size());
        for (const Access& access : *accesses) {
            hasher.add(static_cast<std::uint64_t>(access.dtype));
            add(access.strides);
            hasher.add(access.passes);
            hasher.add(static_cast<std::uint64_t>(access.next));
            hasher.add((access.replaced ? 1u : 0u) | (access.soon ? 2u : 0u));
            hasher.add(access.alignment);
            hasher.add(access.pointers.size());
            for (const Pointer& pointer : access.pointers) {
                add({pointer.load, pointer.size, pointer.stride, pointer.axis});
                hasher.add(pointer.operation);
            }
            hasher.add(static_cast<std::uint64_t>(access.source));
            hasher.add(static_cast<std::uint64_t>(access.numbers));
            if (access.source == Source::random)
                add({access.drawn.key, access.drawn.stride, static_cast<std::int64_t>(access.drawn.stream)});
        }
    }
    hasher.add(loop.scan ? 1u + loop.scan->exclusive + 2u * loop.scan->backwards : 0u);
    hasher.add(loop.scatter ? 1u + static_cast<std::uint64_t>(*loop.scatter) : 0u);
    hasher.add(loop.reductions.size());
    for (Reduction reduction : loop.reductions) hasher.add(static_cast<std::uint64_t>(reduction));
    return hasher.result();
}

namespace {

/// Of a load or store of memory: "elements 0..1023, aligned to 64 bytes".
void write_facts(std::ostream& out, const Access& access, const Dims& dims) {
    Extent extent = extent_of(access, dims);
    if (extent.empty())
        out << ", no elements";
    else
        out << ", elements " << extent.first << ".." << extent.last;
    if (access.alignment > 0) out << ", aligned to " << access.alignment << " bytes";
}

void write_points(std::ostream& out, const Access& access) {
    out << " strides " << access.strides;
    for (const Pointer& pointer : access.pointers)
        out << " + " << pointer.stride << " * load " << pointer.load << " of " << pointer.size;
}

}  // namespace

std::string accesses_text(const Loop& loop) {
    std::ostringstream out;
    for (std::size_t i = 0; i < loop.loads.size(); ++i) {
        const Access& load = loop.loads[i];
        out << "load " << i << ' ' << load.dtype;
        if (load.source == Source::counting) out << " counted,";
        if (load.source == Source::random)
            out << " drawn with key load " << load.drawn.key << " from stream " << load.drawn.stream << ',';
        write_points(out, load);
        if (load.source == Source::memory) write_facts(out, load, loop.dims);
        out << '\n';
    }
    for (std::size_t i = 0; i < loop.stores.size(); ++i) {
        out << "store " << i << ' ' << loop.stores[i].dtype;
        write_points(out, loop.stores[i]);
        if (loop.scatter) out << ' ' << name_of(*loop.scatter) << " in order";
        if (loop.reduces()) out << ' ' << name_of(loop.reductions[i]);
        write_facts(out, loop.stores[i], loop.dims);
        out << '\n';
    }
    return out.str();
}

std::ostream& operator<<(std::ostream& out, const Loop& loop) {
    out << "loop " << loop.dims;
    if (loop.scan)
        out << ", the last scanned" << (loop.scan->backwards ? " backwards" : "")
            << (loop.scan->exclusive ? ", exclusive" : "");
    else if (loop.reduces())
        out << ", the last " << loop.reduced << " reduced";
    return out << '\n' << accesses_text(loop) << loop.program;
}

}  // namespace weft
