// SPDX-License-Identifier: Apache-2.0
// Lines, trie and tree of /ingest; the first byte chooses.
#include "decode.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum fk_format formats[] = {FK_FORMAT_LINES, FK_FORMAT_TRIE, FK_FORMAT_TREE};
    return size ? fuzz_decode(formats[data[0] % 3], data + 1, size - 1) : 0;
}
