#include "weft/backend/cpu/library_threads.h"

#include "weft/backend/cpu/late_library.h"
#include "weft/found.h"

#if WEFT_HAVE_OPENBLAS
#include <cblas.h>
#endif

namespace weft::cpu {
namespace {

// Looked up at run time: weft itself is not built with OpenMP, oneDNN brings it, or another runtime with the same
// names.
struct OpenMp {
    int (*get_threads)() = reinterpret_cast<int (*)()>(symbol_of(LateLibrary::onednn, "omp_get_max_threads"));
    void (*set_threads)(int) = reinterpret_cast<void (*)(int)>(symbol_of(LateLibrary::onednn, "omp_set_num_threads"));
};

const OpenMp& open_mp() {
    static const OpenMp functions;
    return functions;
}

}  // namespace

OneOpenMpThread::OneOpenMpThread() : before_(1) {
    const OpenMp& omp = open_mp();
    if (!omp.get_threads || !omp.set_threads) return;
    before_ = omp.get_threads();
    if (before_ != 1) omp.set_threads(1);
}

OneOpenMpThread::~OneOpenMpThread() {
    if (before_ != 1) open_mp().set_threads(before_);
}

void one_openblas_thread() {
#if WEFT_HAVE_OPENBLAS
    static const bool done = (openblas_set_num_threads(1), true);
    static_cast<void>(done);
#endif
}

}  // namespace weft::cpu
