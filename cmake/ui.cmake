# SPDX-License-Identifier: Apache-2.0
# The built interface (ui/dist, made by `npm run build` in ui/) as a C file of the api room. Not built: an empty table.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB_RECURSE FK_UI_FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/ui/dist/*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/ui_assets.c
  COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/embed_ui.py ${CMAKE_SOURCE_DIR}/ui/dist
          ${CMAKE_BINARY_DIR}/ui_assets.c
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_ui.py ${FK_UI_FILES}
  VERBATIM)
target_sources(fk_api PRIVATE ${CMAKE_BINARY_DIR}/ui_assets.c)
set_source_files_properties(${CMAKE_BINARY_DIR}/ui_assets.c PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings")
