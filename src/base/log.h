// SPDX-License-Identifier: Apache-2.0
// A sink for messages to operators. Libraries do not log; the few rooms that run on their own (api,
// store's worker, scrape, agent, cli) are handed a sink.
#ifndef FK_BASE_LOG_H
#define FK_BASE_LOG_H

#include "base/str.h"

enum fk_log_level { FK_LOG_DEBUG, FK_LOG_INFO, FK_LOG_WARN, FK_LOG_ERROR };

struct fk_log {
    // `line` is one message without a line end; called from any thread.
    void (*write)(void *arg, enum fk_log_level level, const char *domain, struct fk_str line);
    void *arg;
    enum fk_log_level least; // messages below are not formatted
};

// log may be NULL. Messages are "what happened key=value key=value"; cut at 2 KiB.
void fk_logf(const struct fk_log *log, enum fk_log_level level, const char *domain, const char *fmt,
             ...) FK_PRINTF(4, 5);

#endif
