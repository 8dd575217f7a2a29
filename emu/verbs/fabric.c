/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the fabric of fabric.h. The byte 0 of the file is locked while its making is decided;
 * the byte of a slot while its process lives. */
#include "emu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Processes with different builds of the library do not meet. */
static const uint64_t MAGIC = (uint64_t)0x56455231 << 32 | sizeof(struct emu_fabric);

static int file = -1;

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool byte_lock(int command, short type, off_t byte, off_t bytes, struct flock *found)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = bytes};
    int          result;
    do {
        result = fcntl(file, command, &lock);
    } while (result != 0 && errno == EINTR && command == F_SETLKW);
    if (found != NULL) {
        *found = lock;
    }
    return result == 0;
}

bool emu_fabric_slot_lives(unsigned slot)
{
    struct flock found;
    if (file < 0) {
        return true;
    }
    return !byte_lock(F_GETLK, F_WRLCK, slot, 1, &found) || found.l_type != F_UNLCK;
}

static bool nobody_else(void)
{
    struct flock found;
    return byte_lock(F_GETLK, F_WRLCK, 1, EMU_SLOTS, &found) && found.l_type == F_UNLCK;
}

/* Rings that processes left which were killed. */
static void sweep(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "ring.", 5) == 0) {
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    closedir(dir);
}

static void start(struct emu_fabric *fabric)
{
    fabric->epoch_ns = monotonic_ns() - 1;
    atomic_store(&fabric->spines, 1);
    atomic_store(&fabric->next_slot, 1);
    atomic_store(&fabric->magic, MAGIC);
}

static struct emu_fabric *complain(const char *what, const char *path)
{
    fprintf(stderr, "emulated verbs: %s %s: %s\n", what, path, strerror(errno));
    if (file >= 0) {
        close(file);
        file = -1;
    }
    return NULL;
}

static bool take_slot(struct emu_fabric *fabric, unsigned *slot)
{
    const unsigned first = atomic_load(&fabric->next_slot);
    for (unsigned i = 0; i < EMU_SLOTS - 1; i++) {
        const unsigned at = 1 + (first - 1 + i) % (EMU_SLOTS - 1);
        if (byte_lock(F_SETLK, F_WRLCK, at, 1, NULL)) {
            *slot = at;
            atomic_store(&fabric->next_slot, 1 + at % (EMU_SLOTS - 1));
            return true;
        }
    }
    fprintf(stderr, "emulated verbs: %d processes use %s; more is not possible\n", EMU_SLOTS - 1,
            emu_set.dir);
    return false;
}

static void occupy(struct emu_fabric *fabric, unsigned slot, uint64_t *incarnation)
{
    struct emu_slot *own = &fabric->slots[slot];
    *incarnation = atomic_fetch_add(&fabric->incarnations, 1) + 1;
    for (unsigned i = 0; i < EMU_SLOT_WORDS; i++) {
        atomic_store(&own->pending[i], 0);
    }
    atomic_store(&own->sleeping, 0);
    atomic_store(&own->incarnation, *incarnation);
    atomic_store(&own->used, true);
}

/* The number of the host that this process is on; the first to come with its name numbers it. */
static bool find_host(struct emu_fabric *fabric, unsigned *host)
{
    const unsigned n = atomic_load(&fabric->hosts);
    for (*host = 0; *host < n; ++*host) {
        if (strcmp(fabric->host[*host], emu_set.host) == 0) {
            return true;
        }
    }
    if (n == EMU_HOSTS) {
        fprintf(stderr, "emulated verbs: %s has %d hosts; %s would be one more\n", emu_set.dir,
                EMU_HOSTS, emu_set.host);
        return false;
    }
    snprintf(fabric->host[n], EMU_HOST_NAME, "%s", emu_set.host);
    atomic_store(&fabric->hosts, n + 1);
    return true;
}

/* Slot and host in a fabric that is mapped. */
static bool settle(struct emu_fabric *fabric, struct emu_place *place)
{
    if (!find_host(fabric, &place->host)) {
        return false;
    }
    if (file < 0) {
        place->slot = 1;
    } else if (!take_slot(fabric, &place->slot)) {
        return false;
    }
    occupy(fabric, place->slot, &place->incarnation);
    return true;
}

static struct emu_fabric *join_file(struct emu_place *place)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/fabric", emu_set.dir);
    if (mkdir(emu_set.dir, 0700) != 0 && errno != EEXIST) {
        return complain("cannot make the folder", emu_set.dir);
    }
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || !byte_lock(F_SETLKW, F_WRLCK, 0, 1, NULL)) {
        return complain("cannot open", path);
    }
    const bool fresh = nobody_else();
    if (fresh) {
        sweep(emu_set.dir);
    }
    if (fresh && (ftruncate(file, 0) != 0 || ftruncate(file, sizeof(struct emu_fabric)) != 0)) {
        return complain("cannot size", path);
    }
    struct emu_fabric *fabric =
        mmap(NULL, sizeof *fabric, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (fabric == MAP_FAILED) {
        return complain("cannot map", path);
    }
    if (fresh) {
        start(fabric);
    }
    if (!fresh && atomic_load(&fabric->magic) != MAGIC) {
        errno = EPROTO;
        munmap(fabric, sizeof *fabric);
        return complain("another version of this library uses", path);
    }
    if (!settle(fabric, place)) {
        munmap(fabric, sizeof *fabric);
        close(file);
        file = -1;
        return NULL;
    }
    if (fresh) {
        emu_script_configure(fabric, place->host);
    }
    (void)byte_lock(F_SETLK, F_UNLCK, 0, 1, NULL);
    return fabric;
}

static struct emu_fabric *make_private(struct emu_place *place)
{
    struct emu_fabric *fabric = mmap(NULL, sizeof *fabric, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fabric == MAP_FAILED) {
        return complain("cannot map", "memory of the fabric");
    }
    start(fabric);
    (void)settle(fabric, place);
    emu_script_configure(fabric, place->host);
    return fabric;
}

struct emu_fabric *emu_fabric_join(struct emu_place *place)
{
    return emu_set.virtual_time ? make_private(place) : join_file(place);
}

void emu_fabric_leave(struct emu_fabric *fabric)
{
    munmap(fabric, sizeof *fabric);
    if (file >= 0) {
        close(file); /* in a child of fork: the parent's locks stay */
        file = -1;
    }
}

void emu_fabric_ring_bell(struct emu_slot *slot)
{
    /* Pairs with the fence in nic.c, between `sleeping` and the last look for work. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&slot->sleeping, memory_order_relaxed) != 0 &&
        atomic_exchange(&slot->sleeping, 0) != 0) {
        atomic_fetch_add(&slot->doorbell, 1);
        (void)syscall(SYS_futex, &slot->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

void emu_fabric_changed(struct emu_fabric *fabric)
{
    atomic_fetch_add(&fabric->changes, 1);
    for (unsigned i = 1; i < EMU_SLOTS; i++) {
        if (atomic_load(&fabric->slots[i].used)) {
            emu_fabric_ring_bell(&fabric->slots[i]);
        }
    }
}
