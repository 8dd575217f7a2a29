/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that start or meet later (chapter 11). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Close_port(const char *port_name)
{
    (void)port_name;
    return ct_refuse(MPI_COMM_NULL, "MPI_Close_port");
}
NAME(Close_port)

int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm)
{
    (void)port_name;
    (void)info;
    (void)root;
    (void)newcomm;
    return ct_refuse(comm, "MPI_Comm_accept");
}
NAME(Comm_accept)

int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *newcomm)
{
    (void)port_name;
    (void)info;
    (void)root;
    (void)newcomm;
    return ct_refuse(comm, "MPI_Comm_connect");
}
NAME(Comm_connect)

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return ctran_comm_disconnect(comm);
}
NAME(Comm_disconnect)

int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    (void)fd;
    (void)intercomm;
    return ct_refuse(MPI_COMM_NULL, "MPI_Comm_join");
}
NAME(Comm_join)

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    (void)command;
    (void)argv;
    (void)maxprocs;
    (void)info;
    (void)root;
    (void)intercomm;
    (void)array_of_errcodes;
    return ct_refuse(comm, "MPI_Comm_spawn");
}
NAME(Comm_spawn)

int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[],
                             int root, MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    (void)count;
    (void)array_of_commands;
    (void)array_of_argv;
    (void)array_of_maxprocs;
    (void)array_of_info;
    (void)root;
    (void)intercomm;
    (void)array_of_errcodes;
    return ct_refuse(comm, "MPI_Comm_spawn_multiple");
}
NAME(Comm_spawn_multiple)

int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    (void)service_name;
    (void)info;
    (void)port_name;
    return ct_refuse(MPI_COMM_NULL, "MPI_Lookup_name");
}
NAME(Lookup_name)

int PMPI_Open_port(MPI_Info info, char *port_name)
{
    (void)info;
    (void)port_name;
    return ct_refuse(MPI_COMM_NULL, "MPI_Open_port");
}
NAME(Open_port)

int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    (void)service_name;
    (void)info;
    (void)port_name;
    return ct_refuse(MPI_COMM_NULL, "MPI_Publish_name");
}
NAME(Publish_name)

int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    (void)service_name;
    (void)info;
    (void)port_name;
    return ct_refuse(MPI_COMM_NULL, "MPI_Unpublish_name");
}
NAME(Unpublish_name)
