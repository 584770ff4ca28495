# Install rules: library, command, package files, and the headers <foregrad/foregrad.h> reaches.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/foregrad)

install(TARGETS foregrad EXPORT foregrad LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Looked for beside the library:
foreach(helper IN ITEMS foregrad_codegen_llvm foregrad_onednn foregrad_redis)
  if(TARGET ${helper})
    install(TARGETS ${helper} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
install(TARGETS foregrad_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT foregrad FILE foregrad-targets.cmake NAMESPACE foregrad:: DESTINATION ${package_dir})
install(CODE "set(source_dir \"${PROJECT_SOURCE_DIR}/src\")
  set(staging_dir \"${PROJECT_BINARY_DIR}/installed_headers\")
  set(include_dir \"${CMAKE_INSTALL_INCLUDEDIR}/foregrad\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake)

file(WRITE ${PROJECT_BINARY_DIR}/foregrad-config.cmake
  "include(\${CMAKE_CURRENT_LIST_DIR}/foregrad-targets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/foregrad-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/foregrad-config.cmake
  ${PROJECT_BINARY_DIR}/foregrad-config-version.cmake DESTINATION ${package_dir})
