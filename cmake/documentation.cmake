# All documentation as one text: what `foregrad train` reads where it is given no other.
file(GLOB_RECURSE pages CONFIGURE_DEPENDS docs/*.md)
list(SORT pages)
set(pages ${PROJECT_SOURCE_DIR}/README.md ${pages} ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
set(documentation ${PROJECT_BINARY_DIR}/share/foregrad/documentation.txt)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/foregrad)
add_custom_command(OUTPUT ${documentation}
  COMMAND ${CMAKE_COMMAND} -E cat ${pages} > ${documentation} DEPENDS ${pages})
add_custom_target(documentation_text DEPENDS ${documentation})
add_dependencies(foregrad_cli documentation_text)
install(FILES ${documentation} DESTINATION ${CMAKE_INSTALL_DATADIR}/foregrad)
