// SPDX-License-Identifier: Apache-2.0
// The formats: their names, and who reads, writes and recognises each. A row without decode is a
// format that is known by name only.
#include "formats/formats_int.h"
#include "formats/text_int.h"

static const struct fk_format_row rows[FK_FORMAT_COUNT] = {
    [FK_FORMAT_UNKNOWN] = {"unknown", NULL, NULL, NULL},
    [FK_FORMAT_PPROF] = {"pprof", fk_pprof_decode, fk_pprof_encode, NULL},
    [FK_FORMAT_FOLDED] = {"folded", fk_folded_decode, fk_folded_encode, NULL},
    [FK_FORMAT_JFR] = {"jfr", fk_jfr_decode, NULL, fk_jfr_looks},
    [FK_FORMAT_OTLP] = {"otlp", fk_otlp_decode, fk_otlp_encode, fk_otlp_looks},
    [FK_FORMAT_LINES] = {"lines", fk_lines_decode, NULL, NULL},
    [FK_FORMAT_TRIE] = {"trie", fk_trie_decode, NULL, NULL},
    [FK_FORMAT_TREE] = {"tree", fk_tree_decode, NULL, NULL},
    [FK_FORMAT_PERF_SCRIPT] = {"perf-script", fk_perf_script_decode, NULL, fk_perf_script_looks},
    [FK_FORMAT_GPERFTOOLS] = {"gperftools", fk_gperftools_decode, NULL, fk_gperftools_looks},
    [FK_FORMAT_LEGACY_TEXT] = {"legacy-text", fk_legacy_text_decode, NULL, fk_legacy_text_looks},
    [FK_FORMAT_JEMALLOC] = {"jemalloc", fk_jemalloc_decode, NULL, fk_jemalloc_looks},
    [FK_FORMAT_SPEEDSCOPE] = {"speedscope", fk_speedscope_decode, fk_speedscope_encode,
                              fk_speedscope_looks},
    [FK_FORMAT_CPUPROFILE] = {"cpuprofile", fk_cpuprofile_decode, NULL, fk_cpuprofile_looks},
    [FK_FORMAT_HEAPPROFILE] = {"heapprofile", fk_heapprofile_decode, NULL, fk_heapprofile_looks},
    [FK_FORMAT_CHROME_TRACE] = {"chrome-trace", fk_chrome_trace_decode, NULL,
                                fk_chrome_trace_looks},
    [FK_FORMAT_FIREFOX] = {"firefox", fk_firefox_decode, fk_firefox_encode, fk_firefox_looks},
    [FK_FORMAT_FLAMEBEARER] = {"flamebearer", fk_flamebearer_decode, NULL, fk_flamebearer_looks},
    [FK_FORMAT_STACKPROF] = {"stackprof", fk_stackprof_decode, NULL, fk_stackprof_looks},
    [FK_FORMAT_BPFTRACE] = {"bpftrace", fk_bpftrace_decode, NULL, fk_bpftrace_looks},
    [FK_FORMAT_DTRACE] = {"dtrace", fk_dtrace_decode, NULL, fk_dtrace_looks},
    [FK_FORMAT_MACOS_SAMPLE] = {"macos-sample", fk_macos_sample_decode, NULL,
                                fk_macos_sample_looks},
    [FK_FORMAT_INSTRUMENTS] = {"instruments", fk_instruments_decode, NULL, fk_instruments_looks},
    [FK_FORMAT_SIMPLEPERF] = {"simpleperf", fk_simpleperf_decode, NULL, fk_simpleperf_looks},
    [FK_FORMAT_CALLGRIND] = {"callgrind", fk_callgrind_decode, NULL, fk_callgrind_looks},
    [FK_FORMAT_PGO] = {"pgo", NULL, fk_pgo_encode, NULL},
};

const struct fk_format_row *fk_format_row(enum fk_format f)
{
    return (unsigned)f < FK_FORMAT_COUNT && rows[f].name ? &rows[f] : NULL;
}

const char *fk_format_name(enum fk_format f)
{
    const struct fk_format_row *row = fk_format_row(f);
    return row ? row->name : "unknown";
}

bool fk_format_is_read(enum fk_format f)
{
    const struct fk_format_row *row = fk_format_row(f);
    return row && row->decode;
}

bool fk_format_is_written(enum fk_format f)
{
    const struct fk_format_row *row = fk_format_row(f);
    return row && row->encode;
}

bool fk_format_is_json(enum fk_format f)
{
    return f == FK_FORMAT_SPEEDSCOPE || f == FK_FORMAT_CPUPROFILE || f == FK_FORMAT_HEAPPROFILE ||
           f == FK_FORMAT_CHROME_TRACE || f == FK_FORMAT_FIREFOX || f == FK_FORMAT_FLAMEBEARER ||
           f == FK_FORMAT_OTLP || f == FK_FORMAT_STACKPROF;
}

struct fk_str fk_format_readable(struct fk_buf *b)
{
    for (int f = FK_FORMAT_PPROF; f < FK_FORMAT_COUNT; f++)
        if (fk_format_is_read((enum fk_format)f))
            fk_buf_printf(b, "%s%s", b->n ? ", " : "", rows[f].name);
    return fk_buf_view(b);
}

int fk_format_parse(struct fk_str name, enum fk_format *ret, struct fk_err *err)
{
    FK_AUTO_BUF text;
    fk_buf_init(&text, 0);
    for (int f = FK_FORMAT_PPROF; f < FK_FORMAT_COUNT; f++) {
        if (!fk_str_eq(name, fk_str_of(rows[f].name)))
            continue;
        if (!rows[f].decode) {
            struct fk_str names = fk_format_readable(&text); // FK_STR_ARG takes it twice
            return fk_fail(err, FK_E_UNSUPPORTED, "the format '%s' is written only; read are: %.*s",
                           rows[f].name, FK_STR_ARG(names));
        }
        *ret = (enum fk_format)f;
        return 0;
    }
    struct fk_str names = fk_format_readable(&text);
    return fk_fail_param(err, "format", "format '%.*s' is not known; read are: %.*s",
                         FK_STR_ARG(fk_str_head(name, 40)), FK_STR_ARG(names));
}
