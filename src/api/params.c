// SPDX-License-Identifier: Apache-2.0
// Reading parameters. Every failure names the parameter and says what it should look like.
#include "api/api_int.h"

#include <stdio.h>

struct fk_str fk_param(const struct fk_api_call *c, const char *name)
{
    struct fk_str want = fk_str_of(name);
    for (size_t i = 0; i < c->n_query; i++)
        if (fk_str_eq(c->query[i].name, want))
            return c->query[i].value;
    return (struct fk_str){NULL, 0};
}

int fk_params(struct fk_api_call *c, const char *name, const struct fk_str **ret, size_t *ret_n,
              struct fk_err *err)
{
    struct fk_str want = fk_str_of(name), *v = fk_arena_array(c->arena, c->n_query + 1, sizeof(*v));
    size_t n = 0;
    if (!v)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < c->n_query; i++)
        if (fk_str_eq(c->query[i].name, want))
            v[n++] = c->query[i].value;
    *ret = v;
    *ret_n = n;
    return 0;
}

int fk_param_u64(const struct fk_api_call *c, const char *name, uint64_t low, uint64_t high,
                 uint64_t *value, struct fk_err *err)
{
    struct fk_str s = fk_param(c, name);
    uint64_t v;
    if (!s.p)
        return 0;
    if (fk_str_to_u64(s, &v) || v < low || v > high)
        return fk_fail_param(err, name, "%s must be a number from %llu to %llu, not '%.*s'", name,
                             (unsigned long long)low, (unsigned long long)high,
                             FK_STR_ARG(fk_str_head(s, 60)));
    *value = v;
    return 0;
}

int fk_param_i64(const struct fk_api_call *c, const char *name, int64_t *value, bool *ret_given,
                 struct fk_err *err)
{
    struct fk_str s = fk_param(c, name);
    *ret_given = s.p != NULL;
    if (s.p && fk_str_to_i64(s, value))
        return fk_fail_param(err, name, "%s must be a whole number, not '%.*s'", name,
                             FK_STR_ARG(fk_str_head(s, 60)));
    return 0;
}

int fk_param_bool(const struct fk_api_call *c, const char *name, bool *value, struct fk_err *err)
{
    struct fk_str s = fk_param(c, name);
    if (!s.p)
        return 0;
    if (fk_str_eq(s, FK_S("true")) || fk_str_eq(s, FK_S("1")))
        *value = true;
    else if (fk_str_eq(s, FK_S("false")) || fk_str_eq(s, FK_S("0")))
        *value = false;
    else
        return fk_fail_param(err, name, "%s must be true or false, not '%.*s'", name,
                             FK_STR_ARG(fk_str_head(s, 60)));
    return 0;
}

static int name_parameter(struct fk_err *err, const char *name, int r)
{
    if (r && err)
        snprintf(err->param, sizeof(err->param), "%.63s", name);
    return r;
}

int fk_param_time(const struct fk_api_call *c, const char *name, int64_t *value, bool *ret_given,
                  struct fk_err *err)
{
    struct fk_str s = fk_param(c, name);
    *ret_given = s.p && s.n;
    return *ret_given ? name_parameter(err, name, fk_time_parse(s, c->now_ns, value, err)) : 0;
}

int fk_param_duration(const struct fk_api_call *c, const char *name, int64_t *value,
                      struct fk_err *err)
{
    struct fk_str s = fk_param(c, name);
    return s.p && s.n ? name_parameter(err, name, fk_duration_parse(s, value, err)) : 0;
}

int fk_param_word(const struct fk_api_call *c, const char *name, const char *const *words, int none,
                  int *ret, struct fk_err *err)
{
    struct fk_str s = fk_param(c, name);
    char all[200] = "";
    size_t n = 0;
    *ret = none;
    if (!s.p || s.n == 0)
        return 0;
    for (int i = 0; words[i]; i++) {
        if (fk_str_eq(s, fk_str_of(words[i]))) {
            *ret = i;
            return 0;
        }
        int more = snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", words[i]);
        n += more > 0 ? FK_MIN((size_t)more, sizeof(all) - n - 1) : 0;
    }
    return fk_fail_param(err, name, "%s must be one of %s, not '%.*s'", name, all,
                         FK_STR_ARG(fk_str_head(s, 60)));
}
