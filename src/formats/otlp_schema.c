// SPDX-License-Identifier: Apache-2.0
// The fields of all revisions of OpenTelemetry profiles in one table, and reading a message by it.
#include "formats/otlp_int.h"

#include <stdarg.h>
#include <stdio.h>

// clang-format off
// message, meaning, kind, message within, numbers in 1.3, 1.5, 1.6, 1.7, 1.8, 1.9, 1.10 and as meaning, names
#define ROW(m, id, kind, sub, a, b, c, d, e, f, g, j, name) \
    {OTLP_##m, OTLP_##id, OTLP_##kind, OTLP_##sub, {a, b, c, d, e, f, g, j}, name},
// a field that keeps its number in all revisions
#define ALL(m, id, kind, sub, n, name) ROW(m, id, kind, sub, n, n, n, n, n, n, n, OTLP_##id, name)
#define OTLP_NONE OTLP_REQUEST // of what is no message
#define J(id) OTLP_##id

const struct otlp_row otlp_rows[] = {
    ALL(REQUEST, REQ_RESOURCE, MESSAGE_LIST, RESOURCE_PROFILES, 1, "resourceprofiles")
    ROW(REQUEST, REQ_DICTIONARY, MESSAGE, DICTIONARY, 0, 0, 0, 2, 2, 2, 2, 2, "dictionary")
    ROW(REQUEST, T_MAPPING, MESSAGE_LIST, MAPPING, 0, 0, 2, 0, 0, 0, 0, J(T_MAPPING), "mappingtable")
    ROW(REQUEST, T_LOCATION, MESSAGE_LIST, LOCATION, 0, 0, 3, 0, 0, 0, 0, J(T_LOCATION), "locationtable")
    ROW(REQUEST, T_FUNCTION, MESSAGE_LIST, FUNCTION, 0, 0, 4, 0, 0, 0, 0, J(T_FUNCTION), "functiontable")
    ROW(REQUEST, T_LINK, MESSAGE_LIST, LINK, 0, 0, 5, 0, 0, 0, 0, J(T_LINK), "linktable")
    ROW(REQUEST, T_STRING, TEXTS, NONE, 0, 0, 6, 0, 0, 0, 0, J(T_STRING), "stringtable")
    ROW(REQUEST, T_ATTRIBUTE, MESSAGE_LIST, ATTRIBUTE, 0, 0, 7, 0, 0, 0, 0, J(T_ATTRIBUTE), "attributetable")
    ROW(REQUEST, T_UNIT, MESSAGE_LIST, UNIT, 0, 0, 8, 0, 0, 0, 0, J(T_UNIT), "attributeunits")

    ROW(DICTIONARY, T_MAPPING, MESSAGE_LIST, MAPPING, 0, 0, 0, 1, 1, 1, 1, J(T_MAPPING), "mappingtable")
    ROW(DICTIONARY, T_LOCATION, MESSAGE_LIST, LOCATION, 0, 0, 0, 2, 2, 2, 2, J(T_LOCATION), "locationtable")
    ROW(DICTIONARY, T_FUNCTION, MESSAGE_LIST, FUNCTION, 0, 0, 0, 3, 3, 3, 3, J(T_FUNCTION), "functiontable")
    ROW(DICTIONARY, T_LINK, MESSAGE_LIST, LINK, 0, 0, 0, 4, 4, 4, 4, J(T_LINK), "linktable")
    ROW(DICTIONARY, T_STRING, TEXTS, NONE, 0, 0, 0, 5, 5, 5, 5, J(T_STRING), "stringtable")
    ROW(DICTIONARY, T_ATTRIBUTE, MESSAGE_LIST, ATTRIBUTE, 0, 0, 0, 6, 6, 6, 6, J(T_ATTRIBUTE), "attributetable")
    ROW(DICTIONARY, T_UNIT, MESSAGE_LIST, UNIT, 0, 0, 0, 7, 0, 0, 0, J(T_UNIT), "attributeunits")
    ROW(DICTIONARY, T_STACK, MESSAGE_LIST, STACK, 0, 0, 0, 0, 7, 7, 7, J(T_STACK), "stacktable")

    ALL(RESOURCE_PROFILES, RP_RESOURCE, MESSAGE, RESOURCE, 1, "resource")
    ALL(RESOURCE_PROFILES, RP_SCOPE, MESSAGE_LIST, SCOPE_PROFILES, 2, "scopeprofiles")
    ALL(RESOURCE_PROFILES, UNUSED, TEXT, NONE, 3, "schemaurl")
    ALL(SCOPE_PROFILES, SP_SCOPE, MESSAGE, SCOPE, 1, "scope")
    ROW(SCOPE_PROFILES, SP_PROFILE, MESSAGE_LIST, CONTAINER, 2, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(SCOPE_PROFILES, SP_PROFILE, MESSAGE_LIST, PROFILE, 0, 2, 2, 2, 2, 2, 2, 2, "profiles")
    ALL(SCOPE_PROFILES, UNUSED, TEXT, NONE, 3, "schemaurl")

    ROW(CONTAINER, P_ID, BYTES, NONE, 1, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(CONTAINER, P_START, FIXED, NONE, 2, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(CONTAINER, P_END, FIXED, NONE, 3, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(CONTAINER, P_KEY_VALUE, MESSAGE_LIST, KEY_VALUE, 4, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(CONTAINER, UNUSED, INT, NONE, 5, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(CONTAINER, UNUSED, TEXT, NONE, 6, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(CONTAINER, P_PAYLOAD, BYTES, NONE, 7, 0, 0, 0, 0, 0, 0, 0, NULL)
    ROW(CONTAINER, P_WRAPPED, MESSAGE, PROFILE, 8, 0, 0, 0, 0, 0, 0, 0, NULL)

    ROW(PROFILE, P_TYPE, MESSAGE_LIST, VALUE_TYPE, 1, 1, 1, 1, 0, 0, 0, J(P_TYPE), "sampletype")
    ROW(PROFILE, P_TYPE, MESSAGE, VALUE_TYPE, 0, 0, 0, 0, 1, 1, 1, 0, NULL)
    ALL(PROFILE, P_SAMPLE, MESSAGE_LIST, SAMPLE, 2, "samples|sample")
    ROW(PROFILE, T_MAPPING, MESSAGE_LIST, MAPPING, 3, 3, 0, 0, 0, 0, 0, J(T_MAPPING), "mappingtable|mapping")
    ROW(PROFILE, T_LOCATION, MESSAGE_LIST, LOCATION, 4, 4, 0, 0, 0, 0, 0, J(T_LOCATION), "locationtable|location")
    ROW(PROFILE, T_INDEX, INTS, NONE, 15, 5, 3, 3, 0, 0, 0, J(T_INDEX), "locationindices")
    ROW(PROFILE, T_FUNCTION, MESSAGE_LIST, FUNCTION, 5, 6, 0, 0, 0, 0, 0, J(T_FUNCTION), "functiontable|function")
    ROW(PROFILE, T_ATTRIBUTE, MESSAGE_LIST, ATTRIBUTE, 16, 7, 0, 0, 0, 0, 0, J(T_ATTRIBUTE), "attributetable")
    ROW(PROFILE, T_UNIT, MESSAGE_LIST, UNIT, 17, 8, 0, 0, 0, 0, 0, J(T_UNIT), "attributeunits")
    ROW(PROFILE, T_LINK, MESSAGE_LIST, LINK, 18, 9, 0, 0, 0, 0, 0, J(T_LINK), "linktable")
    ROW(PROFILE, T_STRING, TEXTS, NONE, 6, 10, 0, 0, 0, 0, 0, J(T_STRING), "stringtable")
    ROW(PROFILE, P_DROP, INT, NONE, 7, 0, 0, 0, 0, 0, 0, J(P_DROP), "dropframes")
    ROW(PROFILE, P_KEEP, INT, NONE, 8, 0, 0, 0, 0, 0, 0, J(P_KEEP), "keepframes")
    ROW(PROFILE, P_TIME, INT, NONE, 9, 11, 4, 4, 0, 0, 0, 0, NULL)
    ROW(PROFILE, P_TIME, FIXED, NONE, 0, 0, 0, 0, 3, 3, 3, J(P_TIME), "timeunixnano|timenanos")
    ROW(PROFILE, P_DURATION, INT, NONE, 10, 12, 5, 5, 4, 4, 4, J(P_DURATION), "durationnano|durationnanos")
    ROW(PROFILE, P_PERIOD_TYPE, MESSAGE, VALUE_TYPE, 11, 13, 6, 6, 5, 5, 5, J(P_PERIOD_TYPE), "periodtype")
    ROW(PROFILE, P_PERIOD, INT, NONE, 12, 14, 7, 7, 6, 6, 6, J(P_PERIOD), "period")
    ROW(PROFILE, P_COMMENT, INTS, NONE, 13, 15, 8, 8, 7, 0, 0, J(P_COMMENT), "commentstrindices|comment")
    ROW(PROFILE, P_DEFAULT_TYPE, INT, NONE, 14, 16, 0, 0, 0, 0, 0, J(P_DEFAULT_TYPE), "defaultsampletypestrindex|defaultsampletype")
    ROW(PROFILE, P_DEFAULT_INDEX, INT, NONE, 0, 0, 9, 9, 0, 0, 0, J(P_DEFAULT_INDEX), "defaultsampletypeindex")
    ROW(PROFILE, P_ID, TRACE, NONE, 0, 17, 10, 10, 8, 7, 7, J(P_ID), "profileid")
    ROW(PROFILE, P_KEY_VALUE, MESSAGE_LIST, KEY_VALUE, 0, 18, 0, 0, 0, 0, 0, J(P_KEY_VALUE), "attributes")
    ROW(PROFILE, UNUSED, INT, NONE, 0, 19, 11, 11, 9, 8, 8, 0, NULL) // dropped_attributes_count
    ROW(PROFILE, UNUSED, TEXT, NONE, 0, 20, 12, 12, 10, 9, 9, 0, NULL) // original_payload_format
    ROW(PROFILE, P_PAYLOAD, BYTES, NONE, 0, 21, 13, 13, 11, 10, 10, J(P_PAYLOAD), "originalpayload")
    ROW(PROFILE, P_ATTRIBUTE, INTS, NONE, 0, 22, 14, 14, 12, 11, 11, J(P_ATTRIBUTE), "attributeindices")
    ROW(PROFILE, P_WRAPPED, MESSAGE, PROFILE, 0, 0, 0, 0, 0, 0, 0, J(P_WRAPPED), "profile")
    ROW(PROFILE, P_START, FIXED, NONE, 0, 0, 0, 0, 0, 0, 0, J(P_START), "starttimeunixnano")
    ROW(PROFILE, P_END, FIXED, NONE, 0, 0, 0, 0, 0, 0, 0, J(P_END), "endtimeunixnano")

    ROW(SAMPLE, S_STACK, INT, NONE, 0, 0, 0, 0, 1, 1, 1, J(S_STACK), "stackindex")
    ROW(SAMPLE, S_START, INT, NONE, 7, 1, 1, 1, 0, 0, 0, J(S_START), "locationsstartindex")
    ROW(SAMPLE, S_LENGTH, INT, NONE, 8, 2, 2, 2, 0, 0, 0, J(S_LENGTH), "locationslength")
    ROW(SAMPLE, S_LOCATION, INTS, NONE, 1, 0, 0, 0, 0, 0, 0, J(S_LOCATION), "locationindex")
    ROW(SAMPLE, S_VALUE, INTS, NONE, 2, 3, 3, 3, 2, 2, 4, J(S_VALUE), "values|value")
    ROW(SAMPLE, S_ATTRIBUTE, INTS, NONE, 10, 4, 4, 4, 3, 3, 2, J(S_ATTRIBUTE), "attributeindices|attributes")
    ROW(SAMPLE, S_LINK, INT, NONE, 12, 5, 5, 5, 4, 4, 3, J(S_LINK), "linkindex|link")
    ROW(SAMPLE, S_TIME, INTS, NONE, 13, 6, 6, 6, 0, 0, 0, 0, NULL)
    ROW(SAMPLE, S_TIME, FIXEDS, NONE, 0, 0, 0, 0, 5, 5, 5, J(S_TIME), "timestampsunixnano")
    ROW(SAMPLE, S_LABEL, MESSAGE_LIST, LABEL, 3, 0, 0, 0, 0, 0, 0, J(S_LABEL), "label")
    ROW(SAMPLE, UNUSED, INT, NONE, 9, 0, 0, 0, 0, 0, 0, 0, NULL) // stacktrace_id_index

    ALL(VALUE_TYPE, VT_TYPE, INT, NONE, 1, "typestrindex|type")
    ALL(VALUE_TYPE, VT_UNIT, INT, NONE, 2, "unitstrindex|unit")
    ROW(VALUE_TYPE, UNUSED, INT, NONE, 3, 3, 3, 3, 3, 0, 0, 0, NULL) // aggregation_temporality

    ROW(MAPPING, UNUSED, INT, NONE, 1, 0, 0, 0, 0, 0, 0, 0, NULL) // id
    ROW(MAPPING, M_START, INT, NONE, 2, 1, 1, 1, 1, 1, 1, J(M_START), "memorystart")
    ROW(MAPPING, M_LIMIT, INT, NONE, 3, 2, 2, 2, 2, 2, 2, J(M_LIMIT), "memorylimit")
    ROW(MAPPING, M_OFFSET, INT, NONE, 4, 3, 3, 3, 3, 3, 3, J(M_OFFSET), "fileoffset")
    ROW(MAPPING, M_FILE, INT, NONE, 5, 4, 4, 4, 4, 4, 4, J(M_FILE), "filenamestrindex|filename")
    ROW(MAPPING, M_BUILD_ID, INT, NONE, 6, 0, 0, 0, 0, 0, 0, J(M_BUILD_ID), "buildid")
    ROW(MAPPING, M_ATTRIBUTE, INTS, NONE, 12, 5, 5, 5, 5, 5, 5, J(M_ATTRIBUTE), "attributeindices|attributes")
    ROW(MAPPING, M_FUNCTIONS, INT, NONE, 7, 6, 6, 6, 0, 0, 0, J(M_FUNCTIONS), "hasfunctions")
    ROW(MAPPING, M_FILENAMES, INT, NONE, 8, 7, 7, 7, 0, 0, 0, J(M_FILENAMES), "hasfilenames")
    ROW(MAPPING, M_LINES, INT, NONE, 9, 8, 8, 8, 0, 0, 0, J(M_LINES), "haslinenumbers")
    ROW(MAPPING, M_INLINES, INT, NONE, 10, 9, 9, 9, 0, 0, 0, J(M_INLINES), "hasinlineframes")
    ROW(MAPPING, UNUSED, INT, NONE, 11, 0, 0, 0, 0, 0, 0, 0, NULL) // build_id_kind

    ROW(LOCATION, UNUSED, INT, NONE, 1, 0, 0, 0, 0, 0, 0, 0, NULL) // id
    ROW(LOCATION, L_MAPPING, INT, NONE, 2, 1, 1, 1, 1, 1, 1, J(L_MAPPING), "mappingindex")
    ROW(LOCATION, L_ADDRESS, INT, NONE, 3, 2, 2, 2, 2, 2, 2, J(L_ADDRESS), "address")
    ROW(LOCATION, L_LINE, MESSAGE_LIST, LINE, 4, 3, 3, 3, 3, 3, 3, J(L_LINE), "lines|line")
    ROW(LOCATION, L_FOLDED, INT, NONE, 5, 4, 4, 4, 0, 0, 0, J(L_FOLDED), "isfolded")
    ROW(LOCATION, UNUSED, INT, NONE, 6, 0, 0, 0, 0, 0, 0, 0, NULL) // type_index
    ROW(LOCATION, L_ATTRIBUTE, INTS, NONE, 7, 5, 5, 5, 4, 4, 4, J(L_ATTRIBUTE), "attributeindices|attributes")

    ALL(LINE, LINE_FUNCTION, INT, NONE, 1, "functionindex")
    ALL(LINE, LINE_LINE, INT, NONE, 2, "line")
    ALL(LINE, LINE_COLUMN, INT, NONE, 3, "column")

    ROW(FUNCTION, UNUSED, INT, NONE, 1, 0, 0, 0, 0, 0, 0, 0, NULL) // id
    ROW(FUNCTION, F_NAME, INT, NONE, 2, 1, 1, 1, 1, 1, 1, J(F_NAME), "namestrindex|name")
    ROW(FUNCTION, F_SYSTEM, INT, NONE, 3, 2, 2, 2, 2, 2, 2, J(F_SYSTEM), "systemnamestrindex|systemname")
    ROW(FUNCTION, F_FILE, INT, NONE, 4, 3, 3, 3, 3, 3, 3, J(F_FILE), "filenamestrindex|filename")
    ROW(FUNCTION, F_LINE, INT, NONE, 5, 4, 4, 4, 4, 4, 4, J(F_LINE), "startline")

    ALL(LINK, LINK_TRACE, TRACE, NONE, 1, "traceid")
    ALL(LINK, LINK_SPAN, TRACE, NONE, 2, "spanid")
    ROW(STACK, STACK_LOCATION, INTS, NONE, 0, 0, 0, 0, 1, 1, 1, 1, "locationindices")

    ROW(ATTRIBUTE, KV_KEY, TEXT, NONE, 1, 1, 1, 1, 0, 0, 0, J(KV_KEY), "key")
    ROW(ATTRIBUTE, KV_KEY_INDEX, INT, NONE, 0, 0, 0, 0, 1, 1, 1, J(KV_KEY_INDEX), "keystrindex")
    ROW(ATTRIBUTE, KV_VALUE, MESSAGE, ANY, 2, 2, 2, 2, 2, 2, 2, J(KV_VALUE), "value")
    ROW(ATTRIBUTE, KV_UNIT, INT, NONE, 0, 0, 0, 0, 3, 3, 3, J(KV_UNIT), "unitstrindex")
    ALL(UNIT, KV_KEY_INDEX, INT, NONE, 1, "attributekeystrindex|attributekey")
    ALL(UNIT, KV_UNIT, INT, NONE, 2, "unitstrindex|unit")

    ROW(LABEL, LABEL_KEY, INT, NONE, 1, 0, 0, 0, 0, 0, 0, J(LABEL_KEY), "key")
    ROW(LABEL, LABEL_STR, INT, NONE, 2, 0, 0, 0, 0, 0, 0, J(LABEL_STR), "str")
    ROW(LABEL, LABEL_NUM, INT, NONE, 3, 0, 0, 0, 0, 0, 0, J(LABEL_NUM), "num")
    ROW(LABEL, LABEL_UNIT, INT, NONE, 4, 0, 0, 0, 0, 0, 0, J(LABEL_UNIT), "numunit")

    ALL(RESOURCE, ATTRS, MESSAGE_LIST, KEY_VALUE, 1, "attributes")
    ROW(SCOPE, ATTRS, MESSAGE_LIST, KEY_VALUE, 3, 3, 3, 3, 3, 3, 3, J(ATTRS), "attributes")

    ALL(KEY_VALUE, KV_KEY, TEXT, NONE, 1, "key")
    ALL(KEY_VALUE, KV_VALUE, MESSAGE, ANY, 2, "value")
    ROW(KEY_VALUE, KV_KEY_INDEX, INT, NONE, 0, 0, 0, 0, 3, 3, 3, J(KV_KEY_INDEX), "keystrindex")

    ALL(ANY, ANY_STRING, TEXT, NONE, 1, "stringvalue")
    ALL(ANY, ANY_BOOL, INT, NONE, 2, "boolvalue")
    ALL(ANY, ANY_INT, INT, NONE, 3, "intvalue")
    ALL(ANY, ANY_DOUBLE, DOUBLE, NONE, 4, "doublevalue")
    ALL(ANY, ANY_ARRAY, MESSAGE, ARRAY, 5, "arrayvalue")
    ALL(ANY, ANY_KV_LIST, MESSAGE, KV_LIST, 6, "kvlistvalue")
    ALL(ANY, ANY_BYTES, BYTES, NONE, 7, "bytesvalue")
    ROW(ANY, ANY_STRING_INDEX, INT, NONE, 0, 0, 0, 0, 8, 8, 8, J(ANY_STRING_INDEX), "stringvaluestrindex")
    ALL(ARRAY, VALUES, MESSAGE_LIST, ANY, 1, "values")
    ALL(KV_LIST, VALUES, MESSAGE_LIST, KEY_VALUE, 1, "values")
};
// clang-format on
const size_t otlp_rows_n = FK_COUNTOF(otlp_rows);
_Static_assert(FK_COUNTOF(otlp_rows) < 255, "indexes of rows are bytes");

const char *otlp_layout_name(enum otlp_layout l)
{
    static const char *const names[OTLP_LAYOUTS] = {
        "1.3", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "JSON",
    };
    return names[l];
}

const char *otlp_message_name(enum otlp_message m)
{
    static const char *const names[OTLP_MESSAGES] = {"ExportProfilesServiceRequest",
                                                     "ResourceProfiles",
                                                     "ScopeProfiles",
                                                     "ProfileContainer",
                                                     "Profile",
                                                     "ProfilesDictionary",
                                                     "Sample",
                                                     "ValueType",
                                                     "Mapping",
                                                     "Location",
                                                     "Line",
                                                     "Function",
                                                     "Link",
                                                     "Stack",
                                                     "attribute_table",
                                                     "AttributeUnit",
                                                     "Label",
                                                     "Resource",
                                                     "InstrumentationScope",
                                                     "KeyValue",
                                                     "AnyValue",
                                                     "ArrayValue",
                                                     "KeyValueList"};
    return names[m];
}

void otlp_map_make(enum otlp_layout layout, struct otlp_map *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->layout = layout;
    for (size_t i = 0; i < otlp_rows_n; i++) {
        const struct otlp_row *r = &otlp_rows[i];
        if (r->number[layout])
            ret->row[r->message][r->number[layout]] = (uint8_t)(i + 1);
    }
}

int otlp_fail(struct otlp_fault *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof(f->text), fmt, ap);
    va_end(ap);
    return -FK_E_FORMAT;
}

static bool wire_fits(enum otlp_kind kind, uint32_t wire)
{
    switch (kind) {
    case OTLP_INT:
        return wire == FK_WIRE_VARINT;
    case OTLP_INTS:
        return wire == FK_WIRE_VARINT || wire == FK_WIRE_LEN;
    case OTLP_FIXED:
    case OTLP_DOUBLE:
        return wire == FK_WIRE_I64;
    case OTLP_FIXEDS:
        return wire == FK_WIRE_I64 || wire == FK_WIRE_LEN;
    default:
        return wire == FK_WIRE_LEN;
    }
}

// All varints of a packed field end within it and have at most 10 bytes.
static bool packed_is_sound(struct fk_cur c)
{
    uint64_t v;
    while (c.p < c.end)
        if (fk_cur_varint(&c, &v))
            return false;
    return true;
}

// f->b of repeated numbers: their bytes, also when there is only one without a length.
static int take_numbers(const struct otlp_reader *r, const uint8_t *begin, uint32_t wire,
                        struct otlp_field *f, struct otlp_fault *fault)
{
    uint64_t key;
    if (wire != FK_WIRE_LEN)
        f->b = (struct fk_cur){fk_varint_at(begin, r->c.end, &key), r->c.p};
    if (f->kind == OTLP_FIXEDS ? (f->b.end - f->b.p) % 8 == 0 : packed_is_sound(f->b))
        return 1;
    return otlp_fail(fault, "%s: field %u is no list of numbers", otlp_message_name(r->message),
                     f->number);
}

// What profiles share with traces and metrics grew without changing what was there.
static bool may_grow(const struct otlp_reader *r)
{
    return r->map->layout >= OTLP_1_10 || r->message >= OTLP_RESOURCE;
}

static bool is_scalar(enum otlp_kind kind)
{
    return kind != OTLP_INTS && kind != OTLP_FIXEDS && kind != OTLP_TEXTS &&
           kind != OTLP_MESSAGE_LIST;
}

static int take_field(struct otlp_reader *r, const uint8_t *begin, const struct fk_pb_field *in,
                      struct otlp_field *f, struct otlp_fault *fault)
{
    uint8_t index = r->map->row[r->message][in->number];
    const struct otlp_row *row = &otlp_rows[index - 1];
    const char *name = otlp_message_name(r->message);
    if (!wire_fits(row->kind, in->wire))
        return otlp_fail(fault, "%s: field %u has wire type %u", name, in->number, in->wire);
    if (is_scalar(row->kind) && r->seen >> in->number & 1)
        return otlp_fail(fault, "%s: field %u is there more than once", name, in->number);
    r->seen |= 1u << in->number;
    *f = (struct otlp_field){row->id, row->kind, row->sub, in->number, in->v, in->b};
    if (row->kind == OTLP_INTS || row->kind == OTLP_FIXEDS)
        return take_numbers(r, begin, in->wire, f, fault);
    return 1;
}

int otlp_next(struct otlp_reader *r, struct otlp_field *f, struct otlp_fault *fault)
{
    struct fk_pb_field in;
    for (;;) {
        const uint8_t *begin = r->c.p;
        int rc = fk_pb_next(&r->c, &in);
        if (rc == 0)
            return 0;
        if (rc < 0)
            return otlp_fail(fault, "%s: no protobuf message", otlp_message_name(r->message));
        if (in.number < 32 && r->map->row[r->message][in.number])
            return take_field(r, begin, &in, f, fault);
        if (!may_grow(r))
            return otlp_fail(fault, "%s: no such field %u", otlp_message_name(r->message),
                             in.number);
    }
}

bool otlp_number(struct otlp_field *f, uint64_t *ret)
{
    if (f->b.p >= f->b.end)
        return false;
    return (f->kind == OTLP_FIXEDS ? fk_cur_le64(&f->b, ret) : fk_cur_varint(&f->b, ret)) == 0;
}
