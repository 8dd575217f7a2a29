/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes (chapter 5). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    return ctran_get_address(location, address);
}
NAME(Get_address)

int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    ctran_count_t w_count = count != NULL ? *count : 0;
    const int rc = ctran_get_elements((const ctran_status_t *)status, datatype, count != NULL ?
        &w_count : NULL);
    if (rc == MPI_SUCCESS) {
        *count = ct_narrow(w_count);
    }
    return rc;
}
NAME(Get_elements)

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return ctran_get_elements((const ctran_status_t *)status, datatype, count);
}
NAME(Get_elements_c)

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return ctran_get_elements((const ctran_status_t *)status, datatype, count);
}
NAME(Get_elements_x)

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
              int *position, MPI_Comm comm)
{
    ctran_count_t w_position = position != NULL ? *position : 0;
    const int rc = ctran_pack(inbuf, incount, datatype, outbuf, outsize, position != NULL ?
        &w_position : NULL, comm);
    if (rc == MPI_SUCCESS) {
        *position = ct_narrow(w_position);
    }
    return rc;
}
NAME(Pack)

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    return ctran_pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
}
NAME(Pack_c)

int PMPI_Pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype,
                       void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
    return ctran_pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}
NAME(Pack_external)

int PMPI_Pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                         MPI_Count *position)
{
    return ctran_pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}
NAME(Pack_external_c)

int PMPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size)
{
    return ctran_pack_external_size(datarep, incount, datatype, size);
}
NAME(Pack_external_size)

int PMPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype,
                              MPI_Count *size)
{
    return ctran_pack_external_size(datarep, incount, datatype, size);
}
NAME(Pack_external_size_c)

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    ctran_count_t w_size = size != NULL ? *size : 0;
    const int rc = ctran_pack_size(incount, datatype, comm, size != NULL ? &w_size : NULL);
    if (rc == MPI_SUCCESS) {
        *size = ct_narrow(w_size);
    }
    return rc;
}
NAME(Pack_size)

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    return ctran_pack_size(incount, datatype, comm, size);
}
NAME(Pack_size_c)

int PMPI_Type_commit(MPI_Datatype *datatype)
{
    return ctran_type_commit(datatype);
}
NAME(Type_commit)

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return ctran_type_contiguous(count, oldtype, newtype);
}
NAME(Type_contiguous)

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return ctran_type_contiguous(count, oldtype, newtype);
}
NAME(Type_contiguous_c)

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ndims);
    if (!ct_arrays_open(&a, (size_t)n0, false)) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_NO_MEM, "MPI_Type_create_darray", NO_ROOM);
    }
    const ctran_count_t *w_array_of_gsizes = ct_arrays_widen(&a, array_of_gsizes, n0);
    const int rc = ctran_type_create_darray(size, rank, ndims, w_array_of_gsizes, array_of_distribs,
        array_of_dargs, array_of_psizes, order, oldtype, newtype);
    return ct_arrays_close(&a, rc);
}
NAME(Type_create_darray)

int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    return ctran_type_create_darray(size, rank, ndims, array_of_gsizes, array_of_distribs,
        array_of_dargs, array_of_psizes, order, oldtype, newtype);
}
NAME(Type_create_darray_c)

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(count);
    if (!ct_arrays_open(&a, (size_t)n0, false)) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_NO_MEM, "MPI_Type_create_hindexed", NO_ROOM);
    }
    const ctran_count_t *w_array_of_blocklengths = ct_arrays_widen(&a, array_of_blocklengths, n0);
    const int rc = ctran_type_create_hindexed(count, w_array_of_blocklengths,
        array_of_displacements, oldtype, newtype);
    return ct_arrays_close(&a, rc);
}
NAME(Type_create_hindexed)

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                                const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    return ctran_type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype,
        newtype);
}
NAME(Type_create_hindexed_c)

int PMPI_Type_create_hindexed_block(int count, int blocklength,
                                    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    return ctran_type_create_hindexed_block(count, blocklength, array_of_displacements, oldtype,
        newtype);
}
NAME(Type_create_hindexed_block)

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return ctran_type_create_hindexed_block(count, blocklength, array_of_displacements, oldtype,
        newtype);
}
NAME(Type_create_hindexed_block_c)

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    return ctran_type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
NAME(Type_create_hvector)

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                               MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return ctran_type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
NAME(Type_create_hvector_c)

