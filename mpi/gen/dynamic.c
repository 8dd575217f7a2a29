/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that start or meet later (chapter 11). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Close_port(const char *port_name)
{
    return ctran_close_port(port_name);
}
NAME(Close_port)

int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm)
{
    return ctran_comm_accept(port_name, info, root, comm, newcomm);
}
NAME(Comm_accept)

int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *newcomm)
{
    return ctran_comm_connect(port_name, info, root, comm, newcomm);
}
NAME(Comm_connect)

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return ctran_comm_disconnect(comm);
}
NAME(Comm_disconnect)

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    return ctran_comm_get_parent(parent);
}
NAME(Comm_get_parent)

int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    return ctran_comm_join(fd, intercomm);
}
NAME(Comm_join)

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    return ctran_comm_spawn(command, argv, maxprocs, info, root, comm, intercomm,
        array_of_errcodes);
}
NAME(Comm_spawn)

int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[],
                             int root, MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    return ctran_comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
        array_of_info, root, comm, intercomm, array_of_errcodes);
}
NAME(Comm_spawn_multiple)

int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    return ctran_lookup_name(service_name, info, port_name);
}
NAME(Lookup_name)

int PMPI_Open_port(MPI_Info info, char *port_name)
{
    return ctran_open_port(info, port_name);
}
NAME(Open_port)

int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    return ctran_publish_name(service_name, info, port_name);
}
NAME(Publish_name)

int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    return ctran_unpublish_name(service_name, info, port_name);
}
NAME(Unpublish_name)
