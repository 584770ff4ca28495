# The cache: libsodium and zstd in the library, the format of its entries from a schema, and the
# client of the remote store in a library of its own, because most programs have no use for OpenSSL.
find_program(FLATC flatc REQUIRED)
find_path(SODIUM_INCLUDE sodium.h REQUIRED)
find_path(ZSTD_INCLUDE zstd.h REQUIRED)

set(FOREGRAD_GENERATED ${PROJECT_BINARY_DIR}/generated)

# src/LAYER/NAME.fbs becomes <LAYER/NAME_generated.h> for that layer.
function(fg_schema layer name)
  set(schema ${PROJECT_SOURCE_DIR}/src/${layer}/${name}.fbs)
  set(header ${FOREGRAD_GENERATED}/${layer}/${name}_generated.h)
  add_custom_command(OUTPUT ${header} DEPENDS ${schema} VERBATIM
    COMMAND ${FLATC} --cpp --scoped-enums --gen-object-api -o ${FOREGRAD_GENERATED}/${layer}
      ${schema})
  add_custom_target(foregrad_${layer}_${name}_format DEPENDS ${header})
  add_dependencies(foregrad_${layer} foregrad_${layer}_${name}_format)
  target_include_directories(foregrad_${layer} SYSTEM PRIVATE ${FOREGRAD_GENERATED})
endfunction()

# After the layers, which are targets by then.
function(fg_cache_targets)
  if(NOT TARGET foregrad_cache)
    return()
  endif()
  fg_schema(cache entry)
  fg_schema(codegen stored_executable)
  fg_schema(compile stored_programs)

  find_package(OpenSSL QUIET)
  find_path(HIREDIS_INCLUDE hiredis/hiredis.h)
  find_library(HIREDIS_LIBRARY hiredis)
  if(NOT OpenSSL_FOUND OR NOT HIREDIS_INCLUDE OR NOT HIREDIS_LIBRARY)
    message(STATUS "hiredis or OpenSSL is missing: the cache has no remote store")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cache/redis/*.cpp)
  add_library(foregrad_redis MODULE ${sources})
  set_target_properties(foregrad_redis PROPERTIES OUTPUT_NAME foregrad-redis
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_include_directories(foregrad_redis PRIVATE src)
  target_include_directories(foregrad_redis SYSTEM PRIVATE ${HIREDIS_INCLUDE})
  target_link_libraries(foregrad_redis PRIVATE foregrad foregrad_flags fmt::fmt
    ${HIREDIS_LIBRARY} OpenSSL::SSL)
  add_dependencies(libraries foregrad_redis)
endfunction()
