# Convolutions by oneDNN: a library of its own, opened on the first use, because loading oneDNN and
# OpenMP takes longer than `import foregrad`. Without it convolutions are products of matrices.
# The sanitizers see neither generated code nor OpenMP, and their builds have no level v3.
find_path(ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(ONEDNN_LIBRARY dnnl)
if(ONEDNN_INCLUDE AND ONEDNN_LIBRARY AND NOT FOREGRAD_SANITIZE)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/onednn/*.cpp)
  add_library(foregrad_onednn MODULE ${sources})
  set_target_properties(foregrad_onednn PROPERTIES OUTPUT_NAME foregrad-onednn
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(foregrad_onednn PRIVATE src)
  target_include_directories(foregrad_onednn SYSTEM PRIVATE ${ONEDNN_INCLUDE})
  target_link_libraries(foregrad_onednn PRIVATE foregrad_flags ${ONEDNN_LIBRARY} gomp)
  add_dependencies(foregrad foregrad_onednn)  # whoever builds the library gets both
elseif(NOT FOREGRAD_SANITIZE)
  message(STATUS "oneDNN is missing: convolutions on f32 are slower")
endif()
