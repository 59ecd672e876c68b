// SPDX-License-Identifier: Apache-2.0
// Rows of the message tables: F one value, FR repeated, FM a message, FMR messages, FMO a message
// that may be absent (a pointer), FE an enum.
#ifndef FK_API_RPC_FIELDS_INT_H
#define FK_API_RPC_FIELDS_INT_H

#include "rpc/rpc.h"

#define F(s, member, num, knd, nam, jsn)                                                           \
    {                                                                                              \
        .number = (num), .kind = (knd), .offset = offsetof(s, member), .name = (nam),              \
        .json = (jsn)                                                                              \
    }
#define FR(s, member, num, knd, nam, jsn)                                                          \
    {                                                                                              \
        .number = (num), .kind = (knd), .repeated = true, .offset = offsetof(s, member),           \
        .name = (nam), .json = (jsn)                                                               \
    }
#define FM(s, member, num, typ, nam, jsn)                                                          \
    {                                                                                              \
        .number = (num), .kind = FK_FIELD_MSG, .offset = offsetof(s, member), .name = (nam),       \
        .json = (jsn), .type = (typ)                                                               \
    }
#define FMR(s, member, num, typ, nam, jsn)                                                         \
    {                                                                                              \
        .number = (num), .kind = FK_FIELD_MSG, .repeated = true, .offset = offsetof(s, member),    \
        .name = (nam), .json = (jsn), .type = (typ)                                                \
    }
#define FMO(s, member, num, typ, nam, jsn)                                                         \
    {                                                                                              \
        .number = (num), .kind = FK_FIELD_MSG, .optional = true, .offset = offsetof(s, member),    \
        .name = (nam), .json = (jsn), .type = (typ)                                                \
    }
#define FE(s, member, num, words, nam, jsn)                                                        \
    {                                                                                              \
        .number = (num), .kind = FK_FIELD_ENUM, .offset = offsetof(s, member), .name = (nam),      \
        .json = (jsn), .names = (words)                                                            \
    }
#define TYPE(var, text, s, fields)                                                                 \
    const struct fk_msg_type var = {text, fields, FK_COUNTOF(fields), sizeof(s)}

#endif
