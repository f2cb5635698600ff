// The library kernels of the CPU, one function (and one source) a family: each prepares a kernel for the attributes of a node and
// the layouts of its operands. Kernels take any strides, check indices before they write, and give the same bits for any number of
// threads. Callers: backend/cpu/compiler.cpp.
#pragma once

#include "weft/compile/device.h"

namespace weft::cpu {

std::unique_ptr<Kernel> constant_kernel(const Node& node, const Layout& output);
std::unique_ptr<Kernel> join_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                    const KernelUse& use);
std::unique_ptr<Kernel> gather_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output);
std::unique_ptr<Kernel> take_along_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output);
std::unique_ptr<Kernel> scatter_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output);
std::unique_ptr<Kernel> sort_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output);
std::unique_ptr<Kernel> contraction_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                           const KernelUse& use);
/// How many rows of it at a time cost, a row, no more than all of them.
std::int64_t contraction_rows(const Node& node, std::span<const Layout> inputs, const Layout& output);
/// The fewest rows at a time that have the bits that they have among all.
std::int64_t contraction_fewest_rows(const Node& node, std::span<const Layout> inputs, const Layout& output);
/// Whether it gives each row the same bits where it is made of `fewer` of its `rows` (of its output's first axis).
bool contraction_rows_alike(const Node& node, std::int64_t rows, std::int64_t fewer);
std::unique_ptr<Kernel> window_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                      const KernelUse& use);
/// How many images of a convolution at a time cost, each, no more than all of them.
std::int64_t window_images(const Node& node, std::span<const Layout> inputs, const Layout& output);

std::unique_ptr<Kernel> factorization_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output);
std::unique_ptr<Kernel> fourier_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output);

/// The node's attributes if they are a T, else null: how a family tells its operations apart.
template <class T>
const T* attributes_if(const Node& node) {
    auto* found = dynamic_cast<const AttributesOf<T>*>(node.attributes.get());
    return found ? &found->value : nullptr;
}

}  // namespace weft::cpu
