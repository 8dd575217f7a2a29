/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of emu.h. A value that is not understood ends the program with a line that says
 * so: a test that runs with other settings than it asked for would be worse. */
#include "emu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct emu_settings emu_set;
const char          emu_title[] = "emulated verbs", emu_fail_variable[] = "EMU_VERBS_FAIL";

/* True: the second of two words; lacking: the first. */
static bool second(const char *name, const char *a, const char *b)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0' || strcmp(text, a) == 0) {
        return false;
    }
    if (strcmp(text, b) != 0) {
        fprintf(stderr, "emulated verbs: %s is \"%s\"; give %s or %s\n", name, text, a, b);
        exit(1);
    }
    return true;
}

/* The text of a variable, or of the file that it names with @. Kept until the process ends. */
static const char *script(const char *name)
{
    const char *text = getenv(name);
    if (text == NULL || *text != '@') {
        return text != NULL ? text : "";
    }
    const int   fd = open(text + 1, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    char       *all = NULL;
    if (fd >= 0 && fstat(fd, &stat) == 0) {
        all = calloc(1, (size_t)stat.st_size + 1);
    }
    if (all == NULL || read(fd, all, (size_t)stat.st_size) != stat.st_size) {
        fprintf(stderr, "emulated verbs: %s is \"%s\", but that file cannot be read\n", name, text);
        exit(1);
    }
    close(fd);
    return all;
}

/* One host for each network namespace, unless it has a name. */
static void name_host(void)
{
    const char *text = getenv("EMU_VERBS_HOST");
    struct stat stat_;
    if (text != NULL && *text != '\0') {
        if (strlen(text) >= EMU_HOST_NAME || strpbrk(text, ":/* ;") != NULL) {
            fprintf(stderr,
                    "emulated verbs: EMU_VERBS_HOST is \"%s\"; give less than %d characters, "
                    "none of them : / * ; or a blank\n",
                    text, EMU_HOST_NAME);
            exit(1);
        }
        strcpy(emu_set.host, text);
    } else if (stat("/proc/self/ns/net", &stat_) == 0) {
        snprintf(emu_set.host, sizeof emu_set.host, "net%llu", (unsigned long long)stat_.st_ino);
    } else {
        strcpy(emu_set.host, "host");
    }
}

static void name_dir(void)
{
    const char *text = getenv("EMU_VERBS_DIR");
    if (text == NULL || *text == '\0') {
        snprintf(emu_set.dir, sizeof emu_set.dir, "/dev/shm/emu-verbs-%u", (unsigned)getuid());
    } else if (strlen(text) >= sizeof emu_set.dir) {
        fprintf(stderr, "emulated verbs: EMU_VERBS_DIR has %zu characters; give less than %zu\n",
                strlen(text), sizeof emu_set.dir);
        exit(1);
    } else {
        strcpy(emu_set.dir, text);
    }
}

void emu_settings_read(void)
{
    name_dir();
    name_host();
    emu_set.devices = (unsigned)emu_number("EMU_VERBS_DEVICES", 2, 0, EMU_HOST_DEVICES);
    emu_set.ports = (unsigned)emu_number("EMU_VERBS_PORTS", 1, 1, EMU_DEVICE_PORTS);
    emu_set.mtu = (unsigned)emu_number("EMU_VERBS_MTU", EMU_MAX_MTU, 256, EMU_MAX_MTU);
    if ((emu_set.mtu & (emu_set.mtu - 1)) != 0) {
        fprintf(stderr, "emulated verbs: EMU_VERBS_MTU is %u; give 256, 512, 1024, 2048 or 4096\n",
                emu_set.mtu);
        exit(1);
    }
    emu_set.window = (unsigned)emu_number("EMU_VERBS_WINDOW", 1024, 1, 1 << 20);
    emu_set.seed = emu_number("EMU_VERBS_SEED", 1, 0, ~0ul);
    emu_set.ib = second("EMU_VERBS_LINK_LAYER", "roce", "ib");
    emu_set.virtual_time = second("EMU_VERBS_TIME", "real", "virtual");
    emu_set.fabric = script("EMU_VERBS_FABRIC");
    emu_set.faults = script("EMU_VERBS_FAULTS");
    emu_inject_set(getenv(emu_fail_variable));
}

void emu_verbs_fail(const char *list)
{
    emu_inject_set(list);
}
