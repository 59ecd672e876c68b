// SPDX-License-Identifier: Apache-2.0
// The decoders of text, JSON and small binary formats, for the registry.
#ifndef FK_FORMATS_TEXT_INT_H
#define FK_FORMATS_TEXT_INT_H

#include "formats/formats_int.h"

int fk_lines_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_trie_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_tree_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_perf_script_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_perf_script_looks(struct fk_str head, bool whole);
int fk_cpuprofile_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_cpuprofile_looks(struct fk_str head, bool whole);
int fk_heapprofile_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_heapprofile_looks(struct fk_str head, bool whole);
int fk_chrome_trace_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_chrome_trace_looks(struct fk_str head, bool whole);
int fk_speedscope_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_speedscope_looks(struct fk_str head, bool whole);
int fk_firefox_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_firefox_looks(struct fk_str head, bool whole);
int fk_flamebearer_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_flamebearer_looks(struct fk_str head, bool whole);
bool fk_stackprof_json_looks(struct fk_str head, bool whole);
int fk_gperftools_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_gperftools_looks(struct fk_str head, bool whole);
int fk_legacy_text_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_legacy_text_looks(struct fk_str head, bool whole);
int fk_jemalloc_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_jemalloc_looks(struct fk_str head, bool whole);
int fk_stackprof_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_stackprof_looks(struct fk_str head, bool whole);
int fk_bpftrace_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_bpftrace_looks(struct fk_str head, bool whole);
int fk_dtrace_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_dtrace_looks(struct fk_str head, bool whole);
int fk_macos_sample_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_macos_sample_looks(struct fk_str head, bool whole);
int fk_instruments_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_instruments_looks(struct fk_str head, bool whole);
int fk_simpleperf_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_simpleperf_looks(struct fk_str head, bool whole);
int fk_callgrind_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_callgrind_looks(struct fk_str head, bool whole);

#endif
