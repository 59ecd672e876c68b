// SPDX-License-Identifier: Apache-2.0
// What bytes are. Only the first few KiB are looked at; a decoder has the last word.
#include "formats/formats_int.h"

// Magic bytes of things that are not read (yet), with what to say.
static const struct {
    struct fk_str magic;
    const char *name;
    enum fk_error code;
} others[] = {
    {{"PERFILE2", 8},
     "a perf.data file; send the output of `perf script -i FILE`",
     FK_E_UNSUPPORTED},
    {{"2ELIFREP", 8},
     "a perf.data file of a machine of the other byte order; send the output of `perf script -i "
     "FILE`",
     FK_E_UNSUPPORTED},
    {{"PERFFILE", 8},
     "a perf.data file of an old kernel; send the output of `perf script -i FILE`",
     FK_E_UNSUPPORTED},
    {{"JAVA PROFILE 1.0", 16},
     "a Java heap dump (HPROF), not a profile; `jcmd PID JFR.start` records one",
     FK_E_FORMAT},
    {{"{\"snapshot\":{\"meta\"", 19},
     "a V8 heap snapshot, not a profile; `node --heap-prof` makes a .heapprofile",
     FK_E_FORMAT},
    {{"MDMP", 4}, "a minidump of a process, not a profile", FK_E_FORMAT},
    {{"Nettrace", 8},
     "a .nettrace file; `dotnet-trace convert --format Speedscope FILE` makes it readable",
     FK_E_UNSUPPORTED},
    {{"gmon", 4}, "gprof's gmon.out, which has no stacks", FK_E_UNSUPPORTED},
    {{"\x7f"
      "ELF",
      4},
     "an ELF program, not a profile of one",
     FK_E_FORMAT},
    {{"PK\x03\x04", 4}, "a zip archive; send the profile that is in it", FK_E_FORMAT},
    {{"\x1f\x8b", 2}, "broken gzip data", FK_E_FORMAT},
};

static const char cmdline[] = "the command line of a process (/debug/pprof/cmdline), not a profile";

static bool has(struct fk_str s, struct fk_str what)
{
    return fk_str_find(s, what) >= 0;
}

static int fail_named(const char *name, enum fk_error code, struct fk_err *err)
{
    return fk_fail(err, code, "this is %s", name);
}

static int look_for_others(struct fk_str head, struct fk_err *err)
{
    for (size_t i = 0; i < FK_COUNTOF(others); i++)
        if (fk_str_starts(head, others[i].magic))
            return fail_named(others[i].name, others[i].code, err);
    if (fk_str_starts(head, FK_S("go 1.")) && has(fk_str_head(head, 32), FK_S(" trace\0")))
        return fail_named("a Go execution trace, not a profile; `go tool trace -pprof` makes "
                          "profiles from it",
                          FK_E_FORMAT, err);
    if (fk_str_starts(head, FK_S("go1.")) && has(fk_str_head(head, 32), FK_S(" heap dump\n")))
        return fail_named("a Go heap dump, not a profile; /debug/pprof/heap gives one", FK_E_FORMAT,
                          err);
    struct fk_str text = fk_str_trim(head);
    bool utf8_bom = fk_str_starts(text, FK_S("\xef\xbb\xbf"));
    text = fk_str_trim(fk_str_from(text, utf8_bom ? 3 : 0));
    if (fk_str_eq_nocase(fk_str_head(text, 14), FK_S("<!doctype html")) ||
        fk_str_eq_nocase(fk_str_head(text, 5), FK_S("<html")) ||
        fk_str_eq_nocase(fk_str_head(text, 5), FK_S("<head")))
        return fail_named("an HTML page, perhaps an error page or a login; check the address it "
                          "was fetched from",
                          FK_E_FORMAT, err);
    if (fk_str_starts(text, FK_S("<?xml")))
        return fail_named("an XML document, which is no profile", FK_E_FORMAT, err);
    if (fk_str_starts(text, FK_S("{")) || fk_str_starts(text, FK_S("[{")))
        return fail_named("a JSON document, of a kind that is not read yet", FK_E_UNSUPPORTED, err);
    return 0;
}

// Top-level fields as profile.proto has them; the head may end within one.
bool fk_pprof_looks(struct fk_str head, bool whole)
{
    static const uint8_t want[16] = {
        [1] = 1 << 2,  [2] = 1 << 2, [3] = 1 << 2, [4] = 1 << 2, [5] = 1 << 2,
        [6] = 1 << 2,  [7] = 1,      [8] = 1,      [9] = 1,      [10] = 1,
        [11] = 1 << 2, [12] = 1,     [13] = 5,     [14] = 1,     [15] = 1};
    struct fk_cur c = fk_cur_of(head);
    struct fk_pb_field f;
    size_t known = 0;
    while (c.p < c.end) {
        uint64_t key;
        if (!fk_varint_at(c.p, c.end, &key))
            break;
        uint64_t number = key >> 3;
        if (number == 0 || number > 1000)
            return false;
        if (number < 16 && !(want[number] >> (key & 7) & 1))
            return false;
        if (fk_pb_next(&c, &f) != 1)
            break;
        known += number < 16;
    }
    // Broken or cut off after a few good fields: a pprof still, and its decoder says where.
    return known > (whole && c.p < c.end ? 1 : 0) || (!whole && c.p < c.end);
}

