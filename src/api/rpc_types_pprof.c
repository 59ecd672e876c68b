// SPDX-License-Identifier: Apache-2.0
// google.v1.Profile as a message (proto/profile.proto of github.com/google/pprof), for its JSON
// form.
#include "api/rpc_fields_int.h"
#include "api/rpc_int.h"

static const struct fk_field value_type_fields[] = {
    F(struct pb_value_type, type, 1, FK_FIELD_I64, "type", "type"),
    F(struct pb_value_type, unit, 2, FK_FIELD_I64, "unit", "unit")};
static TYPE(value_type_type, "ValueType", struct pb_value_type, value_type_fields);
static const struct fk_field pb_label_fields[] = {
    F(struct pb_label, key, 1, FK_FIELD_I64, "key", "key"),
    F(struct pb_label, str, 2, FK_FIELD_I64, "str", "str"),
    F(struct pb_label, num, 3, FK_FIELD_I64, "num", "num"),
    F(struct pb_label, num_unit, 4, FK_FIELD_I64, "num_unit", "numUnit")};
static TYPE(pb_label_type, "Label", struct pb_label, pb_label_fields);
static const struct fk_field pb_sample_fields[] = {
    FR(struct pb_sample, location_id, 1, FK_FIELD_U64, "location_id", "locationId"),
    FR(struct pb_sample, value, 2, FK_FIELD_I64, "value", "value"),
    FMR(struct pb_sample, label, 3, &pb_label_type, "label", "label")};
static TYPE(pb_sample_type, "Sample", struct pb_sample, pb_sample_fields);
static const struct fk_field mapping_fields[] = {
    F(struct pb_mapping, id, 1, FK_FIELD_U64, "id", "id"),
    F(struct pb_mapping, start, 2, FK_FIELD_U64, "memory_start", "memoryStart"),
    F(struct pb_mapping, limit, 3, FK_FIELD_U64, "memory_limit", "memoryLimit"),
    F(struct pb_mapping, offset, 4, FK_FIELD_U64, "file_offset", "fileOffset"),
    F(struct pb_mapping, filename, 5, FK_FIELD_I64, "filename", "filename"),
    F(struct pb_mapping, build_id, 6, FK_FIELD_I64, "build_id", "buildId"),
    F(struct pb_mapping, has_functions, 7, FK_FIELD_BOOL, "has_functions", "hasFunctions"),
    F(struct pb_mapping, has_filenames, 8, FK_FIELD_BOOL, "has_filenames", "hasFilenames"),
    F(struct pb_mapping, has_lines, 9, FK_FIELD_BOOL, "has_line_numbers", "hasLineNumbers"),
    F(struct pb_mapping, has_inlines, 10, FK_FIELD_BOOL, "has_inline_frames", "hasInlineFrames"),
};
static TYPE(mapping_type, "Mapping", struct pb_mapping, mapping_fields);
static const struct fk_field line_fields[] = {
    F(struct pb_line, function_id, 1, FK_FIELD_U64, "function_id", "functionId"),
    F(struct pb_line, line, 2, FK_FIELD_I64, "line", "line"),
    F(struct pb_line, column, 3, FK_FIELD_I64, "column", "column")};
static TYPE(line_type, "Line", struct pb_line, line_fields);
static const struct fk_field location_fields[] = {
    F(struct pb_location, id, 1, FK_FIELD_U64, "id", "id"),
    F(struct pb_location, mapping_id, 2, FK_FIELD_U64, "mapping_id", "mappingId"),
    F(struct pb_location, address, 3, FK_FIELD_U64, "address", "address"),
    FMR(struct pb_location, line, 4, &line_type, "line", "line"),
    F(struct pb_location, is_folded, 5, FK_FIELD_BOOL, "is_folded", "isFolded")};
static TYPE(location_type, "Location", struct pb_location, location_fields);
static const struct fk_field function_fields[] = {
    F(struct pb_function, id, 1, FK_FIELD_U64, "id", "id"),
    F(struct pb_function, name, 2, FK_FIELD_I64, "name", "name"),
    F(struct pb_function, system_name, 3, FK_FIELD_I64, "system_name", "systemName"),
    F(struct pb_function, filename, 4, FK_FIELD_I64, "filename", "filename"),
    F(struct pb_function, start_line, 5, FK_FIELD_I64, "start_line", "startLine")};
static TYPE(function_type, "Function", struct pb_function, function_fields);
static const struct fk_field pprof_fields[] = {
    FMR(struct pb_profile, sample_type, 1, &value_type_type, "sample_type", "sampleType"),
    FMR(struct pb_profile, sample, 2, &pb_sample_type, "sample", "sample"),
    FMR(struct pb_profile, mapping, 3, &mapping_type, "mapping", "mapping"),
    FMR(struct pb_profile, location, 4, &location_type, "location", "location"),
    FMR(struct pb_profile, function, 5, &function_type, "function", "function"),
    FR(struct pb_profile, strings, 6, FK_FIELD_STR, "string_table", "stringTable"),
    F(struct pb_profile, drop_frames, 7, FK_FIELD_I64, "drop_frames", "dropFrames"),
    F(struct pb_profile, keep_frames, 8, FK_FIELD_I64, "keep_frames", "keepFrames"),
    F(struct pb_profile, time_nanos, 9, FK_FIELD_I64, "time_nanos", "timeNanos"),
    F(struct pb_profile, duration_nanos, 10, FK_FIELD_I64, "duration_nanos", "durationNanos"),
    FMO(struct pb_profile, period_type, 11, &value_type_type, "period_type", "periodType"),
    F(struct pb_profile, period, 12, FK_FIELD_I64, "period", "period"),
    FR(struct pb_profile, comment, 13, FK_FIELD_I64, "comment", "comment"),
    F(struct pb_profile, default_sample_type, 14, FK_FIELD_I64, "default_sample_type",
      "defaultSampleType"),
    F(struct pb_profile, doc_url, 15, FK_FIELD_I64, "doc_url", "docUrl"),
};
TYPE(rpc_pprof_type, "Profile", struct pb_profile, pprof_fields);
