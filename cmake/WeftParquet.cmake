# The module that reads Parquet: libweft_parquet.so, the only thing that sees Apache Arrow's C++. It lies beside the program and in the folder lib beside the
# Python extension, which open it with the first such file; neither is linked to it. Arrow is looked for as its own CMake package
# (Apache's, conda's, vcpkg's), by pkg-config, and in the pyarrow of the Python that the build uses, whose wheel holds headers and libraries.
set(WEFT_WITH_PARQUET AUTO CACHE STRING "Read Parquet files, by Apache Arrow: AUTO (where it is found), ON (required), OFF")
set_property(CACHE WEFT_WITH_PARQUET PROPERTY STRINGS AUTO ON OFF)

# Sets WEFT_ARROW_LIBRARIES (targets or files) and WEFT_ARROW_INCLUDE.
function(weft_find_arrow)
  set(WEFT_ARROW_LIBRARIES "" PARENT_SCOPE)
  set(WEFT_ARROW_INCLUDE "" PARENT_SCOPE)
  find_package(Parquet CONFIG QUIET)
  if(TARGET Parquet::parquet_shared)
    set(WEFT_ARROW_LIBRARIES Parquet::parquet_shared PARENT_SCOPE)
    return()
  endif()
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(WEFT_ARROW_PC QUIET IMPORTED_TARGET parquet arrow)
    if(WEFT_ARROW_PC_FOUND)
      set(WEFT_ARROW_LIBRARIES PkgConfig::WEFT_ARROW_PC PARENT_SCOPE)
      return()
    endif()
  endif()
  find_program(WEFT_PYTHON3 python3)
  mark_as_advanced(WEFT_PYTHON3)
  set(python ${WEFT_PYTHON3})
  if(Python_EXECUTABLE)
    set(python ${Python_EXECUTABLE})
  endif()
  if(NOT python)
    return()
  endif()
  # Found, not imported: that takes longer, and says no more.
  execute_process(COMMAND ${python} -c "import importlib.util as u, os; s = u.find_spec('pyarrow'); print(os.path.dirname(s.origin) if s else '')"
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(folder)
    file(GLOB arrow ${folder}/libarrow.so.*)
    file(GLOB parquet ${folder}/libparquet.so.*)
    if(arrow AND parquet)
      set(WEFT_ARROW_LIBRARIES ${parquet} ${arrow} PARENT_SCOPE)
      set(WEFT_ARROW_INCLUDE ${folder}/include PARENT_SCOPE)
    endif()
  endif()
endfunction()

set(WEFT_HAVE_PARQUET 0)
# Sanitizers watch what Arrow was built without.
if(WEFT_WITH_PARQUET STREQUAL "ON" OR (WEFT_WITH_PARQUET AND WEFT_LIBRARIES AND NOT WEFT_SANITIZE))
  weft_find_arrow()
  if(WEFT_ARROW_LIBRARIES)
    # An Arrow may be too old, or made by another compiler: known once the module is linked with it (three seconds, once).
    if(NOT "${WEFT_ARROW_LIBRARIES}" STREQUAL "${WEFT_ARROW_TRIED}")
      set(WEFT_ARROW_TRIED "${WEFT_ARROW_LIBRARIES}" CACHE INTERNAL "")
      try_compile(WEFT_ARROW_WORKS ${PROJECT_BINARY_DIR}/try_arrow ${PROJECT_SOURCE_DIR}/src/modules/parquet.cpp
                  CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/src;${WEFT_ARROW_INCLUDE}"
                  COMPILE_DEFINITIONS -fPIC
                  LINK_OPTIONS -shared -Wl,-z,defs LINK_LIBRARIES ${WEFT_ARROW_LIBRARIES}
                  CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON OUTPUT_VARIABLE said)
      file(WRITE ${PROJECT_BINARY_DIR}/try_arrow.log "${said}")
    endif()
    if(WEFT_ARROW_WORKS)
      set(WEFT_HAVE_PARQUET 1)
    endif()
  endif()
  if(WEFT_WITH_PARQUET STREQUAL "ON" AND NOT WEFT_HAVE_PARQUET)
    message(FATAL_ERROR "weft: WEFT_WITH_PARQUET=ON, and no Apache Arrow with Parquet was found that works here (found: '${WEFT_ARROW_LIBRARIES}'; "
            "${PROJECT_BINARY_DIR}/try_arrow.log says why). Name it by CMAKE_PREFIX_PATH, or pip install pyarrow and name that Python by Python_EXECUTABLE")
  endif()
endif()
set(weft_without_arrow "data sets in Parquet files are not read (Apache Arrow's C++: pip install pyarrow brings it)")
if(NOT WEFT_HAVE_PARQUET)
  message(STATUS "weft: without Apache Arrow: ${weft_without_arrow}")
endif()
string(APPEND WEFT_LIBRARY_ROWS " X(${WEFT_HAVE_PARQUET}, \"Apache Arrow\", \"${weft_without_arrow}\")")
# How found.h says where an installed program's libraries are: from its own folder.
file(RELATIVE_PATH WEFT_LIBRARIES_FROM_PROGRAMS ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

function(weft_parquet_module)
  add_library(weft_parquet MODULE ${PROJECT_SOURCE_DIR}/src/modules/parquet.cpp)
  target_compile_features(weft_parquet PRIVATE cxx_std_20)
  target_include_directories(weft_parquet PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(weft_parquet SYSTEM PRIVATE ${WEFT_ARROW_INCLUDE})
  target_compile_options(weft_parquet PRIVATE -Wall -Wextra ${WEFT_REFUSE_WARNINGS})
  target_link_libraries(weft_parquet PRIVATE ${WEFT_ARROW_LIBRARIES})
  set_target_properties(weft_parquet PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CXX_VISIBILITY_PRESET hidden
                        INSTALL_RPATH_USE_LINK_PATH ON)
  if(TARGET weft_program)
    add_dependencies(weft_program weft_parquet)
  endif()
  if(NOT SKBUILD)   # a wheel has it beside the extension
    install(TARGETS weft_parquet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()
