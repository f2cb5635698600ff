// CUDA C compiled to PTX by NVRTC, NVIDIA's compiler as a library: found at run time (CUDA_HOME, the system's libraries,
// /usr/local/cuda), never linked; it needs no GPU. Division, square roots and denormals are IEEE 754's, and nothing is contracted.
// Callers: backend/cuda/device.cpp, cli/ (doctor), tests.
#pragma once

#include <string>

namespace weft::cuda {

/// For an architecture such as "compute_80". DeviceError if there is no NVRTC, with what to install; CompileError names a file
/// with the text, if the compiler refuses it.
std::string compile_cuda(const std::string& printed, const std::string& architecture);

/// "13.0"; DeviceError as above.
std::string nvrtc_version();

}  // namespace weft::cuda
