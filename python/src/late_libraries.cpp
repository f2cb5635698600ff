// oneDNN and OpenBLAS opened when they are first needed (backend/cpu/late_library.h). The extension is not linked to them: what libweft calls
// of theirs are the entries below, each a jump to where the opened library has the function. Whatever is missing here the linker names.
#include "object.h"
#include "weft/backend/cpu/late_library.h"
#include "weft/base/shared_library.h"
#include "weft/found.h"

#if WEFT_LATE_LIBRARIES

#if defined(__x86_64__)
#define WEFT_LATE_JUMP(name) "endbr64\n\tjmp *weft_late_" #name "(%rip)"
#else
#define WEFT_LATE_JUMP(name) \
    "bti c\n\tadrp x16, weft_late_" #name "\n\tldr x16, [x16, :lo12:weft_late_" #name "]\n\tbr x16"
#endif

// Seen by the linker, and by nobody outside: a program may have these libraries loaded by others.
#define WEFT_LATE_FUNCTION(name)                                                  \
    extern "C" {                                                                  \
    __attribute__((visibility("hidden"), used)) void* weft_late_##name = nullptr; \
    }                                                                             \
    asm(".text\n\t.globl " #name "\n\t.hidden " #name "\n\t.type " #name          \
        ", %function\n\t"                                                         \
        ".balign 16\n" #name ":\n\t" WEFT_LATE_JUMP(name) "\n\t.size " #name ", . - " #name);

#if WEFT_HAVE_ONEDNN
#include <dnnl_version.h>
#if DNNL_VERSION_MAJOR >= 3
#define WEFT_LATE_ONEDNN_OF_VERSION(X)                         \
    X(dnnl_convolution_backward_data_primitive_desc_create)    \
    X(dnnl_convolution_backward_weights_primitive_desc_create) \
    X(dnnl_convolution_forward_primitive_desc_create)          \
    X(dnnl_memory_create_v2)                                   \
    X(dnnl_memory_desc_clone)                                  \
    X(dnnl_memory_desc_create_with_strides)                    \
    X(dnnl_memory_desc_create_with_tag)                        \
    X(dnnl_memory_desc_destroy)                                \
    X(dnnl_memory_desc_query)
#else
#define WEFT_LATE_ONEDNN_OF_VERSION(X)                     \
    X(dnnl_dilated_convolution_backward_data_desc_init)    \
    X(dnnl_dilated_convolution_backward_weights_desc_init) \
    X(dnnl_dilated_convolution_forward_desc_init)          \
    X(dnnl_memory_desc_init_by_strides)                    \
    X(dnnl_memory_desc_init_by_tag)                        \
    X(dnnl_primitive_desc_iterator_create)                 \
    X(dnnl_primitive_desc_iterator_destroy)                \
    X(dnnl_primitive_desc_iterator_fetch)
#endif
#define WEFT_LATE_ONEDNN(X)                    \
    WEFT_LATE_ONEDNN_OF_VERSION(X)             \
    X(dnnl_engine_create)                      \
    X(dnnl_engine_destroy)                     \
    X(dnnl_memory_create)                      \
    X(dnnl_memory_desc_equal)                  \
    X(dnnl_memory_desc_get_size)               \
    X(dnnl_memory_destroy)                     \
    X(dnnl_memory_set_data_handle)             \
    X(dnnl_primitive_attr_create)              \
    X(dnnl_primitive_attr_destroy)             \
    X(dnnl_primitive_attr_set_scratchpad_mode) \
    X(dnnl_primitive_create)                   \
    X(dnnl_primitive_desc_destroy)             \
    X(dnnl_primitive_desc_query)               \
    X(dnnl_primitive_desc_query_md)            \
    X(dnnl_primitive_destroy)                  \
    X(dnnl_primitive_execute)                  \
    X(dnnl_reorder_primitive_desc_create)      \
    X(dnnl_sgemm)                              \
    X(dnnl_stream_create)                      \
    X(dnnl_stream_destroy)
WEFT_LATE_ONEDNN(WEFT_LATE_FUNCTION)
#else
#define WEFT_LATE_ONEDNN(X)
#endif

#if WEFT_HAVE_LAPACK
#define WEFT_LATE_LAPACK_OF(X, p, orthogonal, hermitian) \
    X(p##potrf_)                                         \
    X(p##getrf_)                                         \
    X(p##getrs_)                                         \
    X(p##trtrs_)                                         \
    X(p##geqrf_)                                         \
    X(p##orthogonal##qr_)                                \
    X(p##hermitian##evd_)                                \
    X(p##geev_)                                          \
    X(p##gesdd_)
#define WEFT_LATE_LAPACK(X)            \
    WEFT_LATE_LAPACK_OF(X, s, org, sy) \
    WEFT_LATE_LAPACK_OF(X, d, org, sy) \
    WEFT_LATE_LAPACK_OF(X, c, ung, he) \
    WEFT_LATE_LAPACK_OF(X, z, ung, he)
#else
#define WEFT_LATE_LAPACK(X)
#endif
#if WEFT_HAVE_OPENBLAS
#define WEFT_LATE_OPENBLAS(X) WEFT_LATE_LAPACK(X) X(cblas_sgemm) X(cblas_dgemm) X(openblas_set_num_threads)
WEFT_LATE_OPENBLAS(WEFT_LATE_FUNCTION)
#else
#define WEFT_LATE_OPENBLAS(X)
#endif

namespace weft::python {
namespace {

struct Entry {
    const char* name;
    void** to;
};
#define WEFT_LATE_ENTRY(name) {#name, &weft_late_##name},

/// Never closed: it may have threads of its own. Null where it cannot be opened or lacks a function.
void* opened(const char* file, std::span<const Entry> entries) {
    const std::string names[] = {file};
    auto* library = new SharedLibrary(names);
    for (const Entry& entry : entries) {
        *entry.to = library->symbol(entry.name);
        if (!*entry.to) return nullptr;
    }
    return library->handle();
}

}  // namespace

void open_libraries_late() {
#if WEFT_HAVE_ONEDNN
    cpu::open_late(cpu::LateLibrary::onednn, [] {
        static const Entry entries[] = {WEFT_LATE_ONEDNN(WEFT_LATE_ENTRY)};
        return opened(WEFT_ONEDNN_FILE, entries);
    });
#endif
#if WEFT_HAVE_OPENBLAS
    cpu::open_late(cpu::LateLibrary::openblas, [] {
        static const Entry entries[] = {WEFT_LATE_OPENBLAS(WEFT_LATE_ENTRY)};
        return opened(WEFT_OPENBLAS_FILE, entries);
    });
#endif
}

}  // namespace weft::python

#else

namespace weft::python {
void open_libraries_late() {}
}  // namespace weft::python

#endif
