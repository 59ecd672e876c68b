// SPDX-License-Identifier: Apache-2.0
// V8's profiles, by what their first names say.
#include "decode.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum fk_format formats[] = {FK_FORMAT_CPUPROFILE, FK_FORMAT_HEAPPROFILE,
                                             FK_FORMAT_CHROME_TRACE};
    for (size_t i = 0; i < FK_COUNTOF(formats); i++)
        fuzz_decode(formats[i], data, size);
    return 0;
}
