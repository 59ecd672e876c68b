// SPDX-License-Identifier: Apache-2.0
// A zip file as a stream: each member is written when it is given, the directory in the end.
// Source: PKWARE APPNOTE.TXT 6.3.10 (4.3 structures, 4.4 fields, 4.3.14 and 4.5.3 zip64).
#ifndef FK_CODEC_ARCHIVE_H
#define FK_CODEC_ARCHIVE_H

#include "base/base.h"

struct fk_archive_member {
    char *name; // owned
    uint32_t crc, packed, size, time, n_name;
    uint64_t at;
    uint16_t method;
};

struct fk_archive {
    struct fk_out out;
    uint64_t at; // bytes written
    FK_VEC(struct fk_archive_member) members;
    struct fk_buf buf; // scratch
};

void fk_archive_init(struct fk_archive *a, struct fk_out out);
void fk_archive_free(struct fk_archive *a);
// A member: its bytes deflated, or stored when that is no shorter. Names are UTF-8 with '/' between
// folders; that they differ is the caller's to see to. Bytes up to 4 GiB - 1 (FK_E_LIMIT).
int fk_archive_add(struct fk_archive *a, struct fk_str name, struct fk_str bytes, int64_t time_ns,
                   struct fk_err *err);
// The directory. Nothing can be added afterwards.
int fk_archive_finish(struct fk_archive *a, struct fk_err *err);

#endif
