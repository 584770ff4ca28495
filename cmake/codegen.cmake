# The code generator: LLVM and lld in a library of their own, opened on the first compilation.
# Without them the library works, and compiled functions run through the interpreter.
find_package(LLVM 19 CONFIG PATHS /usr/lib/llvm-19 QUIET)
find_package(LLD CONFIG PATHS /usr/lib/llvm-19 QUIET)
add_custom_target(libraries DEPENDS foregrad)
if(LLVM_FOUND AND LLD_FOUND AND NOT FOREGRAD_SANITIZE MATCHES thread)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/codegen/llvm/*.cpp)
  add_library(foregrad_codegen_llvm SHARED ${sources})
  set_target_properties(foregrad_codegen_llvm PROPERTIES OUTPUT_NAME foregrad-codegen
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIR}")
  target_include_directories(foregrad_codegen_llvm PRIVATE src)
  target_include_directories(foregrad_codegen_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS}
    ${LLD_INCLUDE_DIRS})
  target_link_libraries(foregrad_codegen_llvm PRIVATE foregrad foregrad_flags
    fmt::fmt lldELF lldCommon LLVM stdc++)
  target_link_options(foregrad_codegen_llvm PRIVATE -Wl,--exclude-libs,ALL)
  add_dependencies(libraries foregrad_codegen_llvm)
else()
  message(STATUS "LLVM 19 or lld 19 is missing: compiled functions run through the interpreter")
endif()