static bool is_text(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        if (c < 9 || (c > 13 && c < 32 && c != 27))
            return false;
    }
    return true;
}

// Ends in a blank and a number, with something before.
static bool is_counted(struct fk_str line)
{
    size_t digits = 0;
    while (digits < line.n &&
           ((line.p[line.n - 1 - digits] >= '0' && line.p[line.n - 1 - digits] <= '9') ||
            line.p[line.n - 1 - digits] == '.'))
        digits++;
    return digits && digits + 1 < line.n && memchr(" \t-", line.p[line.n - 1 - digits], 3) != NULL;
}

// Most lines are counted; comments do not vote, nor does a last line that is cut off.
static bool mostly_counted(struct fk_str s, bool whole)
{
    struct fk_str line;
    size_t counted = 0, other = 0;
    while (fk_str_split(&s, '\n', &line)) {
        bool cut = !whole && !s.p;
        line = fk_str_trim(line);
        if (line.n == 0 || line.p[0] == '#' || (cut && counted + other))
            continue;
        counted += is_counted(line);
        other += !is_counted(line) && !cut;
    }
    return counted > 0 && counted >= other;
}

// UTF-16 text is taken for folded: nothing else is written in it.
bool fk_folded_looks(struct fk_str head, bool whole)
{
    return fk_str_starts(head, FK_S("\xff\xfe")) || fk_str_starts(head, FK_S("\xfe\xff")) ||
           (is_text(head) && mostly_counted(head, whole));
}

static bool looks_like_cmdline(struct fk_str s)
{
    bool nul = false;
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        nul |= c == 0;
        if (c != 0 && (c < 32 || c == 127))
            return false;
    }
    return nul && s.n > 1 && s.p[0] != 0;
}

static bool look_in_registry(struct fk_str head, bool whole, enum fk_format *ret)
{
    for (int f = FK_FORMAT_UNKNOWN + 1; f < FK_FORMAT_COUNT; f++) {
        const struct fk_format_row *row = fk_format_row((enum fk_format)f);
        if (row->looks && row->looks(head, whole)) {
            *ret = (enum fk_format)f;
            return true;
        }
    }
    return false;
}

int fk_format_look(struct fk_str bytes, enum fk_format *ret, struct fk_err *err)
{
    struct fk_str head = fk_str_head(bytes, FK_LOOK);
    bool whole = head.n == bytes.n;
    if (head.n == 0)
        return fk_fail(err, FK_E_FORMAT, "the body is empty: no profile was sent");
    if (look_in_registry(head, whole, ret))
        return 0;
    int rc = look_for_others(head, err);
    if (rc)
        return rc;
    if (fk_folded_looks(head, whole)) {
        *ret = FK_FORMAT_FOLDED;
        return 0;
    }
    if (fk_pprof_looks(head, whole)) {
        *ret = FK_FORMAT_PPROF;
        return 0;
    }
    if (looks_like_cmdline(head))
        return fail_named(cmdline, FK_E_FORMAT, err);
    if (is_text(head))
        return fail_named("plain text of which no line is 'stack count'; is it a program's name or "
                          "an error message?",
                          FK_E_FORMAT, err);
    FK_AUTO_BUF known;
    fk_buf_init(&known, 0);
    struct fk_str names = fk_format_readable(&known); // once: FK_STR_ARG takes its argument twice
    return fk_fail(err, FK_E_FORMAT,
                   "the format is not recognised (it begins with bytes %02x %02x); read are: %.*s",
                   (unsigned)(uint8_t)head.p[0], (unsigned)(uint8_t)(head.n > 1 ? head.p[1] : 0),
                   FK_STR_ARG(names));
}

int fk_format_other(struct fk_str bytes, bool json, struct fk_err *err)
{
    struct fk_str head = fk_str_head(bytes, FK_LOOK);
    struct fk_str text = fk_str_trim(head);
    enum fk_format known;
    if (json && (fk_str_starts(text, FK_S("{")) || fk_str_starts(text, FK_S("["))))
        return 0;
    if (look_in_registry(head, head.n == bytes.n, &known))
        return 0;
    int rc = look_for_others(head, err);
    if (!rc && looks_like_cmdline(head))
        rc = fail_named(cmdline, FK_E_FORMAT, err);
    return rc;
}

int fk_format_detect(struct fk_str bytes, enum fk_format *ret, struct fk_err *err)
{
    uint8_t head[FK_LOOK + 1], inner[FK_LOOK + 1]; // one more tells whether there is more
    size_t n = sizeof(head), m = sizeof(inner);
    if (fk_zip_detect((const uint8_t *)bytes.p, bytes.n) == FK_ZIP_NONE)
        return fk_format_look(bytes, ret, err);
    fk_inflate_head((const uint8_t *)bytes.p, bytes.n, head, &n);
    enum fk_zip again = fk_zip_detect(head, n);
    if (again == FK_ZIP_NONE || again == FK_ZIP_ZLIB) {
        struct fk_str look = n ? fk_str_make(head, n) : bytes;
        return fk_format_look(look, ret, err);
    }
    fk_inflate_head(head, n, inner, &m);
    return fk_format_look(fk_str_make(inner, m), ret, err);
}
