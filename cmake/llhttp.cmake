# SPDX-License-Identifier: Apache-2.0
# llhttp, Node's HTTP/1 parser. Debian 13 packages it as a library; Debian 12 ships the C sources in node-llhttp,
# which are compiled here (not copied into this repository).
pkg_check_modules(LLHTTP QUIET IMPORTED_TARGET libllhttp)
if(TARGET PkgConfig::LLHTTP)
  add_library(fk_llhttp INTERFACE)
  target_link_libraries(fk_llhttp INTERFACE PkgConfig::LLHTTP)
elseif(EXISTS /usr/share/llhttp/llhttp.c)
  add_library(fk_llhttp STATIC /usr/share/llhttp/llhttp.c /usr/share/llhttp/api.c /usr/share/llhttp/http.c)
  target_compile_definitions(fk_llhttp PUBLIC LLHTTP_STRICT_MODE=1)
  target_compile_options(fk_llhttp PRIVATE -O2 -w -fPIE -fno-omit-frame-pointer)
  target_include_directories(fk_llhttp SYSTEM PUBLIC /usr/share/include/llhttp)
endif()
