// SPDX-License-Identifier: Apache-2.0
// POST /api/v1/upload: any file, kept as it is asked; answers a receipt.
#include "api/api_int.h"

static int upload_labels(struct fk_api_call *c, struct fk_store_ask *ask, struct fk_err *err)
{
    struct fk_str text = fk_param(c, "labels");
    struct fk_selector *s;
    struct fk_labels labels;
    if (!text.n)
        return 0;
    int r = fk_selector_parse(text, c->arena, &s, err);
    if (r == 0) {
        r = fk_selector_labels(s, c->arena, &labels, err);
        fk_selector_free(s);
    }
    if (r) {
        if (err)
            memcpy(err->param, "labels", sizeof("labels"));
        return r;
    }
    ask->accept.label = labels.v;
    ask->accept.n_labels = labels.n;
    return 0;
}

static int upload_params(struct fk_api_call *c, struct fk_store_ask *ask, struct fk_err *err)
{
    struct fk_str format = fk_param(c, "format");
    bool given, store = true;
    uint64_t rate = 0;
    int r;
    ask->decode = fk_decode_opts_upload(&c->api->opts.limits);
    if (format.n && (r = fk_format_parse(format, &ask->format, err)))
        return r;
    if ((r = upload_labels(c, ask, err)) ||
        (r = fk_param_time(c, "time", &ask->accept.time_ns, &given, err)) ||
        (r = fk_param_duration(c, "duration", &ask->accept.duration_ns, err)) ||
        (r = fk_param_bool(c, "store", &store, err)) ||
        (r = fk_param_u64(c, "sample_rate", 1, 1000000000, &rate, err)))
        return r;
    if (!store)
        ask->tenant = fk_adhoc_tenant(c->arena, c->tenant);
    if (!store && !ask->tenant.p)
        return fk_fail_nomem(err);
    ask->keep_original = c->api->opts.originals != FK_ORIGINALS_NONE;
    ask->decode.sample_rate = rate;
    return 0;
}

int fk_api_upload(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_store_ask ask = {0};
    struct fk_receipt receipt = {0};
    struct fk_label agent = {FK_S("user_agent"), fk_str_head(c->user_agent, 200)};
    int r = upload_params(c, &ask, err);
    if (r)
        return r;
    if (c->request.n == 0)
        return fk_fail(err, FK_E_FORMAT,
                       "the body is empty: send the file as the body, for instance with curl "
                       "--data-binary @FILE");
    ask.accept.annotation = &agent;
    ask.accept.n_annotations = agent.value.n ? 1 : 0;
    if ((r = fk_call_store(c, c->request, &ask, &receipt, err)))
        return r;
    struct fk_json w;
    c->status = ask.tenant.p ? 200 : 201;
    fk_call_json(c, &w);
    fk_json_receipt(&w, &receipt);
    return fk_call_json_end(c, &w, err);
}
