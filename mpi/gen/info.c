/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects (chapter 10). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Info_create(MPI_Info *info)
{
    return ctran_info_create(info);
}
NAME(Info_create)

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    return ctran_info_create_env(argc, argv, info);
}
NAME(Info_create_env)

int PMPI_Info_delete(MPI_Info info, const char *key)
{
    return ctran_info_delete(info, key);
}
NAME(Info_delete)

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    return ctran_info_dup(info, newinfo);
}
NAME(Info_dup)

int PMPI_Info_free(MPI_Info *info)
{
    return ctran_info_free(info);
}
NAME(Info_free)

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    return ctran_info_get(info, key, valuelen, value, flag);
}
NAME(Info_get)

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    return ctran_info_get_nkeys(info, nkeys);
}
NAME(Info_get_nkeys)

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    return ctran_info_get_nthkey(info, n, key);
}
NAME(Info_get_nthkey)

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    return ctran_info_get_string(info, key, buflen, value, flag);
}
NAME(Info_get_string)

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    return ctran_info_get_valuelen(info, key, valuelen, flag);
}
NAME(Info_get_valuelen)

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    return ctran_info_set(info, key, value);
}
NAME(Info_set)
