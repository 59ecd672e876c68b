// SPDX-License-Identifier: Apache-2.0
// Firefox profiles and stackprof.
#include "decode.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode(FK_FORMAT_FIREFOX, data, size);
    return fuzz_decode(FK_FORMAT_STACKPROF, data, size);
}
