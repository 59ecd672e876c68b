// SPDX-License-Identifier: Apache-2.0
// HTTP: a server on event loops of its own, a blocking client, and the small parsers around them.
// This is the room's public header: other rooms include "http/http.h" only; it gathers the small
// headers below, each of one subject.
//
// Sources: RFC 9110 (semantics), 9112 (HTTP/1.1), 9457 (problem+json), 7578 (multipart/form-data),
// WHATWG URL "application/x-www-form-urlencoded".
#ifndef FK_HTTP_H
#define FK_HTTP_H

#include "http/asset.h"
#include "http/client.h"
#include "http/limits.h"
#include "http/msg.h"
#include "http/multipart.h"
#include "http/server.h"
#include "http/url.h"

#endif
