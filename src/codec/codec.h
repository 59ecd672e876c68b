// SPDX-License-Identifier: Apache-2.0
// Bytes and their encodings, bounded and without I/O. This is the room's public header: other rooms
// include "codec/codec.h" only; it gathers the small headers below, each of one subject.
#ifndef FK_CODEC_H
#define FK_CODEC_H

#include "codec/archive.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "codec/json.h"
#include "codec/pack.h"
#include "codec/pb.h"
#include "codec/varint.h"
#include "codec/zip.h"

// Checksum of everything Flamekeep writes: XXH3, 64 bits, seed 0 (xxHash specification 0.8).
uint64_t fk_checksum(const void *p, size_t n);

#endif
