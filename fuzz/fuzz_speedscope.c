// SPDX-License-Identifier: Apache-2.0
// The speedscope decoder.
#include "decode.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_decode(FK_FORMAT_SPEEDSCOPE, data, size);
}
