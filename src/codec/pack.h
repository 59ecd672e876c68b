// SPDX-License-Identifier: Apache-2.0
// Integer packing for columns on disk and in the head. Values go in blocks of 128; the last, short
// block is packed alike but as one plain bit string. The number of values is not stored: the reader
// knows it. All little-endian.
//
//   full block at width w <= 32: 4 lanes of 32-bit words, value i in lane i % 4, w words a lane,
//       words of the lanes interleaved (16 w bytes) -- the vertical layout of Lemire and Boytsov,
//       "Decoding billions of integers per second through vectorization" (2015);
//   full block at width w > 32, and short blocks: value i at bits [i w, (i + 1) w) of a bit string,
//       rounded up to bytes;
//   u32:       per block: width (1 byte), packed values
//   ascending: as u32, of the differences to the value before (the first: to 0)
//   u64:       per block: width w, number of exceptions e, and if e: width x of exceptions; the low
//       w bits of each value; e positions (1 byte each, ascending); e high parts (value >> w) as a
//       bit string of width x
//
// Readers trust nothing: they never read beyond the cursor's end nor write beyond n values, and
// answer -FK_E_CORRUPT for what no writer writes; *c and out[] are then unspecified.
#ifndef FK_CODEC_PACK_H
#define FK_CODEC_PACK_H

#include "codec/varint.h"

#define FK_PACK_BLOCK 128

void fk_pack_u32(struct fk_buf *b, const uint32_t *v, size_t n);
int fk_unpack_u32(struct fk_cur *c, uint32_t *out, size_t n);
// v[] must not descend.
void fk_pack_ascending(struct fk_buf *b, const uint32_t *v, size_t n);
int fk_unpack_ascending(struct fk_cur *c, uint32_t *out, size_t n);
void fk_pack_u64(struct fk_buf *b, const uint64_t *v, size_t n);
int fk_unpack_u64(struct fk_cur *c, uint64_t *out, size_t n);
// Bytes that the three would write, without writing.
size_t fk_pack_u32_size(const uint32_t *v, size_t n);
size_t fk_pack_ascending_size(const uint32_t *v, size_t n);
size_t fk_pack_u64_size(const uint64_t *v, size_t n);

#endif
