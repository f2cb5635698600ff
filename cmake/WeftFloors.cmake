# How a floor of the house becomes a target: one object library a folder, gathered into one library `weft`.
include(GNUInstallDirs)

# What every source of weft itself is compiled with. Nothing of it reaches a user's target.
add_library(weft_options INTERFACE)
target_compile_features(weft_options INTERFACE cxx_std_20)
# Who tests weft refuses warnings; who only uses it is not stopped by what a newer compiler warns of.
if(WEFT_BUILD_TESTS)
  set(WEFT_REFUSE_WARNINGS -Werror)
endif()
target_compile_options(weft_options INTERFACE -Wall -Wextra -Wpedantic ${WEFT_REFUSE_WARNINGS} -ffp-contract=off -fno-math-errno -fno-trapping-math)
# Inlined std::vector growth makes g++ 12 warn of impossible sizes.
target_compile_options(weft_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds -Wno-restrict>)
# From 13 on it takes a reference into what a handle shares for one into the handle.
target_compile_options(weft_options INTERFACE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>)
# A shared weft shows all its names, without each being marked; calls between them are still direct and inlined.
target_compile_options(weft_options INTERFACE -fno-semantic-interposition)
# g++ clears and copies what is short by `rep stos` and `rep movs`, which take tens of cycles to begin; nodes and arrays are short, and many.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(WEFT_SHORT_COPIES -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign -mmemcpy-strategy=vector_loop:256:noalign,libcall:-1:noalign)
endif()
target_compile_options(weft_options INTERFACE ${WEFT_SHORT_COPIES})
target_include_directories(weft_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
if(WEFT_SANITIZE MATCHES "thread")   # g++ 12 warns falsely of code that it has instrumented; the plain builds refuse warnings
  target_compile_options(weft_options INTERFACE -Wno-error)
endif()
if(WEFT_SANITIZE MATCHES "undefined")
  # A third of the time to compile, for what the address sanitizer ends as well (null, pointers far outside), or this processor allows
  # (alignment).
  set(WEFT_SANITIZE_LESS -fno-sanitize=null,pointer-overflow,alignment,vptr)
endif()
if(WEFT_SANITIZE)
  target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} ${WEFT_SANITIZE_LESS} -fno-omit-frame-pointer -g1
                                                -fno-sanitize-recover=all)
  target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# Sources under backend/cpu/isa/ are compiled once an instruction set, each in a namespace named after it; cpuid chooses.
