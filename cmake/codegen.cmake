# The code generator: LLVM and lld in a library of their own, opened on the first compilation.
# Without them the library works, and compiled functions run through the interpreter.
find_package(LLVM 19 CONFIG PATHS /usr/lib/llvm-19 QUIET)
find_package(LLD CONFIG PATHS /usr/lib/llvm-19 QUIET)
# What both libraries say of the generator's sources. The main one holds it, so that another
# generator gives that another build-id, by which cached code is known; and it refuses any other.
file(GLOB generator_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/codegen/llvm/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${generator_sources})
set(generator_digest "LLVM ${LLVM_PACKAGE_VERSION}")
foreach(source IN LISTS generator_sources)
  file(SHA256 ${source} digest)
  string(APPEND generator_digest " ${digest}")
endforeach()
string(SHA256 generator_digest "${generator_digest}")
set_property(SOURCE src/codegen/build.cpp src/codegen/llvm/object.cpp
  PROPERTY COMPILE_DEFINITIONS FOREGRAD_GENERATOR="${generator_digest}")
add_custom_target(libraries DEPENDS foregrad)
if(LLVM_FOUND AND LLD_FOUND AND NOT FOREGRAD_SANITIZE MATCHES thread)
  set(sources ${generator_sources})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  add_library(foregrad_codegen_llvm SHARED ${sources})
  set_target_properties(foregrad_codegen_llvm PROPERTIES OUTPUT_NAME foregrad-codegen
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIR}")
  target_include_directories(foregrad_codegen_llvm PRIVATE src)
  target_compile_definitions(foregrad_codegen_llvm PRIVATE FOREGRAD_LIBRARY FOREGRAD_ASKS_KNOWN)
  target_include_directories(foregrad_codegen_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS}
    ${LLD_INCLUDE_DIRS})
  target_link_libraries(foregrad_codegen_llvm PRIVATE foregrad foregrad_flags
    fmt::fmt lldELF lldCommon LLVM stdc++)
  target_link_options(foregrad_codegen_llvm PRIVATE -Wl,--exclude-libs,ALL)
  add_dependencies(libraries foregrad_codegen_llvm)
else()
  message(STATUS "LLVM 19 or lld 19 is missing: compiled functions run through the interpreter")
endif()
