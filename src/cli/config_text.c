// SPDX-License-Identifier: Apache-2.0
// The options of a command as text, for /api/v1/status/config.
#include "cli/cli_int.h"

static bool is_given(const struct fk_option *o, const void *at)
{
    switch (o->kind) {
    case FK_OPT_FLAG:
        return *(const bool *)at;
    case FK_OPT_STR:
        return ((const struct fk_str *)at)->n > 0;
    case FK_OPT_STRS:
        return ((const struct fk_opt_list *)at)->n > 0;
    case FK_OPT_BYTES:
    case FK_OPT_COUNT:
    case FK_OPT_DURATION:
        break;
    }
    return *(const uint64_t *)at != 0; // as the command itself tells
}

static void put_value(struct fk_buf *b, const struct fk_option *o, const void *at)
{
    const struct fk_opt_list *list = at;
    char text[32];
    switch (o->kind) {
    case FK_OPT_FLAG:
        fk_buf_cstr(b, "true");
        break;
    case FK_OPT_STR:
        fk_json_quote(b, *(const struct fk_str *)at);
        break;
    case FK_OPT_STRS:
        for (size_t i = 0; i < list->n; i++) {
            fk_buf_cstr(b, i ? ", " : "[");
            fk_json_quote(b, list->v[i]);
        }
        fk_buf_byte(b, ']');
        break;
    case FK_OPT_BYTES:
        fk_human(text, sizeof(text), (double)*(const uint64_t *)at, FK_S("bytes"));
        fk_buf_cstr(b, text);
        break;
    case FK_OPT_COUNT:
        fk_buf_printf(b, "%llu", (unsigned long long)*(const uint64_t *)at);
        break;
    case FK_OPT_DURATION:
        fk_duration_put(b, *(const int64_t *)at);
        break;
    }
}

static void put_default(struct fk_buf *b, const struct fk_option *o)
{
    char text[32];
    const char *def = fk_option_default(o, text, sizeof(text));
    fk_buf_printf(b, "%s: %s\n", o->name + 2,
                  def                      ? def
                  : o->kind == FK_OPT_FLAG ? "false"
                                           : "none");
}

int fk_config_text(const struct fk_command *c, const void *options, struct fk_config_text *ret,
                   struct fk_err *err)
{
    struct fk_config_text t;
    fk_buf_init(&t.effective, 0);
    fk_buf_init(&t.changed, 0);
    fk_buf_init(&t.defaults, 0);
    for (size_t i = 0; i < c->n_options; i++) {
        const struct fk_option *o = &c->options[i];
        const void *at = (const char *)options + o->offset;
        put_default(&t.defaults, o);
        if (!is_given(o, at)) {
            put_default(&t.effective, o);
            continue;
        }
        fk_buf_printf(&t.changed, "%s: ", o->name + 2);
        put_value(&t.changed, o, at);
        fk_buf_byte(&t.changed, '\n');
        fk_buf_printf(&t.effective, "%s: ", o->name + 2);
        put_value(&t.effective, o, at);
        fk_buf_byte(&t.effective, '\n');
    }
    int r = fk_buf_check(&t.effective, "options", err);
    if (r == 0)
        r = fk_buf_check(&t.changed, "options", err);
    if (r == 0)
        r = fk_buf_check(&t.defaults, "options", err);
    if (r)
        fk_config_free(&t);
    else
        *ret = t;
    return r;
}

struct fk_api_config fk_config_views(const struct fk_config_text *t)
{
    return (struct fk_api_config){fk_buf_view(&t->effective), fk_buf_view(&t->changed),
                                  fk_buf_view(&t->defaults)};
}

void fk_config_free(struct fk_config_text *t)
{
    fk_buf_free(&t->effective);
    fk_buf_free(&t->changed);
    fk_buf_free(&t->defaults);
}
