// The cases of kernel_cases.h on a device: opencl and cuda have the same nouns. Callers: tests of these backends.
#pragma once

#include "backend/kernel_cases.h"

namespace weft {

/// Api names a backend's Device, Buffer, Operand and Kernels.
template <class Api>
Stored run_on(const typename Api::Device& device, const typename Api::Kernels& kernels, const KernelCase& at) {
    std::vector<typename Api::Buffer> buffers;
    for (const std::vector<Memory>* memories : {&at.loads, &at.stores}) {
        for (const Memory& memory : *memories) {
            buffers.emplace_back(device, memory.bytes.size());
            buffers.back().write(memory.bytes);
        }
    }
    std::vector<typename Api::Operand> operands;
    auto add = [&](const std::vector<Access>& accesses, const std::vector<Memory>& memories) {
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            auto width = static_cast<std::int64_t>(size_of(accesses[i].dtype));
            bool memory = accesses[i].source == Source::memory;
            operands.push_back({memory ? &buffers[operands.size()] : nullptr, memories[i].first / width});
        }
    };
    add(at.loop.loads, at.loads);
    add(at.loop.stores, at.stores);
    kernels.launch(at.kernel, at.loop, operands);
    Stored stored;
    for (std::size_t i = at.loads.size(); i < buffers.size(); ++i) stored.push_back(buffers[i].read());
    return stored;
}

/// All kernels of the cases in one program.
template <class Api>
void expect_right_on(const typename Api::Device& device, const std::vector<KernelCase>& cases) {
    typename Api::Kernels kernels(device, kernels_of(cases));
    for (const KernelCase& at : cases) {
        expect_stored(at, expected_of(at), run_on<Api>(device, kernels, at));
        if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace weft
