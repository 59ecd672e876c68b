#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a descriptor set (protoc's output) as a C file of the rpc room:  embed_proto.py SET OUT"""
import sys

data = open(sys.argv[1], 'rb').read()
rows = [', '.join(f'0x{b:02x}' for b in data[i:i + 20]) for i in range(0, len(data), 20)]
with open(sys.argv[2], 'w') as out:
    out.write('#include "rpc/reflection_int.h"\n\nconst uint8_t fk_rpc_descriptors[] = {\n    ' +
              ',\n    '.join(rows) + '};\nconst size_t fk_rpc_descriptors_n = sizeof(fk_rpc_descriptors);\n')