int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(count);
    if (!ct_arrays_open(&a, (size_t)n0, false)) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_NO_MEM, "MPI_Type_create_indexed_block",
            NO_ROOM);
    }
    const ctran_count_t *w_array_of_displacements = ct_arrays_widen(&a, array_of_displacements, n0);
    const int rc = ctran_type_create_indexed_block(count, blocklength, w_array_of_displacements,
        oldtype, newtype);
    return ct_arrays_close(&a, rc);
}
NAME(Type_create_indexed_block)

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    return ctran_type_create_indexed_block(count, blocklength, array_of_displacements, oldtype,
        newtype);
}
NAME(Type_create_indexed_block_c)

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                            MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                            void *extra_state)
{
    return ctran_type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval,
        extra_state);
}
NAME(Type_create_keyval)

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                             MPI_Datatype *newtype)
{
    return ctran_type_create_resized(oldtype, lb, extent, newtype);
}
NAME(Type_create_resized)

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                               MPI_Datatype *newtype)
{
    return ctran_type_create_resized(oldtype, lb, extent, newtype);
}
NAME(Type_create_resized_c)

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[],
                            const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(count);
    if (!ct_arrays_open(&a, (size_t)n0, false)) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_NO_MEM, "MPI_Type_create_struct", NO_ROOM);
    }
    const ctran_count_t *w_array_of_blocklengths = ct_arrays_widen(&a, array_of_blocklengths, n0);
    const int rc = ctran_type_create_struct(count, w_array_of_blocklengths, array_of_displacements,
        array_of_types, newtype);
    return ct_arrays_close(&a, rc);
}
NAME(Type_create_struct)

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return ctran_type_create_struct(count, array_of_blocklengths, array_of_displacements,
        array_of_types, newtype);
}
NAME(Type_create_struct_c)

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ndims);
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n0, false)) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_NO_MEM, "MPI_Type_create_subarray", NO_ROOM);
    }
    const ctran_count_t *w_array_of_sizes = ct_arrays_widen(&a, array_of_sizes, n0);
    const ctran_count_t *w_array_of_subsizes = ct_arrays_widen(&a, array_of_subsizes, n0);
    const ctran_count_t *w_array_of_starts = ct_arrays_widen(&a, array_of_starts, n0);
    const int rc = ctran_type_create_subarray(ndims, w_array_of_sizes, w_array_of_subsizes,
        w_array_of_starts, order, oldtype, newtype);
    return ct_arrays_close(&a, rc);
}
NAME(Type_create_subarray)

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[],
                                const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    return ctran_type_create_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts,
        order, oldtype, newtype);
}
NAME(Type_create_subarray_c)

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
    return ctran_type_delete_attr(datatype, type_keyval);
}
NAME(Type_delete_attr)

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return ctran_type_dup(oldtype, newtype);
}
NAME(Type_dup)

int PMPI_Type_free_keyval(int *type_keyval)
{
    return ctran_type_free_keyval(type_keyval);
}
NAME(Type_free_keyval)

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    return ctran_type_get_attr(datatype, type_keyval, attribute_val, flag);
}
NAME(Type_get_attr)

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    return ctran_type_get_extent(datatype, lb, extent);
}
NAME(Type_get_extent)

int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return ctran_type_get_extent(datatype, lb, extent);
}
NAME(Type_get_extent_c)

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return ctran_type_get_extent(datatype, lb, extent);
}
NAME(Type_get_extent_x)

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    return ctran_type_get_true_extent(datatype, true_lb, true_extent);
}
NAME(Type_get_true_extent)

int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return ctran_type_get_true_extent(datatype, true_lb, true_extent);
}
NAME(Type_get_true_extent_c)

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return ctran_type_get_true_extent(datatype, true_lb, true_extent);
}
NAME(Type_get_true_extent_x)

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
                      const int array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(count);
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, false)) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_NO_MEM, "MPI_Type_indexed", NO_ROOM);
    }
    const ctran_count_t *w_array_of_blocklengths = ct_arrays_widen(&a, array_of_blocklengths, n0);
    const ctran_count_t *w_array_of_displacements = ct_arrays_widen(&a, array_of_displacements, n0);
    const int rc = ctran_type_indexed(count, w_array_of_blocklengths, w_array_of_displacements,
        oldtype, newtype);
    return ct_arrays_close(&a, rc);
}
NAME(Type_indexed)

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                        const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    return ctran_type_indexed(count, array_of_blocklengths, array_of_displacements, oldtype,
        newtype);
}
NAME(Type_indexed_c)

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    return ctran_type_set_attr(datatype, type_keyval, attribute_val);
}
NAME(Type_set_attr)

int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
    return ctran_type_set_name(datatype, type_name);
}
NAME(Type_set_name)

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    ctran_count_t w_size = size != NULL ? *size : 0;
    const int rc = ctran_type_size(datatype, size != NULL ? &w_size : NULL);
    if (rc == MPI_SUCCESS) {
        *size = ct_narrow(w_size);
    }
    return rc;
}
NAME(Type_size)

int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    return ctran_type_size(datatype, size);
}
NAME(Type_size_c)

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    return ctran_type_size(datatype, size);
}
NAME(Type_size_x)

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    return ctran_type_vector(count, blocklength, stride, oldtype, newtype);
}
NAME(Type_vector)

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return ctran_type_vector(count, blocklength, stride, oldtype, newtype);
}
NAME(Type_vector_c)

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    ctran_count_t w_position = position != NULL ? *position : 0;
    const int rc = ctran_unpack(inbuf, insize, position != NULL ? &w_position : NULL, outbuf,
        outcount, datatype, comm);
    if (rc == MPI_SUCCESS) {
        *position = ct_narrow(w_position);
    }
    return rc;
}
NAME(Unpack)

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    return ctran_unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
}
NAME(Unpack_c)

int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize,
                         MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{
    return ctran_unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}
NAME(Unpack_external)

int PMPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize,
                           MPI_Count *position, void *outbuf, MPI_Count outcount,
                           MPI_Datatype datatype)
{
    return ctran_unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}
NAME(Unpack_external_c)

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return ctran_aint_add(base, disp);
}
NAME(Aint_add)

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return ctran_aint_diff(addr1, addr2);
}
NAME(Aint_diff)
