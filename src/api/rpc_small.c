// SPDX-License-Identifier: Apache-2.0
// The small services that clients ask for what a server is and can: version.v1, capabilities.v1,
// status.v1, vcs.v1; and the settings that Grafana's pages keep.
#include "api/rpc_small_int.h"

int fk_rpc_version(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_version out = {1}; // of the querier's API, as its newest clients know it
    struct rpc_empty in;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    return r ? r : fk_rpc_answer(c, &rpc_version_type, &out, err);
}

int fk_rpc_feature_flags(struct fk_api_call *c, struct fk_err *err)
{
    static const struct {
        const char *name, *text;
        bool enabled;
    } flags[] = {
        {"pyroscopeRuler", "Recording rules made of profiles.", false},
        {"pyroscopeRulerFunctions", "Recording rules on single functions.", false},
        {"utf8LabelNames", "Label names of any characters, for clients that accept them.", true},
        {"v2StorageLayer", "Heatmaps, exemplars and single profiles.", true}};
    struct rpc_flag v[FK_COUNTOF(flags)];
    struct rpc_flags out = {{v, FK_COUNTOF(v)}};
    struct rpc_empty in;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    for (size_t i = 0; i < FK_COUNTOF(v); i++)
        v[i] = (struct rpc_flag){.name = fk_str_of(flags[i].name),
                                 .description = fk_str_of(flags[i].text),
                                 .enabled = flags[i].enabled};
    return r ? r : fk_rpc_answer(c, &rpc_flags_type, &out, err);
}

// ---- status.v1 ----

int fk_rpc_build_info(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_build data = {.version = FK_S(FK_VERSION)};
    struct rpc_build_info out = {FK_S("success"), &data};
    struct rpc_empty in;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    return r ? r : fk_rpc_answer(c, &rpc_build_info_type, &out, err);
}

#define CONFIG_TYPE "text/plain; charset=utf-8"

static int put_config(struct fk_api_call *c, struct fk_str text, struct fk_err *err)
{
    struct rpc_http_body out = {FK_S(CONFIG_TYPE), text};
    struct rpc_empty in;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    return r ? r : fk_rpc_answer(c, &rpc_http_body_type, &out, err);
}

int fk_rpc_config(struct fk_api_call *c, struct fk_err *err)
{
    return put_config(c, c->api->opts.config.effective, err);
}

int fk_rpc_config_diff(struct fk_api_call *c, struct fk_err *err)
{
    return put_config(c, c->api->opts.config.changed, err);
}

int fk_rpc_config_default(struct fk_api_call *c, struct fk_err *err)
{
    return put_config(c, c->api->opts.config.defaults, err);
}

static int put_text(struct fk_api_call *c, struct fk_str text)
{
    c->type = CONFIG_TYPE;
    fk_buf_str(&c->body, text);
    return 0;
}

int fk_api_config(struct fk_api_call *c, struct fk_err *err)
{
    (void)err;
    return put_text(c, c->api->opts.config.effective);
}

int fk_api_config_diff(struct fk_api_call *c, struct fk_err *err)
{
    (void)err;
    return put_text(c, c->api->opts.config.changed);
}

int fk_api_config_default(struct fk_api_call *c, struct fk_err *err)
{
    (void)err;
    return put_text(c, c->api->opts.config.defaults);
}

// ---- vcs.v1 ----

// Grafana hides its views of source code.
int fk_rpc_vcs(struct fk_api_call *c, struct fk_err *err)
{
    return fk_rpc_fail_as(c, FK_RPC_UNIMPLEMENTED, err,
                          "this server reads no source code from version control");
}

// ---- settings.v1 ----

static int need_state(struct fk_api_call *c, struct fk_err *err)
{
    return c->api->opts.state ? 0
                              : fk_rpc_fail_as(c, FK_RPC_UNIMPLEMENTED, err,
                                               "settings are kept by a server, not by a command");
}

struct collected {
    struct fk_arena *arena;
    FK_VEC(struct rpc_setting) v;
};

static int collect(void *arg, const struct fk_setting *s, struct fk_err *err)
{
    struct collected *x = arg;
    struct rpc_setting copy = {fk_arena_str(x->arena, s->name), fk_arena_str(x->arena, s->value),
                               s->modified_ms};
    return !copy.name.p || !copy.value.p || fk_vec_push(&x->v, copy) ? fk_fail_nomem(err) : 0;
}

int fk_rpc_settings_get(struct fk_api_call *c, struct fk_err *err)
{
    struct collected x = {.arena = c->arena};
    struct rpc_empty in;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    if (r == 0)
        r = need_state(c, err);
    if (r == 0)
        r = fk_state_settings(c->api->opts.state, c->tenant,
                              (struct fk_state_each_setting){collect, &x}, err);
    struct rpc_settings out = {{x.v.v, x.v.n}};
    if (r == 0)
        r = fk_rpc_answer(c, &rpc_settings_type, &out, err);
    fk_vec_free(&x.v);
    return r;
}

int fk_rpc_settings_set(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_setting_set in;
    int r = fk_rpc_read(c, &rpc_setting_set_type, &in, err);
    if (r || (r = need_state(c, err)))
        return r;
    if (!in.setting) // clients may send nothing
        return fk_rpc_answer(c, &rpc_setting_set_type, &in, err);
    if (in.setting->modified_ms <= 0)
        in.setting->modified_ms = c->now_ns / FK_NS_PER_MS;
    struct fk_setting s = {in.setting->name, in.setting->value, in.setting->modified_ms};
    if ((r = fk_state_set(c->api->opts.state, c->tenant, &s, err)) == -FK_E_EXISTS)
        c->fail_code = FK_RPC_ALREADY_EXISTS;
    return r ? r : fk_rpc_answer(c, &rpc_setting_set_type, &in, err);
}

int fk_rpc_settings_delete(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_empty out = {0};
    struct rpc_name in;
    int r = fk_rpc_read(c, &rpc_name_type, &in, err);
    if (r || (r = need_state(c, err)))
        return r;
    if (!in.name.n)
        return fk_fail_param(err, "name", "name is missing: the setting that goes");
    r = fk_state_unset(c->api->opts.state, c->tenant, in.name, err);
    return r ? r : fk_rpc_answer(c, &rpc_empty_type, &out, err);
}
