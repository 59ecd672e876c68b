# SPDX-License-Identifier: Apache-2.0
# Warnings, hardening and sanitizer lanes. Lanes: FK_SANITIZE=address|thread|none, FK_FUZZ=ON (clang), FK_COVERAGE=ON (clang).
set(FK_SANITIZE "none" CACHE STRING "address (with undefined behaviour), thread or none")
option(FK_FUZZ "build fuzz targets with libFuzzer (clang)" OFF)
option(FK_COVERAGE "clang source coverage" OFF)
# The code is held to the compilers of Debian 12. Others know other warnings: those are shown, they stop nobody.
set(FK_WERROR_DEFAULT OFF)
if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13) OR
   (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 15))
  set(FK_WERROR_DEFAULT ON)
endif()
option(FK_WERROR "warnings are errors" ${FK_WERROR_DEFAULT})

set(CMAKE_C_FLAGS_RELEASE "") # the options below are the whole truth; assert stays on
include(CheckCCompilerFlag)
add_library(fk_flags INTERFACE)
target_compile_definitions(fk_flags INTERFACE _GNU_SOURCE FK_VERSION="${PROJECT_VERSION}")
target_include_directories(fk_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(fk_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wmissing-prototypes -Wstrict-prototypes -Wold-style-definition -Wmissing-declarations
  -Wundef -Wshadow -Wpointer-arith -Wwrite-strings -Wcast-qual -Wvla -Walloca -Wformat=2 -Wimplicit-fallthrough
  -Wnull-dereference -Wdate-time -Wframe-larger-than=24576 -Wcast-function-type -Wconversion -Wno-sign-conversion
  -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-common -fvisibility=hidden -fno-strict-aliasing
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(FK_WERROR)
  target_compile_options(fk_flags INTERFACE -Werror)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(fk_flags INTERFACE -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wjump-misses-init
    -Wformat-overflow=2 -Wformat-truncation=2 -Wformat-signedness -Wstringop-overflow=4 -Warray-bounds=2
    -Wcast-align=strict -Wtrampolines -Wbidi-chars=any)
else()
  target_compile_options(fk_flags INTERFACE -Wcomma -Wassign-enum -Wconditional-uninitialized -Wshorten-64-to-32
    -Wno-gnu-zero-variadic-macro-arguments)
endif()

if(FK_SANITIZE STREQUAL "address")
  target_compile_options(fk_flags INTERFACE -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(fk_flags INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(fk_flags INTERFACE FK_DEBUG=1)
elseif(FK_SANITIZE STREQUAL "thread")
  target_compile_options(fk_flags INTERFACE -O1 -g -fsanitize=thread)
  target_link_options(fk_flags INTERFACE -fsanitize=thread)
  target_compile_definitions(fk_flags INTERFACE FK_DEBUG=1)
elseif(FK_FUZZ OR FK_COVERAGE)
  target_compile_options(fk_flags INTERFACE -O1 -g)
else()
  target_compile_options(fk_flags INTERFACE -O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
    -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
    target_compile_options(fk_flags INTERFACE -fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    target_compile_options(fk_flags INTERFACE -mbranch-protection=standard)
  endif()
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(fk_flags INTERFACE -ftrivial-auto-var-init=zero)
  else()
    target_compile_options(fk_flags INTERFACE -Wno-unused-command-line-argument)
  endif()
  target_compile_options(fk_flags INTERFACE -fPIE)
  target_link_options(fk_flags INTERFACE -pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code)
endif()
if(NOT FK_SANITIZE STREQUAL "none" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Instrumentation hides from GCC what is set on which path; the release build has the last word.
  target_compile_options(fk_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(FK_FUZZ)
  target_compile_options(fk_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(fk_flags INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(fk_flags INTERFACE FK_DEBUG=1 FK_FUZZING=1)
endif()
if(FK_COVERAGE)
  target_compile_options(fk_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(fk_flags INTERFACE -fprofile-instr-generate)
endif()
