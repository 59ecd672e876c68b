// SPDX-License-Identifier: Apache-2.0
// The table of limits as data.
#include "base/limits.h"

const struct fk_limit_info fk_limit_table[] = {
#define FK_LIMIT_ROW(member, flag, value, unit, text)                                              \
    {#member, flag, text, (uint64_t)(value), FK_LIMIT_##unit, offsetof(struct fk_limits, member)},
    FK_LIMITS(FK_LIMIT_ROW)
#undef FK_LIMIT_ROW
};

const size_t fk_limit_count = FK_COUNTOF(fk_limit_table);

struct fk_limits fk_limits_default(void)
{
    return (struct fk_limits){
#define FK_LIMIT_DEFAULT(member, flag, value, unit, text) .member = (uint64_t)(value),
        FK_LIMITS(FK_LIMIT_DEFAULT)
#undef FK_LIMIT_DEFAULT
    };
}

const char *fk_limit_flag(size_t offset)
{
    for (size_t i = 0; i < fk_limit_count; i++)
        if (fk_limit_table[i].offset == offset)
            return fk_limit_table[i].flag;
    return "";
}
