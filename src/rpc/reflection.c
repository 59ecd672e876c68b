// SPDX-License-Identifier: Apache-2.0
// Server reflection: which services there are, and what their messages look like, for clients that
// have no generated code (grpcurl, Postman). Source: grpc/grpc src/proto/grpc/reflection/v1.
#include "rpc/reflection_int.h"

enum { // ServerReflectionRequest.message_request; the same numbers in v1alpha
    BY_FILENAME = 3,
    BY_SYMBOL = 4,
    BY_EXTENSION = 5,
    EXTENSIONS_OF = 6,
    LIST_SERVICES = 7,
};
enum { // ServerReflectionResponse
    VALID_HOST = 1,
    ORIGINAL_REQUEST = 2,
    FILE_RESPONSE = 4,
    EXTENSIONS_RESPONSE = 5,
    SERVICES_RESPONSE = 6,
    ERROR_RESPONSE = 7,
};

struct question {
    uint32_t kind;
    struct fk_str text, host;
};

static int read_question(struct fk_str bytes, struct question *q, struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(bytes);
    struct fk_pb_field f;
    int more;
    *q = (struct question){0, FK_S(""), FK_S("")};
    while ((more = fk_pb_next(&c, &f)) == 1) {
        if (f.wire != FK_WIRE_LEN)
            continue;
        if (f.number == 1)
            q->host = fk_pb_str(&f);
        else if (f.number >= BY_FILENAME && f.number <= LIST_SERVICES) {
            q->kind = f.number;
            q->text = fk_pb_str(&f);
        }
    }
    return more < 0 ? fk_fail(err, FK_E_FORMAT, "the reflection request is no protobuf message")
                    : 0;
}

static void put_error(struct fk_buf *b, enum fk_rpc_code code, const char *what, struct fk_str name)
{
    size_t mark = fk_pb_begin(b, ERROR_RESPONSE);
    fk_pb_u64(b, 1, (uint64_t)code);
    size_t text = fk_pb_begin(b, 2);
    fk_buf_cstr(b, what);
    fk_buf_str(b, fk_str_head(name, 200));
    fk_pb_end(b, text);
    fk_pb_end(b, mark);
}

// ---- files, with all that they import ----

#define FILES_MAX 64

struct files {
    struct fk_rpc_file v[FILES_MAX];
    size_t n;
};

static void add_file(struct files *f, const struct fk_rpc_file *file)
{
    for (size_t i = 0; i < f->n; i++)
        if (fk_str_eq(f->v[i].name, file->name))
            return;
    if (f->n < FILES_MAX)
        f->v[f->n++] = *file;
}

// The list grows while it is walked, so that imports of imports come too.
static void add_imports(struct files *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct fk_cur c = fk_cur_of(f->v[i].bytes);
        struct fk_pb_field x;
        struct fk_rpc_file file;
        while (fk_pb_next(&c, &x) == 1)
            if (x.number == 3 && x.wire == FK_WIRE_LEN && fk_rpc_file_named(fk_pb_str(&x), &file))
                add_file(f, &file);
    }
}

static void put_files(struct fk_buf *b, const struct fk_rpc_file *first)
{
    struct files f = {.n = 0};
    add_file(&f, first);
    add_imports(&f);
    size_t mark = fk_pb_begin(b, FILE_RESPONSE);
    for (size_t i = 0; i < f.n; i++)
        fk_pb_bytes(b, 1, f.v[i].bytes);
    fk_pb_end(b, mark);
}

static void put_service(void *arg, struct fk_str full)
{
    size_t mark = fk_pb_begin(arg, 1);
    fk_pb_bytes(arg, 1, full);
    fk_pb_end(arg, mark);
}

static void put_answer(const struct question *q, struct fk_buf *b)
{
    struct fk_rpc_file file;
    size_t mark;
    switch (q->kind) {
    case BY_FILENAME:
        if (fk_rpc_file_named(q->text, &file))
            put_files(b, &file);
        else
            put_error(b, FK_RPC_NOT_FOUND, "there is no file ", q->text);
        break;
    case BY_SYMBOL:
        if (fk_rpc_file_declares(q->text, &file))
            put_files(b, &file);
        else
            put_error(b, FK_RPC_NOT_FOUND, "nothing here is called ", q->text);
        break;
    case LIST_SERVICES:
        mark = fk_pb_begin(b, SERVICES_RESPONSE);
        fk_rpc_each_service(put_service, b);
        fk_pb_end(b, mark);
        break;
    case EXTENSIONS_OF: // proto3 has none: an empty list where the type is known
        if (!fk_rpc_file_declares(q->text, &file)) {
            put_error(b, FK_RPC_NOT_FOUND, "nothing here is called ", q->text);
            break;
        }
        mark = fk_pb_begin(b, EXTENSIONS_RESPONSE);
        fk_pb_bytes(b, 1, q->text);
        fk_pb_end(b, mark);
        break;
    case BY_EXTENSION:
        put_error(b, FK_RPC_NOT_FOUND, "no message has extensions", FK_S(""));
        break;
    default:
        put_error(b, FK_RPC_INVALID_ARGUMENT, "the reflection request asks for nothing", FK_S(""));
        break;
    }
}

int fk_rpc_reflect(struct fk_str question, struct fk_buf *answer, struct fk_err *err)
{
    struct question q;
    int rc = read_question(question, &q, err);
    if (rc)
        return rc;
    fk_pb_bytes_nz(answer, VALID_HOST, q.host);
    fk_pb_bytes(answer, ORIGINAL_REQUEST, question);
    put_answer(&q, answer);
    return fk_buf_check(answer, "answer", err);
}

static int on_message(void *arg, struct fk_rpc_stream *s, struct fk_str message, struct fk_err *err)
{
    FK_AUTO_BUF b;
    (void)arg;
    fk_buf_init(&b, 0);
    int rc = fk_rpc_reflect(message, &b, err);
    return rc ? rc : fk_rpc_stream_send(s, fk_buf_view(&b), err);
}

const struct fk_rpc_stream_ops fk_rpc_reflection = {.on_message = on_message};
