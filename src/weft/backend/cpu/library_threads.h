// Libraries run on weft's threads, one thread a call: weft splits the work, into blocks that depend on sizes alone.
// Callers: library_gemm.cpp, onednn_convolution.cpp.
#pragma once

namespace weft::cpu {

/// While it lives, OpenMP regions that this thread enters (oneDNN's) have one thread. The thread's own setting comes
/// back.
class OneOpenMpThread {
  public:
    OneOpenMpThread();
    ~OneOpenMpThread();
    OneOpenMpThread(const OneOpenMpThread&) = delete;
    OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

  private:
    int before_;
};

/// Once for the process: OpenBLAS starts no threads of its own.
void one_openblas_thread();

}  // namespace weft::cpu
