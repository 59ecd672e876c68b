// SPDX-License-Identifier: Apache-2.0
// Telling JSON profiles apart by the names of their first members.
#include "formats/json_int.h"

// Names that were seen, by how deep they stand: 1 is a member of the top object; an array counts.
struct rule {
    enum fk_format format;
    const char *name[2]; // all of them
    uint8_t depth[2];    // 0: any
};

static const struct rule rules[] = {
    {FK_FORMAT_CHROME_TRACE, {"traceEvents", NULL}, {1, 0}},
    {FK_FORMAT_CHROME_TRACE, {"ph", NULL}, {2, 0}},
    {FK_FORMAT_SPEEDSCOPE, {"shared", "profiles"}, {1, 1}},
    {FK_FORMAT_SPEEDSCOPE, {"activeProfileIndex", NULL}, {1, 0}},
    {FK_FORMAT_FLAMEBEARER, {"flamebearer", NULL}, {1, 0}},
    {FK_FORMAT_FLAMEBEARER, {"names", "levels"}, {1, 1}},
    {FK_FORMAT_STACKPROF, {"mode", "interval"}, {1, 1}},
    {FK_FORMAT_FIREFOX, {"meta", "interval"}, {1, 2}},
    {FK_FORMAT_FIREFOX, {"meta", "libs"}, {1, 1}},
    {FK_FORMAT_FIREFOX, {"meta", "threads"}, {1, 1}},
    {FK_FORMAT_FIREFOX, {"label", "duration"}, {1, 1}}, // the profile is in its member "profile"
    {FK_FORMAT_FIREFOX, {"counters", "displayName"}, {1, 0}},
    {FK_FORMAT_FIREFOX, {"counters", "category"}, {1, 0}},
    {FK_FORMAT_FIREFOX, {"counters", "libs"}, {1, 1}},
    {FK_FORMAT_CPUPROFILE, {"nodes", "callFrame"}, {1, 3}},
    {FK_FORMAT_CPUPROFILE, {"samples", "timeDeltas"}, {1, 1}},
    {FK_FORMAT_CPUPROFILE, {"nodes", "timeDeltas"}, {1, 1}},
    {FK_FORMAT_CPUPROFILE, {"nodes", "startTime"}, {1, 1}},
    {FK_FORMAT_CPUPROFILE, {"startTime", "endTime"}, {1, 1}},
    {FK_FORMAT_CPUPROFILE, {"nodes", "locationId"}, {1, 3}}, // its decoder says what it is
    {FK_FORMAT_CPUPROFILE, {"head", "functionName"}, {1, 2}},
    {FK_FORMAT_HEAPPROFILE, {"head", "callFrame"}, {1, 2}},
    {FK_FORMAT_HEAPPROFILE, {"head", "selfSize"}, {1, 2}},
};

static void note(struct fk_str key, uint32_t depth, bool seen[][2])
{
    for (size_t i = 0; i < FK_COUNTOF(rules); i++)
        for (size_t k = 0; k < 2; k++)
            if (rules[i].name[k] && (rules[i].depth[k] == 0 || rules[i].depth[k] == depth) &&
                fk_str_eq(key, fk_str_of(rules[i].name[k])))
                seen[i][k] = true;
}

enum fk_format fk_json_kind(struct fk_str head)
{
    bool seen[FK_COUNTOF(rules)][2] = {0};
    struct fk_json_reader r;
    struct fk_json_tok tok;
    head = fk_str_trim(fk_str_from(head, fk_str_starts(head, FK_S("\xef\xbb\xbf")) ? 3 : 0));
    if (!head.n || (head.p[0] != '{' && head.p[0] != '['))
        return FK_FORMAT_UNKNOWN;
    fk_json_read(&r, head, FK_JSON_READ_NEST);
    while (fk_json_next(&r, &tok, NULL) == 0 && tok.kind != FK_JSON_END)
        if (tok.kind == FK_JSON_KEY)
            note(tok.text, r.depth, seen);
    if (fk_str_find(head, FK_S("speedscope.app/file-format-schema")) >= 0)
        return FK_FORMAT_SPEEDSCOPE;
    for (size_t i = 0; i < FK_COUNTOF(rules); i++)
        if (seen[i][0] && (!rules[i].name[1] || seen[i][1]))
            return rules[i].format;
    return FK_FORMAT_UNKNOWN;
}

bool fk_speedscope_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_json_kind(head) == FK_FORMAT_SPEEDSCOPE;
}

bool fk_cpuprofile_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_json_kind(head) == FK_FORMAT_CPUPROFILE;
}

bool fk_heapprofile_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_json_kind(head) == FK_FORMAT_HEAPPROFILE;
}

bool fk_chrome_trace_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_json_kind(head) == FK_FORMAT_CHROME_TRACE;
}

bool fk_firefox_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_json_kind(head) == FK_FORMAT_FIREFOX;
}

bool fk_flamebearer_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_json_kind(head) == FK_FORMAT_FLAMEBEARER;
}

bool fk_stackprof_json_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_json_kind(head) == FK_FORMAT_STACKPROF;
}
