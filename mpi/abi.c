/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program can ask of the ABI itself (MPI-5.0 ch. 20). Fortran's types have the sizes of C's,
 * which cannot be changed; the values of its logicals are kept for who sets them once.
 */
#include <pthread.h>
#include <string.h>

#include "mpi/front.h"

enum { LOGICAL_MAX = 16 };

static struct {
    pthread_mutex_t lock;
    int             size; /* 0: not set */
    unsigned char   yes[LOGICAL_MAX], no[LOGICAL_MAX];
} logical = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Sizes in bytes that an info object tells. */
struct size {
    const char *key;
    size_t      bytes;
};

static const struct size fortran_sizes[] = {
    {"mpi_logical_size", 4},
    {"mpi_integer_size", sizeof(int)},
    {"mpi_real_size", sizeof(float)},
    {"mpi_double_precision_size", sizeof(double)},
};

/* Optional types of Fortran, of which all are there. */
static const char *const fortran_types[] = {
    "logical1", "logical2", "logical4",  "logical8",  "logical16",      "integer1", "integer2",
    "integer4", "integer8", "integer16", "real2",     "real4",          "real8",    "real16",
    "complex4", "complex8", "complex16", "complex32", "double_complex",
};

static int info_of(const struct size *sizes, size_t n, MPI_Info *info)
{
    char text[32];
    int  rc = ctran_info_create(info);
    for (size_t i = 0; i < n && rc == MPI_SUCCESS; i++) {
        snprintf(text, sizeof text, "%zu", sizes[i].bytes);
        rc = ctran_info_set(*info, sizes[i].key, text);
    }
    return rc;
}

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    if (abi_major == NULL || abi_minor == NULL) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, "MPI_Abi_get_version",
                              "a result's address is NULL");
    }
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}
NAME(Abi_get_version)

int PMPI_Abi_get_info(MPI_Info *info)
{
    static const struct size sizes[] = {
        {"mpi_aint_size", sizeof(MPI_Aint)},
        {"mpi_count_size", sizeof(MPI_Count)},
        {"mpi_offset_size", sizeof(MPI_Offset)},
    };
    return info_of(sizes, sizeof sizes / sizeof *sizes, info);
}
NAME(Abi_get_info)

int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
    char key[64];
    int  rc = info_of(fortran_sizes, sizeof fortran_sizes / sizeof *fortran_sizes, info);
    for (size_t i = 0; i < sizeof fortran_types / sizeof *fortran_types; i++) {
        snprintf(key, sizeof key, "mpi_%s_supported", fortran_types[i]);
        rc = rc == MPI_SUCCESS ? ctran_info_set(*info, key, "true") : rc;
    }
    return rc;
}
NAME(Abi_get_fortran_info)

int PMPI_Abi_set_fortran_info(MPI_Info info)
{
    for (size_t i = 0; i < sizeof fortran_sizes / sizeof *fortran_sizes; i++) {
        char value[32];
        int  len = sizeof value, flag = 0;
        int  rc = ctran_info_get_string(info, fortran_sizes[i].key, &len, value, &flag);
        if (rc != MPI_SUCCESS) {
            return rc;
        }
        if (flag && (size_t)strtoul(value, NULL, 10) != fortran_sizes[i].bytes) {
            return ct_front_raise(
                MPI_COMM_NULL, MPI_ERR_ABI, "MPI_Abi_set_fortran_info",
                "the sizes of Fortran's types are those of int, float and double, "
                "and cannot be changed");
        }
    }
    return MPI_SUCCESS;
}
NAME(Abi_set_fortran_info)

static int check_logical(const char *call, int size, const void *yes, const void *no)
{
    if (size != 1 && size != 2 && size != 4 && size != 8 && size != LOGICAL_MAX) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_ABI, call,
                              "logical_size must be 1, 2, 4, 8 or 16 bytes");
    }
    return yes != NULL && no != NULL
               ? MPI_SUCCESS
               : ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, call, "an address is NULL");
}

int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    static const char call[] = "MPI_Abi_set_fortran_booleans";
    int               rc = check_logical(call, logical_size, logical_true, logical_false);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&logical.lock);
    const bool is_new = logical.size == 0;
    if (is_new) {
        logical.size = logical_size;
        memcpy(logical.yes, logical_true, (size_t)logical_size);
        memcpy(logical.no, logical_false, (size_t)logical_size);
    }
    pthread_mutex_unlock(&logical.lock);
    return is_new ? rc : ct_front_raise(MPI_COMM_NULL, MPI_ERR_ABI, call, "they are set already");
}
NAME(Abi_set_fortran_booleans)

int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                  int *is_set)
{
    static const char call[] = "MPI_Abi_get_fortran_booleans";
    int               rc = check_logical(call, logical_size, logical_true, logical_false);
    if (rc != MPI_SUCCESS || is_set == NULL) {
        return rc != MPI_SUCCESS
                   ? rc
                   : ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, call, "is_set is NULL");
    }
    pthread_mutex_lock(&logical.lock);
    const int size = logical.size;
    *is_set = size != 0;
    if (size == logical_size) {
        memcpy(logical_true, logical.yes, (size_t)size);
        memcpy(logical_false, logical.no, (size_t)size);
    }
    pthread_mutex_unlock(&logical.lock);
    return size == 0 || size == logical_size
               ? rc
               : ct_front_raise(MPI_COMM_NULL, MPI_ERR_ABI, call,
                                "they were set with another logical_size");
}
NAME(Abi_get_fortran_booleans)
