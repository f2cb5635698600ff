# What is found and what is left out. Each library is optional; WEFT_LIBRARIES=OFF leaves out all.
# A source asks with #if WEFT_HAVE_ONEDNN (0 or 1), always defined by weft/found.h in the generated folder.
# WEFT_PRIVATE_LIBRARIES gathers the names that a program linking a static weft has to link as well (weftConfig.cmake, weft.pc).
add_library(weft_found INTERFACE)
set(WEFT_PRIVATE_LIBRARIES "")
set(WEFT_LIBRARY_ROWS "")   # what `weft doctor` says: X(found, "package", "what is lost")

# weft_optional(NAME header library package "what is lost"): sets WEFT_HAVE_<NAME>. Headers and libraries are looked for by name
# rather than through the libraries' own CMake packages: Debian's for oneDNN ends the configuration where OpenCL is missing.
# A library that is headers alone has "" for its name.
function(weft_optional name header library package lost)
  set(found 0)
  if(WEFT_LIBRARIES)
    find_path(WEFT_${name}_INCLUDE ${header} PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread openblas-pthread openblas)
    mark_as_advanced(WEFT_${name}_INCLUDE)
    if(library)
      find_library(WEFT_${name}_LIBRARY NAMES ${library})
      mark_as_advanced(WEFT_${name}_LIBRARY)
    endif()
    if(WEFT_${name}_INCLUDE AND (NOT library OR WEFT_${name}_LIBRARY))
      set(found 1)
    endif()
  endif()
  set(WEFT_HAVE_${name} ${found} PARENT_SCOPE)
  if(found)
    target_include_directories(weft_found SYSTEM INTERFACE ${WEFT_${name}_INCLUDE})
    if(library)
      target_link_libraries(weft_found INTERFACE ${WEFT_${name}_LIBRARY})
      list(APPEND WEFT_PRIVATE_LIBRARIES ${library})
      set(WEFT_PRIVATE_LIBRARIES ${WEFT_PRIVATE_LIBRARIES} PARENT_SCOPE)
    endif()
  else()
    message(STATUS "weft: without ${package}: ${lost}")
  endif()
  set(WEFT_LIBRARY_ROWS "${WEFT_LIBRARY_ROWS} X(${found}, \"${package}\", \"${lost}\")" PARENT_SCOPE)
endfunction()

weft_optional(ONEDNN dnnl.hpp dnnl "oneDNN (libdnnl-dev)" "convolutions, pooling and large products run on weft's own kernels, slower")
weft_optional(OPENBLAS openblas_config.h openblas "OpenBLAS (libopenblas-dev)" "matrix products run on weft's own kernels, slower")
weft_optional(XBYAK xbyak/xbyak.h "" "xbyak (libxbyak-dev)" "element-wise loops run on the block evaluator, slower")
weft_optional(YAML yaml-cpp/yaml.h yaml-cpp "yaml-cpp (libyaml-cpp-dev)" "experiments are read from JSON alone")
weft_optional(ZLIB zlib.h z "zlib (zlib1g-dev)" "data sets packed with gzip must be unpacked by hand")
configure_file(${CMAKE_CURRENT_LIST_DIR}/found.h.in ${PROJECT_BINARY_DIR}/generated/weft/found.h @ONLY)
