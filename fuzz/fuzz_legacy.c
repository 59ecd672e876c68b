// SPDX-License-Identifier: Apache-2.0
// The profiles from before pprof: each decoder gets every input.
#include "decode.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum fk_format formats[] = {FK_FORMAT_GPERFTOOLS, FK_FORMAT_LEGACY_TEXT,
                                             FK_FORMAT_JEMALLOC};
    for (size_t i = 0; i < FK_COUNTOF(formats); i++)
        fuzz_decode(formats[i], data, size);
    return 0;
}
