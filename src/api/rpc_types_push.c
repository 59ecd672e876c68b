// SPDX-License-Identifier: Apache-2.0
// Messages of push.v1, and what several services share.
#include "api/rpc_fields_int.h"
#include "api/rpc_int.h"

static const struct fk_field label_fields[] = {
    F(struct rpc_label, name, 1, FK_FIELD_STR, "name", "name"),
    F(struct rpc_label, value, 2, FK_FIELD_STR, "value", "value")};
TYPE(rpc_label_type, "LabelPair", struct rpc_label, label_fields);

static const struct fk_field sample_fields[] = {
    F(struct rpc_sample, raw_profile, 1, FK_FIELD_BYTES, "raw_profile", "rawProfile"),
    F(struct rpc_sample, id, 2, FK_FIELD_STR, "ID", "ID")};
static TYPE(sample_type, "RawSample", struct rpc_sample, sample_fields);
static const struct fk_field raw_series_fields[] = {
    FMR(struct rpc_raw_series, labels, 1, &rpc_label_type, "labels", "labels"),
    FMR(struct rpc_raw_series, samples, 2, &sample_type, "samples", "samples")};
static TYPE(raw_series_type, "RawProfileSeries", struct rpc_raw_series, raw_series_fields);
static const struct fk_field push_fields[] = {
    FMR(struct rpc_push, series, 1, &raw_series_type, "series", "series")};
TYPE(rpc_push_type, "PushRequest", struct rpc_push, push_fields);
const struct fk_msg_type rpc_empty_type = {"PushResponse", NULL, 0, sizeof(struct rpc_empty)};
