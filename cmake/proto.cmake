# SPDX-License-Identifier: Apache-2.0
# The descriptors of proto/ as a C file of the rpc room, for reflection.
find_program(FK_PROTOC protoc REQUIRED)
file(GLOB_RECURSE FK_PROTOS CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/proto ${CMAKE_SOURCE_DIR}/proto/*.proto)
list(TRANSFORM FK_PROTOS PREPEND ${CMAKE_SOURCE_DIR}/proto/ OUTPUT_VARIABLE FK_PROTO_PATHS)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/rpc_descriptors.c
  COMMAND ${FK_PROTOC} -I ${CMAKE_SOURCE_DIR}/proto --descriptor_set_out=${CMAKE_BINARY_DIR}/rpc_descriptors.pb ${FK_PROTOS}
  COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/embed_proto.py ${CMAKE_BINARY_DIR}/rpc_descriptors.pb
          ${CMAKE_BINARY_DIR}/rpc_descriptors.c
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_proto.py ${FK_PROTO_PATHS}
  VERBATIM)
target_sources(fk_rpc PRIVATE ${CMAKE_BINARY_DIR}/rpc_descriptors.c)
