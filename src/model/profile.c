// SPDX-License-Identifier: Apache-2.0
// Facts computed from a frozen profile.
#include "model/model.h"

int64_t fk_profile_total(const struct fk_profile *p, uint32_t type)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < p->n_obs; i++)
        sum += (uint64_t)p->value[type][i];
    return (int64_t)sum;
}

static int check_functions(const struct fk_symbols *s, struct fk_err *err)
{
    for (uint32_t i = 0; i < s->n_functions; i++) {
        const struct fk_function *f = &s->function[i];
        if (f->name >= s->n_strings || f->system_name >= s->n_strings || f->file >= s->n_strings)
            return fk_fail(err, FK_E_FORMAT, "function %u names a string that is not there", i);
    }
    for (uint32_t i = 0; i < s->n_mappings; i++)
        if (s->mapping[i].file >= s->n_strings || s->mapping[i].build_id >= s->n_strings)
            return fk_fail(err, FK_E_FORMAT, "mapping %u names a string that is not there", i);
    for (uint32_t i = 0; i < s->n_lines; i++)
        if (s->line[i].function >= s->n_functions && s->line[i].function != FK_NONE)
            return fk_fail(err, FK_E_FORMAT, "line %u names a function that is not there", i);
    return 0;
}

static int check_locations(const struct fk_symbols *s, struct fk_err *err)
{
    for (uint32_t i = 0; i < s->n_locations; i++) {
        const struct fk_location *l = &s->location[i];
        if (l->mapping >= s->n_mappings && l->mapping != FK_NONE)
            return fk_fail(err, FK_E_FORMAT, "location %u names a mapping that is not there", i);
        if (!fk_in_range(l->line_begin, l->line_count, s->n_lines))
            return fk_fail(err, FK_E_FORMAT, "location %u has lines that are not there", i);
    }
    for (uint32_t i = 0; i < s->n_stacks; i++) {
        if (s->stack_begin[i] > s->stack_begin[i + 1])
            return fk_fail(err, FK_E_FORMAT, "stack %u ends before it begins", i);
        for (uint32_t f = s->stack_begin[i]; f < s->stack_begin[i + 1]; f++)
            if (s->frame[f] >= s->n_locations)
                return fk_fail(err, FK_E_FORMAT, "stack %u names a location that is not there", i);
    }
    return 0;
}

static int check_sets(const struct fk_symbols *s, struct fk_err *err)
{
    if (s->n_sets == 0 || s->set_begin[0] != s->set_begin[1])
        return fk_fail(err, FK_E_FORMAT, "attribute set 0 must be the empty set");
    for (uint32_t i = 0; i < s->n_sets; i++) {
        if (s->set_begin[i] > s->set_begin[i + 1])
            return fk_fail(err, FK_E_FORMAT, "attribute set %u ends before it begins", i);
        for (uint32_t a = s->set_begin[i]; a < s->set_begin[i + 1]; a++)
            if (s->attr[a].key >= s->n_strings || s->attr[a].str >= s->n_strings ||
                s->attr[a].unit >= s->n_strings)
                return fk_fail(err, FK_E_FORMAT,
                               "attribute set %u names a string that is not there", i);
    }
    return 0;
}

static int check_rows(const struct fk_profile *p, struct fk_err *err)
{
    for (uint64_t r = 0; r < p->n_rows; r++) {
        if (p->stack[r] >= p->sym.n_stacks)
            return fk_fail(err, FK_E_FORMAT, "row %llu names a stack that is not there",
                           (unsigned long long)r);
        if (p->set && p->set[r] >= p->sym.n_sets)
            return fk_fail(err, FK_E_FORMAT, "row %llu names attributes that are not there",
                           (unsigned long long)r);
        if (p->obs_begin && p->obs_begin[r] >= p->obs_begin[r + 1])
            return fk_fail(err, FK_E_FORMAT, "row %llu has no observation", (unsigned long long)r);
    }
    uint64_t last = p->obs_begin ? p->obs_begin[p->n_rows] : p->n_rows;
    if (last != p->n_obs)
        return fk_fail(err, FK_E_FORMAT, "rows and observations do not agree");
    return 0;
}

int fk_profile_validate(const struct fk_profile *p, struct fk_err *err)
{
    int r;
    for (uint32_t i = 0; i < p->n_placements; i++)
        if (p->placement[i].mapping >= p->sym.n_mappings)
            return fk_fail(err, FK_E_FORMAT, "placement %u names a mapping that is not there", i);
    if ((r = check_functions(&p->sym, err)) || (r = check_locations(&p->sym, err)) ||
        (r = check_sets(&p->sym, err)))
        return r;
    return check_rows(p, err);
}
