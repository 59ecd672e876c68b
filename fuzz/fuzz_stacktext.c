// SPDX-License-Identifier: Apache-2.0
// Stacks and trees that tools print, and simpleperf's trace: each decoder gets every input.
#include "decode.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum fk_format formats[] = {FK_FORMAT_BPFTRACE,     FK_FORMAT_DTRACE,
                                             FK_FORMAT_MACOS_SAMPLE, FK_FORMAT_INSTRUMENTS,
                                             FK_FORMAT_SIMPLEPERF,   FK_FORMAT_CALLGRIND};
    for (size_t i = 0; i < FK_COUNTOF(formats); i++)
        fuzz_decode(formats[i], data, size);
    return 0;
}
