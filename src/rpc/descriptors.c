// SPDX-License-Identifier: Apache-2.0
// Finding one's way in the descriptor set. Field numbers: google/protobuf/descriptor.proto.
#include "rpc/reflection_int.h"

enum { // FileDescriptorProto
    FILE_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
};
enum { // DescriptorProto
    MESSAGE_FIELD = 2,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
};
enum { ANY_NAME = 1, SERVICE_METHOD = 2, SET_FILE = 1 };

struct fk_cur fk_rpc_files(void)
{
    return fk_cur_of(fk_str_make(fk_rpc_descriptors, fk_rpc_descriptors_n));
}

static struct fk_str name_of(struct fk_str declaration)
{
    struct fk_cur c = fk_cur_of(declaration);
    struct fk_pb_field f;
    while (fk_pb_next(&c, &f) == 1)
        if (f.number == ANY_NAME && f.wire == FK_WIRE_LEN)
            return fk_pb_str(&f);
    return FK_S("");
}

bool fk_rpc_next_file(struct fk_cur *set, struct fk_rpc_file *ret)
{
    struct fk_pb_field f;
    if (fk_pb_next(set, &f) != 1)
        return false;
    *ret = (struct fk_rpc_file){FK_S(""), FK_S(""), fk_pb_str(&f)};
    struct fk_cur c = fk_cur_of(ret->bytes);
    while (fk_pb_next(&c, &f) == 1)
        if (f.number == FILE_NAME)
            ret->name = fk_pb_str(&f);
        else if (f.number == FILE_PACKAGE)
            ret->package = fk_pb_str(&f);
    return true;
}

bool fk_rpc_file_named(struct fk_str name, struct fk_rpc_file *ret)
{
    struct fk_cur set = fk_rpc_files();
    while (fk_rpc_next_file(&set, ret))
        if (fk_str_eq(ret->name, name))
            return true;
    return false;
}

// Takes "first." off the front of *s, or the whole of it.
static bool take_part(struct fk_str *s, struct fk_str part)
{
    if (!fk_str_starts(*s, part) || (s->n > part.n && s->p[part.n] != '.'))
        return false;
    *s = s->n > part.n ? fk_str_from(*s, part.n + 1) : FK_S("");
    return true;
}

// Whether a declaration, or what it holds in the fields `inner`, has the relative name.
static bool holds(struct fk_str declaration, struct fk_str name, bool message)
{
    struct fk_cur c = fk_cur_of(declaration);
    struct fk_pb_field f;
    if (!take_part(&name, name_of(declaration)))
        return false;
    if (name.n == 0)
        return true;
    while (fk_pb_next(&c, &f) == 1) {
        bool inner = message ? f.number == MESSAGE_FIELD || f.number == MESSAGE_NESTED ||
                                   f.number == MESSAGE_ENUM
                             : f.number == SERVICE_METHOD;
        if (inner && f.wire == FK_WIRE_LEN &&
            holds(fk_pb_str(&f), name, message && f.number == MESSAGE_NESTED))
            return true;
    }
    return false;
}

static bool declares(const struct fk_rpc_file *file, struct fk_str symbol)
{
    struct fk_cur c = fk_cur_of(file->bytes);
    struct fk_pb_field f;
    if (file->package.n && (!take_part(&symbol, file->package) || symbol.n == 0))
        return false;
    while (fk_pb_next(&c, &f) == 1)
        if ((f.number == FILE_MESSAGE || f.number == FILE_ENUM || f.number == FILE_SERVICE) &&
            holds(fk_pb_str(&f), symbol, f.number == FILE_MESSAGE))
            return true;
    return false;
}

bool fk_rpc_file_declares(struct fk_str symbol, struct fk_rpc_file *ret)
{
    struct fk_cur set = fk_rpc_files();
    while (fk_rpc_next_file(&set, ret))
        if (declares(ret, symbol))
            return true;
    return false;
}

static void each_of_file(const struct fk_rpc_file *file, void (*on)(void *arg, struct fk_str full),
                         void *arg)
{
    struct fk_cur c = fk_cur_of(file->bytes);
    struct fk_pb_field f;
    char full[256];
    while (fk_pb_next(&c, &f) == 1) {
        if (f.number != FILE_SERVICE)
            continue;
        struct fk_str name = name_of(fk_pb_str(&f));
        size_t n = file->package.n;
        if (n + 1 + name.n > sizeof(full))
            continue;
        memcpy(full, file->package.p, n);
        full[n] = '.';
        memcpy(full + n + 1, name.p, name.n);
        on(arg, (struct fk_str){full, n + 1 + name.n});
    }
}

void fk_rpc_each_service(void (*on)(void *arg, struct fk_str full), void *arg)
{
    struct fk_cur set = fk_rpc_files();
    struct fk_rpc_file file;
    while (fk_rpc_next_file(&set, &file))
        each_of_file(&file, on, arg);
}

struct wanted {
    struct fk_str name;
    bool there;
};

static void compare(void *arg, struct fk_str full)
{
    struct wanted *w = arg;
    w->there = w->there || fk_str_eq(full, w->name);
}

bool fk_rpc_has_service(struct fk_str name)
{
    struct wanted w = {name, false};
    fk_rpc_each_service(compare, &w);
    return w.there;
}