set(WEFT_ISA_FLAGS_baseline "")
set(WEFT_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(WEFT_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mprefer-vector-width=512)
set(WEFT_ISAS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND WEFT_ISAS avx2 avx512)
endif()
if(WEFT_SANITIZE)   # runs where it is built, so one set of loops is enough (backend/cpu/isa.h)
  set(WEFT_ISAS baseline)
  if(EXISTS /proc/cpuinfo AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    file(STRINGS /proc/cpuinfo weft_flags REGEX "^flags" LIMIT_COUNT 1)
    if(weft_flags MATCHES " avx2 .* fma | fma .* avx2 ")
      set(WEFT_ISAS avx2)
      if(weft_flags MATCHES " avx512f " AND weft_flags MATCHES " avx512bw " AND weft_flags MATCHES " avx512dq " AND weft_flags MATCHES " avx512vl ")
        set(WEFT_ISAS avx512)
      endif()
    endif()
  endif()
  target_compile_definitions(weft_options INTERFACE WEFT_ONLY_ISA=${WEFT_ISAS} WEFT_ONLY_ISA_${WEFT_ISAS}=1)
endif()

# Sources whose time is not spent in code of their own, but in programs that they ask for, or that wait for files: made small, which takes
# 38 parts of 100 off them (-Os). Not what is passed through for every node that is written,
# rewritten or planned (of 40,000 operations 300 ms became 380), nor what computes pictures and sounds.
set(WEFT_SMALL_SOURCES
    "/weft/(check|nn|optim|train|viz|look|search|rewrite/rules|backend/cuda|backend/opencl)/"
    "/weft/base/json[a-z_]*\\.cpp$" "/weft/base/options\\.cpp$" "/weft/graph/print\\.cpp$" "/weft/rewrite/options\\.cpp$"
    "/weft/autodiff/(batching|between|cond.*|custom|declared|hoist|loop.*|region|vmap|while)\\.cpp$"
    "/weft/backend/(machine|refused_text|cpu/emit/writer_columns|cpu/late_library|cpu/library_threads|cpu/onednn_.*|cpu/matrix/lapack)\\.cpp$"
    "/weft/compile/(again|frugal|index_checks|loop_binding|loop_numbers|loop_places|loop_rows|numbers|parted_.*|print_plan|row_kernels|row_parts|stages|small_branches)\\.cpp$"
    "/weft/data/(dataset|describe|fetch|files|folds|held|mnist|pairs|parquet|parts|prepare|registry|sources_.*|tables)\\.cpp$"
    "/weft/io/(arrow_array|file_tree|folder.*|hdf5.*|idx|mat|npz|parquet|safetensors|tar)\\.cpp$"
    "/weft/kernel/(c_.*|function_program|loop_text|print_c.*|verify_loop)\\.cpp$"
    "/weft/ops/(arrange|batch|convolution|covariance|distributions|einsum|factorization|fft.*|histogram|hypergeometric|linalg_.*|masked|nan|pad_modes|places|polynomial|pooling|principal_axes|quantile|random|rearrange|recompute|scan|scatter|sets|signal.*|sort|special|statistics)\\.cpp$"
    "/weft/runtime/(debug|declared|explain|interpreter.*|oracle|profile|trace)\\.cpp$")
list(JOIN WEFT_SMALL_SOURCES "|" WEFT_SMALL_SOURCES)

# Sources of the backend that decide what loops do, or write their code, and have few loops over data of their own: -O3 makes them larger alone.
set(WEFT_DECIDING_SOURCES "/weft/backend/cpu/(emit/.*|block_program|block_reduction|compiler|constant|contraction|convolution|convolution_parts|factorization|gemm|join|loop_layout|pooling_rows|small_factorization|stored_reduction|window)\\.cpp$")

# What computes all over again what tests compare with: two fifths of the sanitizers' time where it is not optimised.
set(WEFT_ORACLE_SOURCES "/weft/kernel/interpret[a-z_]*\\.cpp$")

# Loops that -O3 spoils: g++ 12 takes the folds of short rows apart before it looks for vectors in them, which is up to five times as slow.
set(WEFT_PLAIN_LOOPS "/weft/backend/cpu/isa/reduce_joined\\.cpp$")

function(weft_floor name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/weft/${name}/*.cpp)
  set(isa_sources ${sources})
  list(FILTER isa_sources INCLUDE REGEX "/isa/")
  list(FILTER sources EXCLUDE REGEX "/isa/")
  set(oracle ${sources})
  list(FILTER oracle INCLUDE REGEX "${WEFT_ORACLE_SOURCES}")
  if(oracle AND WEFT_SANITIZE)
    list(FILTER sources EXCLUDE REGEX "${WEFT_ORACLE_SOURCES}")
    weft_objects(weft_${name}_oracle ${oracle})
    target_compile_options(weft_${name}_oracle PRIVATE -O1)
  endif()
  set(small ${sources})
  list(FILTER small INCLUDE REGEX "${WEFT_SMALL_SOURCES}")
  list(FILTER sources EXCLUDE REGEX "${WEFT_SMALL_SOURCES}")
  if(small)
    weft_objects(weft_${name}_small ${small})
    target_compile_options(weft_${name}_small PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  set(deciding ${sources})
  list(FILTER deciding INCLUDE REGEX "${WEFT_DECIDING_SOURCES}")
  list(FILTER sources EXCLUDE REGEX "${WEFT_DECIDING_SOURCES}")
  if(deciding)
    weft_objects(weft_${name}_deciding ${deciding})
  endif()
  if(sources)
    weft_objects(weft_${name} ${sources})
    if(name STREQUAL "backend")   # where loops over data are; elsewhere -O3 takes longer and gains nothing
      target_compile_options(weft_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
    endif()
  endif()
  if(isa_sources)
    # Optimised in every build, for nobody debugs them; but for sanitizers, which take minutes over -O3, and over a check of each
    # operation of the inlined functions for undefined behaviour.
    set(isa_optimisation -O3)
    if(WEFT_SANITIZE)
      set(isa_optimisation -O0 -fno-sanitize=undefined)
    endif()
    if(WEFT_SANITIZE MATCHES "thread")   # a call of theirs writes one block; who gets which block is decided, and seen, outside
      set(isa_optimisation -O0 -fno-sanitize=thread -DWEFT_INLINE_AS_COMPILER_LIKES)
    endif()
    # Tiles are written out already: a loop for rows that lie side by side beside that for all others is twice the room and no faster.
    set(tiles ${isa_sources})
    list(FILTER tiles INCLUDE REGEX "/gemm[a-z0-9_]*\\.cpp$")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      set_source_files_properties(${tiles} PROPERTIES COMPILE_OPTIONS "-fno-version-loops-for-strides;-fno-unswitch-loops")
    endif()
    set(plain ${isa_sources})
    list(FILTER plain INCLUDE REGEX "${WEFT_PLAIN_LOOPS}")
    list(FILTER isa_sources EXCLUDE REGEX "${WEFT_PLAIN_LOOPS}")
    foreach(isa IN LISTS WEFT_ISAS)
      set(level ${isa_optimisation})
      if(isa STREQUAL "baseline" AND level STREQUAL "-O3" AND WEFT_ISAS MATCHES "avx2")
        set(level -Os)   # the processors that need it are rare, and -O3 takes it twice as long to compile and twice the room
      endif()
      weft_isa_objects(weft_${name}_${isa} ${isa} "${level}" ${isa_sources})
      if(level STREQUAL "-O3")
        set(level -O2 $<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=dynamic> $<$<CXX_COMPILER_ID:GNU>:-fpeel-loops>
                  $<$<CXX_COMPILER_ID:GNU>:-funswitch-loops>)
      endif()
      if(plain)
        weft_isa_objects(weft_${name}_plain_${isa} ${isa} "${level}" ${plain})
      endif()
    endforeach()
  endif()
endfunction()

function(weft_isa_objects target isa level)
  weft_objects(${target} ${ARGN})
  # Loops throw nothing, so nobody unwinds through them: tables that only a debugger would read are a tenth of a megabyte.
  target_compile_options(${target} PRIVATE ${WEFT_ISA_FLAGS_${isa}} ${level}
                         $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-fno-asynchronous-unwind-tables -fno-dwarf2-cfi-asm>)
  target_compile_definitions(${target} PRIVATE WEFT_ISA=${isa} WEFT_ISA_${isa}=1)
  if(WEFT_SHARE_HEADERS AND NOT isa STREQUAL "baseline")   # each has options of its own, so headers of its own
    target_precompile_headers(${target} PRIVATE <immintrin.h>)
  endif()
endfunction()

# `first` compiles the headers, the others take them from it: all have the same options.
function(weft_share_headers target first)
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# Several sources at a time: what they all read, and instances of one template, are compiled once.
function(weft_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)   # takes a source for a header then
endfunction()

function(weft_objects target)
  add_library(${target} OBJECT ${ARGN})
  target_link_libraries(${target} PRIVATE weft_options weft_found)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -ffunction-sections)   # a program, and the extension, leave out functions that nobody calls
  if(WEFT_SHARE_HEADERS AND NOT target MATCHES "_(baseline|avx2|avx512)$")
    weft_together(${target})
    # Shared headers hold for one kind of optimisation: the first small sources make those of the others.
    set(first weft_base)
    if(target MATCHES "_oracle$")
      set(first "")
    elseif(target MATCHES "_small$")
      get_property(first GLOBAL PROPERTY WEFT_FIRST_SMALL)
      if(NOT first)
        set(first ${target})
        set_property(GLOBAL PROPERTY WEFT_FIRST_SMALL ${target})
      endif()
    endif()
    if(first)
      weft_share_headers(${target} ${first} ${PROJECT_SOURCE_DIR}/cmake/headers.h)
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_OBJECTS ${target})
endfunction()

# The library itself: one object, linked beforehand from all floors, then packed as a static or a shared library. One, since a linker
# takes an archive's members only where something names them, and what registers itself (operations, layers, optimizers) is named by
# nobody. WEFT_JOINED names such an object of another build of the same sources: then nothing is compiled anew.
function(weft_library)
  set(whole ${WEFT_JOINED})
  get_property(objects GLOBAL PROPERTY WEFT_OBJECTS)
  set(files "")
  foreach(target IN LISTS objects)
    list(APPEND files $<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,gch$>)   # shared headers are listed there, too
  endforeach()
  if(NOT whole AND BUILD_SHARED_LIBS)
    set(whole ${files})   # a shared library holds them all anyway
  elseif(NOT whole)
    set(whole ${PROJECT_BINARY_DIR}/weft_whole.o)
    add_custom_command(OUTPUT ${whole} COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${whole} ${files} DEPENDS ${files}
                       COMMAND_EXPAND_LISTS VERBATIM COMMENT "Joining the floors")
  endif()
  if(BUILD_SHARED_LIBS)
    add_library(weft SHARED ${whole})
  else()
    add_library(weft STATIC ${whole})
  endif()
  set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(weft PROPERTIES LINKER_LANGUAGE CXX)
  add_library(weft::weft ALIAS weft)
  set_target_properties(weft PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(weft PUBLIC cxx_std_20)
  target_include_directories(weft PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(weft PRIVATE $<BUILD_INTERFACE:weft_found>)
  find_package(Threads REQUIRED)
  target_link_libraries(weft PUBLIC Threads::Threads ${CMAKE_DL_LIBS})   # drivers are opened at run time
  if(WEFT_SANITIZE)
    target_link_options(weft PUBLIC -fsanitize=${WEFT_SANITIZE})
  endif()
endfunction()

function(weft_program)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/weft/cli/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(weft_program ${sources})
  set_target_properties(weft_program PROPERTIES OUTPUT_NAME weft RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(weft_program PRIVATE weft weft_options weft_found)
  if(WEFT_SHARE_HEADERS)
    weft_together(weft_program)
  endif()
  install(TARGETS weft_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
