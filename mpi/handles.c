/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles as integers, for other languages (MPI-5.0 ch. 20). A predefined handle is its own value.
 * Any other one gets a number when it is first asked for, above all predefined values; the number
 * stands for the handle's address for good, since an address that is given anew means the new
 * object. One table serves all kinds: an address belongs to one object at a time.
 */
#include <pthread.h>

#include "mpi/front.h"

enum { PREDEFINED_END = 0x1000, EMPTY = -1 };

static struct {
    pthread_mutex_t lock;
    void          **handles; /* by number */
    int            *places;  /* open addressing by the address: an index of handles, or EMPTY */
    int             n, room; /* room: of handles; places has twice as many */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where a handle is, or would be. Under the lock. */
static int place_of(const void *handle)
{
    const unsigned mask = 2u * (unsigned)table.room - 1;
    const uint64_t hash = ((uint64_t)(uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u;
    unsigned       at = (unsigned)(hash >> 32) & mask;
    while (table.places[at] != EMPTY && table.handles[table.places[at]] != handle) {
        at = (at + 1) & mask;
    }
    return (int)at;
}

/* Room for one more. false: no memory. Under the lock. */
static bool grow(void)
{
    const int room = table.room > 0 ? 2 * table.room : 64;
    if (table.n < table.room) {
        return true;
    }
    if (room > INT_MAX / 4) {
        return false;
    }
    int   *places = malloc(2 * (size_t)room * sizeof *places);
    void **handles = realloc(table.handles, (size_t)room * sizeof *handles);
    if (handles != NULL) {
        table.handles = handles;
    }
    if (places == NULL || handles == NULL) {
        free(places);
        return false;
    }
    free(table.places);
    table.places = places;
    table.room = room;
    for (int i = 0; i < 2 * room; i++) {
        places[i] = EMPTY;
    }
    for (int i = 0; i < table.n; i++) {
        places[place_of(handles[i])] = i;
    }
    return true;
}

/* -1: no memory. */
static int number_of(void *handle)
{
    int number = EMPTY;
    pthread_mutex_lock(&table.lock);
    if (grow()) {
        const int at = place_of(handle);
        if (table.places[at] == EMPTY) {
            table.places[at] = table.n;
            table.handles[table.n++] = handle;
        }
        number = table.places[at] + PREDEFINED_END;
    }
    pthread_mutex_unlock(&table.lock);
    return number;
}

static int to_int(void *handle)
{
    return (uintptr_t)handle < PREDEFINED_END ? (int)(uintptr_t)handle : number_of(handle);
}

/* `null` for a number that nobody was given. */
static void *from_int(int number, void *null)
{
    void *handle = null;
    if (number >= 0 && number < PREDEFINED_END) {
        return (void *)(uintptr_t)number;
    }
    pthread_mutex_lock(&table.lock);
    if (number >= PREDEFINED_END && number - PREDEFINED_END < table.n) {
        handle = table.handles[number - PREDEFINED_END];
    }
    pthread_mutex_unlock(&table.lock);
    return handle;
}

#define CONVERT(Kind, Type, argument, NULL_)                                                       \
    int PMPI_##Kind##_toint(Type argument)                                                         \
    {                                                                                              \
        return to_int(argument);                                                                   \
    }                                                                                              \
    Type PMPI_##Kind##_fromint(int argument)                                                       \
    {                                                                                              \
        return from_int(argument, NULL_);                                                          \
    }                                                                                              \
    NAME(Kind##_toint)                                                                             \
    NAME(Kind##_fromint)

CONVERT(Comm, MPI_Comm, comm, MPI_COMM_NULL)
CONVERT(Errhandler, MPI_Errhandler, errhandler, MPI_ERRHANDLER_NULL)
CONVERT(File, MPI_File, file, MPI_FILE_NULL)
CONVERT(Group, MPI_Group, group, MPI_GROUP_NULL)
CONVERT(Info, MPI_Info, info, MPI_INFO_NULL)
CONVERT(Message, MPI_Message, message, MPI_MESSAGE_NULL)
CONVERT(Op, MPI_Op, op, MPI_OP_NULL)
CONVERT(Request, MPI_Request, request, MPI_REQUEST_NULL)
CONVERT(Session, MPI_Session, session, MPI_SESSION_NULL)
CONVERT(Type, MPI_Datatype, datatype, MPI_DATATYPE_NULL)
CONVERT(Win, MPI_Win, win, MPI_WIN_NULL)
