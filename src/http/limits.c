// SPDX-License-Identifier: Apache-2.0
// The table of the server's limits.
#include "http/limits.h"

const struct fk_limit_info fk_http_limit_table[] = {
#define ROW(member, flag, value, unit, text)                                                       \
    {#member, flag, text, value, FK_LIMIT_##unit, offsetof(struct fk_http_limits, member)},
    FK_HTTP_LIMITS(ROW)
#undef ROW
};
const size_t fk_http_limit_count = FK_COUNTOF(fk_http_limit_table);

struct fk_http_limits fk_http_limits_default(void)
{
    return (struct fk_http_limits){
#define VALUE(member, flag, value, unit, text) .member = value,
        FK_HTTP_LIMITS(VALUE)
#undef VALUE
    };
}

const char *fk_http_limit_flag(size_t offset)
{
    for (size_t i = 0; i < fk_http_limit_count; i++)
        if (fk_http_limit_table[i].offset == offset)
            return fk_http_limit_table[i].flag;
    return "";
}
