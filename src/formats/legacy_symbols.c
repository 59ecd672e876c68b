// SPDX-License-Identifier: Apache-2.0
// The symbolized form of gperftools' and jemalloc's profiles, as `pprof --raw` and `jeprof --raw`
// write it where the program is: names first, then the profile's own bytes.
//   --- symbol
//   binary=PATH
//   0xADDRESS CALLER--INLINED--INLINED     (one less than a return address)
//   ---
//   --- profile                            (or heap, growth, contention)
//   the profile
#include "formats/legacy_int.h"

static const struct fk_str head = {"--- symbol\n", 11};

bool fk_legacy_has_symbols(struct fk_str text)
{
    return fk_str_starts(text, head);
}

// "name<00000000000012b9>": jeprof tells equal names apart by where they begin.
static struct fk_str without_begin(struct fk_str name)
{
    ptrdiff_t open = fk_str_rchr(name, '<');
    uint64_t begin;
    if (open <= 0 || name.p[name.n - 1] != '>')
        return name;
    struct fk_str digits = fk_str_from(fk_str_head(name, name.n - 1), (size_t)open + 1);
    bool is_begin = digits.n >= 8 && digits.p[0] != 'x' && fk_hex(digits, &begin);
    return is_begin ? fk_str_head(name, (size_t)open) : name;
}

// The last of the names that "--" sets apart, cut off *rest; operator-- is a name.
static struct fk_str last_name(struct fk_str *rest)
{
    static const struct fk_str decrement = {"operator", 8};
    for (size_t i = rest->n; i-- > 1;) {
        struct fk_str before = fk_str_head(*rest, i - 1);
        if (rest->p[i] != '-' || rest->p[i - 1] != '-' || fk_str_ends(before, decrement))
            continue;
        struct fk_str name = fk_str_from(*rest, i + 1);
        *rest = before;
        return name;
    }
    struct fk_str name = *rest;
    rest->n = 0;
    return name;
}

static int put_names(struct fk_legacy *l, struct fk_str line, struct fk_err *err)
{
    struct fk_legacy_symbol s = {0};
    struct fk_str word = fk_word(&line), names = fk_str_trim(line);
    if (!fk_str_starts(word, FK_S("0x")) || !fk_hex(word, &s.address))
        return 0; // the program's path, and what later versions may add
    while (names.n) {
        s.name = without_begin(fk_str_trim(last_name(&names)));
        int rc = s.name.n ? fk_legacy_symbol_add(l, &s, err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

int fk_legacy_take_symbols(struct fk_legacy *l, struct fk_str *text, struct fk_err *err)
{
    struct fk_lines lines = {fk_str_from(*text, head.n), 1};
    struct fk_str line;
    while (fk_line_next(&lines, &line)) {
        if (fk_str_eq(line, FK_S("---")))
            continue;
        if (fk_str_starts(line, FK_S("--- "))) {
            *text = lines.rest;
            return 0;
        }
        int rc = put_names(l, line, err);
        if (rc)
            return rc;
    }
    return fk_fail(
        err, FK_E_FORMAT,
        "the profile ends after %llu lines of symbols: the line '--- profile', '--- heap' "
        "or the like and what follows it are missing",
        (unsigned long long)lines.n);
}
