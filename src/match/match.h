// SPDX-License-Identifier: Apache-2.0
// Selectors over labels, and patterns over names. Grammar of Prometheus' instant vector selectors:
//
//   [name] { label op "value" , ... }      op: =  !=  =~  !~       {} and an empty text: everything
//
// A leading name is a matcher on __name__ (it may hold ':' and is then a profile type id). Label
// names are bare [A-Za-z_][A-Za-z0-9_.]* or quoted; values are quoted by " or ' (escapes of Go
// strings) or by ` (raw). A quoted text alone in the braces is a name too: {"http.requests"}.
//
// Regular expressions are anchored at both ends, and are the subset that RE2 and PCRE2 share:
// backreferences, lookaround, atomic groups, possessive quantifiers, recursion and verbs are
// refused. They run over UTF-8; a byte that is no UTF-8 matches only as itself (through a shadow
// code point; `.` matches it). Matching costs at most a fixed number of steps: beyond it is an
// error, FK_E_LIMIT, never "no match".
#ifndef FK_MATCH_H
#define FK_MATCH_H

#include "model/model.h"

enum fk_match_op { FK_MATCH_EQ, FK_MATCH_NE, FK_MATCH_RE, FK_MATCH_NRE };

struct fk_regex;

struct fk_matcher {
    struct fk_str name, value; // in the arena
    enum fk_match_op op;
    bool matches_empty;     // so it matches an absent label
    struct fk_regex *regex; // RE, NRE
};

#define FK_SELECTOR_MATCHERS 64

// Parsed: immutable, may be used by several threads at once. Free with fk_selector_free (the
// compiled expressions are not in the arena) before the arena.
struct fk_selector {
    struct fk_matcher *v;
    size_t n;
};

// FK_E_INVALID with err->param "query": position (in characters from 1) and what was expected.
int fk_selector_parse(struct fk_str text, struct fk_arena *a, struct fk_selector **ret,
                      struct fk_err *err);
void fk_selector_free(struct fk_selector *s); // NULL is taken
// All matchers against labels; an absent label is "". *ret or an error.
int fk_selector_match(const struct fk_selector *s, const struct fk_labels *l, bool *ret,
                      struct fk_err *err);
// One matcher against one value ("" for absent).
int fk_matcher_match(const struct fk_matcher *m, struct fk_str value, bool *ret,
                     struct fk_err *err);
// The text with matchers sorted and duplicates left out: equal selectors have equal texts.
void fk_selector_put(struct fk_buf *b, const struct fk_selector *s);
// Labels of a selector that has only `=` matchers ("labels=" of an upload): FK_E_INVALID otherwise.
int fk_selector_labels(const struct fk_selector *s, struct fk_arena *a, struct fk_labels *ret,
                       struct fk_err *err);
// Whether the text can stand as a bare label name.
bool fk_label_name_is_bare(struct fk_str name);

// ---- regular expressions alone
// Anchored. err->param is "regex". Memory of its own: free it.
int fk_regex_new(struct fk_str pattern, struct fk_regex **ret, struct fk_err *err);
void fk_regex_free(struct fk_regex *r);
int fk_regex_match(const struct fk_regex *r, struct fk_str text, bool *ret, struct fk_err *err);
// Also matches in the middle of the text (name filters).
int fk_regex_new_unanchored(struct fk_str pattern, struct fk_regex **ret, struct fk_err *err);

// ---- name filters (focus=, hide=, collapse=): a literal name, or /regex/ that matches anywhere.
struct fk_name_filter {
    struct fk_str literal;
    struct fk_regex *regex;
};
int fk_name_filter_parse(struct fk_str text, struct fk_name_filter *ret, struct fk_err *err);
void fk_name_filter_free(struct fk_name_filter *f);
int fk_name_filter_match(const struct fk_name_filter *f, struct fk_str name, bool *ret,
                         struct fk_err *err);

#endif
