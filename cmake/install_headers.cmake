# Installs src/foregrad.h, src/graphs.h and every header they reach, and no other. The includes
# become <foregrad/...>, so that a user's own "tensor/dtype.h" can never be taken for ours.
# Needs source_dir, staging_dir, include_dir.
cmake_minimum_required(VERSION 3.25)  # a script of its own: policies are not inherited
set(pending foregrad.h graphs.h)
set(reached "")
file(REMOVE_RECURSE ${staging_dir})
while(pending)
  list(POP_FRONT pending header)
  if(header IN_LIST reached)
    continue()
  endif()
  list(APPEND reached ${header})
  file(READ ${source_dir}/${header} text)
  string(REGEX MATCHALL "#include \"[^\"]+\"" includes "${text}")
  list(TRANSFORM includes REPLACE "#include \"([^\"]+)\"" "\\1")
  list(APPEND pending ${includes})
  string(REGEX REPLACE "#include \"([^\"]+)\"" "#include <foregrad/\\1>" text "${text}")
  file(WRITE ${staging_dir}/${header} "${text}")
endwhile()
file(INSTALL ${staging_dir}/ DESTINATION ${CMAKE_INSTALL_PREFIX}/${include_dir})
