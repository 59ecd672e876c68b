# SPDX-License-Identifier: Apache-2.0
# Script and style of the exported HTML page (src/render/page) as a C file of the render room.
file(GLOB FK_PAGE_FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/render/page/*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/render_page.c
  COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/embed_page.py ${CMAKE_SOURCE_DIR}/src/render/page
          ${CMAKE_BINARY_DIR}/render_page.c
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_page.py ${FK_PAGE_FILES}
  VERBATIM)
target_sources(fk_render PRIVATE ${CMAKE_BINARY_DIR}/render_page.c)
set_source_files_properties(${CMAKE_BINARY_DIR}/render_page.c PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings")
