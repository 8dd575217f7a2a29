/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and communicators, attributes (chapter 7). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return ctran_comm_delete_attr(comm, keyval);
}
NAME(Attr_delete)

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return ctran_comm_get_attr(comm, keyval, attribute_val, flag);
}
NAME(Attr_get)

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    return ctran_comm_set_attr(comm, keyval, attribute_val);
}
NAME(Attr_put)

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    return ctran_comm_compare(comm1, comm2, result);
}
NAME(Comm_compare)

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    return ctran_comm_create(comm, group, newcomm);
}
NAME(Comm_create)

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    return ctran_comm_create_from_group(group, stringtag, info, errhandler, newcomm);
}
NAME(Comm_create_from_group)

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    return ctran_comm_create_group(comm, group, tag, newcomm);
}
NAME(Comm_create_group)

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                            void *extra_state)
{
    return ctran_comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval,
        extra_state);
}
NAME(Comm_create_keyval)

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    return ctran_comm_delete_attr(comm, comm_keyval);
}
NAME(Comm_delete_attr)

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return ctran_comm_dup(comm, newcomm);
}
NAME(Comm_dup)

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return ctran_comm_dup_with_info(comm, info, newcomm);
}
NAME(Comm_dup_with_info)

int PMPI_Comm_free(MPI_Comm *comm)
{
    return ctran_comm_free(comm);
}
NAME(Comm_free)

int PMPI_Comm_free_keyval(int *comm_keyval)
{
    return ctran_comm_free_keyval(comm_keyval);
}
NAME(Comm_free_keyval)

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    return ctran_comm_get_attr(comm, comm_keyval, attribute_val, flag);
}
NAME(Comm_get_attr)

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    return ctran_comm_get_info(comm, info_used);
}
NAME(Comm_get_info)

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    return ctran_comm_group(comm, group);
}
NAME(Comm_group)

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return ctran_comm_idup(comm, newcomm, request);
}
NAME(Comm_idup)

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return ctran_comm_idup_with_info(comm, info, newcomm, request);
}
NAME(Comm_idup_with_info)

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    return ctran_comm_rank(comm, rank);
}
NAME(Comm_rank)

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    return ctran_comm_remote_group(comm, group);
}
NAME(Comm_remote_group)

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    return ctran_comm_remote_size(comm, size);
}
NAME(Comm_remote_size)

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    return ctran_comm_set_attr(comm, comm_keyval, attribute_val);
}
NAME(Comm_set_attr)

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    return ctran_comm_set_info(comm, info);
}
NAME(Comm_set_info)

int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    return ctran_comm_set_name(comm, comm_name);
}
NAME(Comm_set_name)

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    return ctran_comm_size(comm, size);
}
NAME(Comm_size)

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    return ctran_comm_split(comm, color, key, newcomm);
}
NAME(Comm_split)

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    return ctran_comm_split_type(comm, split_type, key, info, newcomm);
}
NAME(Comm_split_type)

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    return ctran_comm_test_inter(comm, flag);
}
NAME(Comm_test_inter)

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    return ctran_group_compare(group1, group2, result);
}
NAME(Group_compare)

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return ctran_group_difference(group1, group2, newgroup);
}
NAME(Group_difference)

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return ctran_group_excl(group, n, ranks, newgroup);
}
NAME(Group_excl)

int PMPI_Group_free(MPI_Group *group)
{
    return ctran_group_free(group);
}
NAME(Group_free)

int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    return ctran_group_from_session_pset(session, pset_name, newgroup);
}
NAME(Group_from_session_pset)

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return ctran_group_incl(group, n, ranks, newgroup);
}
NAME(Group_incl)

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return ctran_group_intersection(group1, group2, newgroup);
}
NAME(Group_intersection)

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return ctran_group_range_excl(group, n, ranges, newgroup);
}
NAME(Group_range_excl)

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return ctran_group_range_incl(group, n, ranges, newgroup);
}
NAME(Group_range_incl)

int PMPI_Group_rank(MPI_Group group, int *rank)
{
    return ctran_group_rank(group, rank);
}
NAME(Group_rank)

int PMPI_Group_size(MPI_Group group, int *size)
{
    return ctran_group_size(group, size);
}
NAME(Group_size)

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                               int ranks2[])
{
    return ctran_group_translate_ranks(group1, n, ranks1, group2, ranks2);
}
NAME(Group_translate_ranks)

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return ctran_group_union(group1, group2, newgroup);
}
NAME(Group_union)

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, MPI_Comm *newintercomm)
{
    return ctran_intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag,
        newintercomm);
}
NAME(Intercomm_create)

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char *stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    return ctran_intercomm_create_from_groups(local_group, local_leader, remote_group,
        remote_leader, stringtag, info, errhandler, newintercomm);
}
NAME(Intercomm_create_from_groups)

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    return ctran_intercomm_merge(intercomm, high, newintracomm);
}
NAME(Intercomm_merge)

int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
                       void *extra_state)
{
    return ctran_comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}
NAME(Keyval_create)

int PMPI_Keyval_free(int *keyval)
{
    return ctran_comm_free_keyval(keyval);
}
NAME(Keyval_free)
