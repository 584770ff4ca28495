# Compiler flags: `foregrad_flags` for everything of ours, `foregrad_dependencies` for the library.
# CMAKE_COMPILE_WARNING_AS_ERROR comes from the presets, so a user's newer compiler only warns.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Paths are stored relative to the checkout, so that every clone finds what another one compiled.
find_program(CCACHE ccache)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH checkout)
if(CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${checkout}
    CCACHE_NOHASHDIR=true ${CCACHE})
endif()

# Eager and compiled code agree bit for bit only if the compiler contracts nothing by itself.
add_library(foregrad_flags INTERFACE)
target_compile_options(foregrad_flags INTERFACE -Wall -Wextra -Wno-psabi -ffp-contract=off
  -fno-math-errno -fno-trapping-math)

add_library(foregrad_dependencies INTERFACE)
target_link_libraries(foregrad_dependencies INTERFACE fmt::fmt Threads::Threads sodium zstd)

if(FOREGRAD_SANITIZE)
  # Small objects come from malloc, so that the sanitizers see each of them.
  add_compile_definitions(FOREGRAD_SANITIZE)
  add_compile_options(-fsanitize=${FOREGRAD_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -O1 -g1 -Wno-maybe-uninitialized)  # a false alarm at -O1
  add_link_options(-fsanitize=${FOREGRAD_SANITIZE})
else()
  # The C++ library first: mimalloc has operators new and delete too, and what a library that is
  # opened later allocates with the one must not be freed with the other.
  target_link_libraries(foregrad_dependencies INTERFACE stdc++ mimalloc)
endif()

# Kernels use asm operands and `flatten`, which need inlining: never -O0 for the folders ops and ir.
function(fg_kernel_flags target folder)
  if(folder MATCHES "^(ops|ir)$")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O1>
      $<$<CONFIG:Debug>:-Wno-maybe-uninitialized>)  # a false alarm at -O1
    # g++ may clone a formula's lambda, and `flatten` skips clones.
    target_compile_options(${target} PRIVATE -fno-ipa-sra -fno-ipa-cp)
    if(FOREGRAD_SANITIZE MATCHES "address")
      # Checks as calls: inlined into vector code they make g++ six times slower. Checks of pointers
      # that the address sanitizer makes as well slow it down four times more.
      target_compile_options(${target} PRIVATE --param=asan-stack=0
        --param=asan-instrumentation-with-call-threshold=0
        -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow)
    endif()
  endif()
endfunction()
