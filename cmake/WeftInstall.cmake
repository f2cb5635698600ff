# What an installed weft consists of: the library, the headers that a user's program can reach, and how CMake and pkg-config find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(WEFT_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(TARGETS weft EXPORT weftTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${WEFT_CMAKE_FOLDER})

# The public headers are those that the entry headers include, directly or not; WeftHeaders.cmake walks them while installing.
install(CODE "set(weft_source \"${PROJECT_SOURCE_DIR}/src\")\nset(weft_include \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/WeftHeaders.cmake)

set(weft_shared ${BUILD_SHARED_LIBS})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weftConfig.cmake.in ${PROJECT_BINARY_DIR}/weftConfig.cmake
                              INSTALL_DESTINATION ${WEFT_CMAKE_FOLDER})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake DESTINATION ${WEFT_CMAKE_FOLDER})

# pkg-config has no notion of "static only here", so a static weft names its libraries among those that every program links.
set(weft_pc_libraries "")
if(NOT BUILD_SHARED_LIBS)
  foreach(library IN LISTS WEFT_PRIVATE_LIBRARIES)
    string(APPEND weft_pc_libraries " -l${library}")
  endforeach()
endif()
# Relative to the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH weft_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
