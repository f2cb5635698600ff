// oneDNN and OpenBLAS, each of which a program either links, and then has from its start, or opens when it first has work for it, as the Python
// extension does: most programs never have, and the two are four fifths of what an import would map. Callers: library_gemm.cpp,
// onednn_convolution.cpp, matrix/lapack.cpp, library_threads.cpp; python/src/late_libraries.cpp says how they are opened.
#pragma once

namespace weft::cpu {

enum class LateLibrary { onednn, openblas };

/// From now on the library is opened by this, once, when it is first asked for: its handle (dlopen), or null where it cannot be opened.
void open_late(LateLibrary library, void* (*open)());

/// Whether its functions may be called. Where not, weft's own kernels do the work.
bool is_there(LateLibrary library);

/// A function of the library, or of what it brings along; null: there is none of this name.
void* symbol_of(LateLibrary library, const char* name);

}  // namespace weft::cpu
