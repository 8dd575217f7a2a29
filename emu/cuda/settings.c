/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of emu.h. A value that is not understood ends the program with a line that says
 * so: a test that runs with other settings than it asked for would be worse. */
#include "emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emu_settings emu_set;
const char          emu_title[] = "emulated CUDA", emu_fail_variable[] = "EMU_CUDA_FAIL";

/* As the real driver: a list of numbers, which ends at the first that names no device. */
static void visible(unsigned devices)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    emu_set.devices = 0;
    if (text == NULL) {
        for (unsigned i = 0; i < devices; i++) {
            emu_set.physical[emu_set.devices++] = i;
        }
        return;
    }
    while (emu_set.devices < EMU_MAX_DEVICES) {
        char               *end;
        const unsigned long i = strtoul(text, &end, 10);
        if (end == text || i >= devices) {
            return;
        }
        emu_set.physical[emu_set.devices++] = (unsigned)i;
        if (*end != ',') {
            return;
        }
        text = end + 1;
    }
}

void emu_settings_read(void)
{
    visible((unsigned)emu_number("EMU_CUDA_DEVICES", 2, 0, EMU_MAX_DEVICES));
    emu_set.memory_bytes = (size_t)emu_number("EMU_CUDA_MEMORY", 4096, 1, 1ul << 30) << 20;
    emu_set.sms = (unsigned)emu_number("EMU_CUDA_SMS", 16, 1, 1024);
    emu_set.resident = (unsigned)emu_number("EMU_CUDA_RESIDENT", 0, 0, 1 << 20);
    emu_set.workers = (unsigned)emu_number("EMU_CUDA_WORKERS", 3, 1, 256);
    emu_set.seed = emu_number("EMU_CUDA_SEED", 1, 0, ~0ul);
    emu_set.strict = emu_number("EMU_CUDA_STRICT", 1, 0, 1) != 0;
    emu_set.peers = emu_number("EMU_CUDA_PEERS", 1, 0, 1) != 0;
    emu_set.connections = (unsigned)emu_number("CUDA_DEVICE_MAX_CONNECTIONS", 0, 1, 32);
    emu_inject_set(getenv(emu_fail_variable));
}
