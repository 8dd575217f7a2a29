/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that sees mpi.h alone, on any number of ranks: what the front end does beyond calling
 * ctran's functions. Prints the checks that fail; exit status 1 then. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, failures;

#define EXPECT_EQ(wanted, found)                                                                   \
    do {                                                                                           \
        const long long w_ = (long long)(wanted), f_ = (long long)(found);                         \
        if (w_ != f_) {                                                                            \
            printf("%s:%d: rank %d: %s: wanted %lld, found %lld\n", __FILE__, __LINE__, rank,      \
                   #found, w_, f_);                                                                \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)
#define EXPECT_TEXT(wanted, found)                                                                 \
    do {                                                                                           \
        if (strcmp(wanted, found) != 0) {                                                          \
            printf("%s:%d: rank %d: wanted %s, found %s\n", __FILE__, __LINE__, rank, wanted,      \
                   found);                                                                         \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* ---- arrays of counts ------------------------------------------------------------------------ */

/* What a rank sends to and receives from each other, in all forms of one call. */
struct exchange {
    int *counts, *displs;
    int *out, *in;
};

static void begin(struct exchange *x)
{
    x->counts = malloc((size_t)size * sizeof(int));
    x->displs = malloc((size_t)size * sizeof(int));
    x->out = malloc(2 * (size_t)size * sizeof(int));
    x->in = malloc(2 * (size_t)size * sizeof(int));
    for (int i = 0; i < size; i++) {
        x->counts[i] = 2;
        x->displs[i] = 2 * (size - 1 - i);
        x->out[x->displs[i]] = rank;
        x->out[x->displs[i] + 1] = i;
    }
    memset(x->in, 0xff, 2 * (size_t)size * sizeof(int));
}

static void end(struct exchange *x)
{
    for (int i = 0; i < size; i++) {
        EXPECT_EQ(i, x->in[2 * (size - 1 - i)]);
        EXPECT_EQ(rank, x->in[2 * (size - 1 - i) + 1]);
    }
    free(x->counts);
    free(x->displs);
    free(x->out);
    free(x->in);
}

static void counts_at_once(void)
{
    struct exchange x;
    begin(&x);
    EXPECT_EQ(MPI_SUCCESS, MPI_Alltoallv(x.out, x.counts, x.displs, MPI_INT, x.in, x.counts,
                                         x.displs, MPI_INT, MPI_COMM_WORLD));
    end(&x);
}

/* A copy that is freed too early is what this would show. */
static void counts_of_request(void)
{
    struct exchange x;
    MPI_Request     request;
    begin(&x);
    EXPECT_EQ(MPI_SUCCESS, MPI_Ialltoallv(x.out, x.counts, x.displs, MPI_INT, x.in, x.counts,
                                          x.displs, MPI_INT, MPI_COMM_WORLD, &request));
    EXPECT_EQ(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT_EQ(1, request == MPI_REQUEST_NULL);
    end(&x);
}

/* The program's arrays are gone before the request ends: by the standard they may not be, but there
 * are programs that do so. */
static void large_counts_of_request(void)
{
    struct exchange x;
    MPI_Request     request;
    begin(&x);
    MPI_Count *counts = malloc((size_t)size * sizeof *counts);
    MPI_Aint  *displs = malloc((size_t)size * sizeof *displs);
    for (int i = 0; i < size; i++) {
        counts[i] = x.counts[i];
        displs[i] = x.displs[i];
    }
    EXPECT_EQ(MPI_SUCCESS, MPI_Ialltoallv_c(x.out, counts, displs, MPI_INT, x.in, counts, displs,
                                            MPI_INT, MPI_COMM_WORLD, &request));
    memset(counts, 0x55, (size_t)size * sizeof *counts);
    memset(displs, 0x55, (size_t)size * sizeof *displs);
    EXPECT_EQ(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(counts);
    free(displs);
    end(&x);
}

static void counts_of_persistent(void)
{
    struct exchange x;
    MPI_Request     request;
    begin(&x);
    EXPECT_EQ(MPI_SUCCESS,
              MPI_Alltoallv_init(x.out, x.counts, x.displs, MPI_INT, x.in, x.counts, x.displs,
                                 MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int i = 0; i < 3; i++) {
        memset(x.in, 0xff, 2 * (size_t)size * sizeof(int));
        EXPECT_EQ(MPI_SUCCESS, MPI_Start(&request));
        EXPECT_EQ(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    EXPECT_EQ(MPI_SUCCESS, MPI_Request_free(&request));
    end(&x);
}

/* More counts than lie on the stack. */
static void many_counts(void)
{
    enum { MANY = 1000 };
    int          lengths[MANY], displs[MANY], bytes;
    MPI_Datatype type;
    MPI_Aint     lb, extent;
    for (int i = 0; i < MANY; i++) {
        lengths[i] = 1;
        displs[i] = 2 * i;
    }
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_indexed(MANY, lengths, displs, MPI_INT, &type));
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_size(type, &bytes));
    EXPECT_EQ(MANY * (int)sizeof(int), bytes);
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_get_extent(type, &lb, &extent));
    EXPECT_EQ((2 * MANY - 1) * (int)sizeof(int), extent);
    int ints, addresses, types, combiner, *what = malloc((2 * MANY + 1) * sizeof *what);
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
    EXPECT_EQ(2 * MANY + 1, ints);
    EXPECT_EQ(0, addresses);
    EXPECT_EQ(MPI_COMBINER_INDEXED, combiner);
    MPI_Datatype old;
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_get_contents(type, ints, 0, 1, what, NULL, &old));
    EXPECT_EQ(MANY, what[0]);
    EXPECT_EQ(1, what[MANY]);
    EXPECT_EQ(2 * MANY - 2, what[2 * MANY]);
    EXPECT_EQ(1, old == MPI_INT);
    free(what);
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_free(&type));
}

/* A result that is no int is MPI_UNDEFINED; the large form tells it. */
static void large_results(void)
{
    MPI_Datatype type;
    MPI_Count    large = 0;
    int          small = 0;
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_contiguous_c((MPI_Count)INT_MAX + 1, MPI_INT, &type));
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_size(type, &small));
    EXPECT_EQ(MPI_UNDEFINED, small);
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_size_c(type, &large));
    EXPECT_EQ(4 * ((MPI_Count)INT_MAX + 1), large);
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_free(&type));
}

/* ---- functions of the program ---------------------------------------------------------------- */

static void add(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    EXPECT_EQ(1, *datatype == MPI_INT);
    for (int i = 0; i < *len; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void add_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)
{
    (void)datatype;
    for (MPI_Count i = 0; i < *len; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void operators(void)
{
    MPI_Op op;
    int    mine[100], sum[100], i;
    for (int form = 0; form < 2; form++) {
        for (i = 0; i < 100; i++) {
            mine[i] = rank + i;
        }
        EXPECT_EQ(MPI_SUCCESS,
                  form == 0 ? MPI_Op_create(add, 1, &op) : MPI_Op_create_c(add_large, 1, &op));
        EXPECT_EQ(MPI_SUCCESS, MPI_Allreduce(mine, sum, 100, MPI_INT, op, MPI_COMM_WORLD));
        for (i = 0; i < 100; i++) {
            EXPECT_EQ(size * (size - 1) / 2 + size * i, sum[i]);
        }
        EXPECT_EQ(MPI_SUCCESS, MPI_Op_free(&op));
    }
}

static int copied, deleted, handled;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int of_class;
    MPI_Error_class(*code, &of_class);
    handled = *comm == MPI_COMM_SELF ? of_class : -1;
}

static void callbacks(void)
{
    int            key, value = 7;
    MPI_Comm       dup;
    MPI_Errhandler own, old;
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_create_keyval(copy, delete_value, &key, NULL));
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_set_attr(MPI_COMM_SELF, key, &value));
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_dup(MPI_COMM_SELF, &dup));
    EXPECT_EQ(1, copied);
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_free(&dup));
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_delete_attr(MPI_COMM_SELF, key));
    EXPECT_EQ(2, deleted);
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_free_keyval(&key));
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_get_errhandler(MPI_COMM_SELF, &old));
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_create_errhandler(handler, &own));
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_set_errhandler(MPI_COMM_SELF, own));
    EXPECT_EQ(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_SELF));
    EXPECT_EQ(MPI_ERR_TAG, handled);
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_set_errhandler(MPI_COMM_SELF, old));
    EXPECT_EQ(MPI_SUCCESS, MPI_Errhandler_free(&own));
    EXPECT_EQ(MPI_SUCCESS, MPI_Errhandler_free(&old));
}

/* ---- names, integers, the ABI ---------------------------------------------------------------- */

static void names(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int  len, version, sub;
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &len);
    EXPECT_TEXT("MPI_COMM_WORLD", text);
    EXPECT_EQ(14, len);
    MPI_Type_get_name(MPI_INT, text, &len);
    EXPECT_TEXT("MPI_INT", text);
    EXPECT_EQ(7, len);
    MPI_Win_get_name(MPI_WIN_NULL, text, &len);
    EXPECT_TEXT("MPI_WIN_NULL", text);
    EXPECT_EQ(12, len);
    MPI_Error_string(MPI_ERR_FILE, text, &len);
    EXPECT_EQ(0, strncmp(text, "MPI_ERR_FILE", 12));
    EXPECT_EQ((int)strlen(text), len);
    MPI_Get_version(&version, &sub);
    EXPECT_EQ(MPI_VERSION, version);
    EXPECT_EQ(MPI_SUBVERSION, sub);
    MPI_Abi_get_version(&version, &sub);
    EXPECT_EQ(1, version);
    EXPECT_EQ(0, sub);
}

static void integers(void)
{
    MPI_Comm  comms[200];
    int       numbers[200];
    MPI_Group group;
    EXPECT_EQ(0x101, MPI_Comm_toint(MPI_COMM_WORLD));
    EXPECT_EQ(1, MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
    EXPECT_EQ(1, MPI_Comm_fromint(INT_MAX) == MPI_COMM_NULL);
    for (int i = 0; i < 200; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
        numbers[i] = MPI_Comm_toint(comms[i]);
        EXPECT_EQ(1, numbers[i] >= 0x1000);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    EXPECT_EQ(1, MPI_Group_fromint(MPI_Group_toint(group)) == group);
    MPI_Group_free(&group);
    for (int i = 0; i < 200; i++) {
        EXPECT_EQ(1, MPI_Comm_fromint(numbers[i]) == comms[i]);
        MPI_Comm_free(&comms[i]);
    }
}

static void statuses(void)
{
    MPI_Status status;
    int        value = 5, got = 0, count, source, tag;
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 9, &got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &status);
    EXPECT_EQ(9, status.MPI_TAG);
    EXPECT_EQ(0, status.MPI_SOURCE);
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 4);
    MPI_Status_get_source(&status, &source);
    MPI_Status_get_tag(&status, &tag);
    EXPECT_EQ(3, source);
    EXPECT_EQ(4, tag);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT_EQ(1, count);
}

static void fortran_types(void)
{
    MPI_Datatype one, two;
    MPI_Aint     lb, extent;
    int          ints, addresses, types, combiner, what[2], bytes;
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_create_f90_real(15, MPI_UNDEFINED, &one));
    EXPECT_EQ(MPI_SUCCESS, MPI_Type_create_f90_real(15, MPI_UNDEFINED, &two));
    EXPECT_EQ(1, one == two);
    MPI_Type_get_extent(one, &lb, &extent);
    EXPECT_EQ(8, extent);
    MPI_Type_get_envelope(one, &ints, &addresses, &types, &combiner);
    EXPECT_EQ(2, ints);
    EXPECT_EQ(MPI_COMBINER_F90_REAL, combiner);
    MPI_Type_get_contents(one, 2, 0, 0, what, NULL, NULL);
    EXPECT_EQ(15, what[0]);
    EXPECT_EQ(MPI_UNDEFINED, what[1]);
    double x = 1.5, y = 2;
    EXPECT_EQ(MPI_SUCCESS, MPI_Reduce_local(&x, &y, 1, one, MPI_SUM));
    EXPECT_EQ(7, 2 * y);
    MPI_Type_size(MPI_COMPLEX32, &bytes);
    EXPECT_EQ(32, bytes);
}

/* Windows update elements of such types like those of the predefined ones. */
static void fortran_updates(void)
{
    MPI_Datatype real, integer;
    MPI_Win      win;
    float       *base;
    const float  add = 2.5F;
    const int    zero = 0, now = 7;
    int          seen = -1;
    float        was = -1;
    MPI_Type_create_f90_real(6, 30, &real);
    MPI_Type_create_f90_integer(9, &integer);
    MPI_Win_allocate(2 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    base[0] = 1;
    base[1] = 0;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    EXPECT_EQ(MPI_SUCCESS, MPI_Fetch_and_op(&add, &was, real, 0, 0, MPI_SUM, win));
    EXPECT_EQ(MPI_SUCCESS, MPI_Compare_and_swap(&now, &zero, &seen, integer, 0, 1, win));
    MPI_Win_unlock(0, win);
    EXPECT_EQ(1, was);
    EXPECT_EQ(7, 2 * base[0]);
    EXPECT_EQ(0, seen);
    memcpy(&seen, &base[1], sizeof seen);
    EXPECT_EQ(7, seen);
    MPI_Win_free(&win);
}

static void envelope_of_nothing(void)
{
    int n;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EXPECT_EQ(MPI_ERR_ARG, MPI_Type_get_envelope(MPI_INT, NULL, &n, &n, &n));
    EXPECT_EQ(MPI_ERR_ARG, MPI_Type_get_envelope(MPI_INT, &n, NULL, &n, &n));
    EXPECT_EQ(MPI_ERR_ARG, MPI_Type_get_envelope(MPI_INT, &n, &n, NULL, &n));
    EXPECT_EQ(MPI_ERR_ARG, MPI_Type_get_envelope(MPI_INT, &n, &n, &n, NULL));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* ---- what is not there, and the tool interface ----------------------------------------------- */

static void refused(void)
{
    MPI_File file;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EXPECT_EQ(MPI_ERR_UNSUPPORTED_OPERATION,
              MPI_File_open(MPI_COMM_SELF, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI_Comm parent = MPI_COMM_WORLD;
    EXPECT_EQ(MPI_SUCCESS, MPI_Comm_get_parent(&parent));
    EXPECT_EQ(1, parent == MPI_COMM_NULL);
}

static void tools(void)
{
    int               provided, n, index, count, len = 0, verbosity, bind, scope;
    MPI_T_cvar_handle handle;
    MPI_Datatype      type;
    MPI_T_enum        words;
    MPI_Count         limit = -1;
    EXPECT_EQ(MPI_T_ERR_NOT_INITIALIZED, MPI_T_cvar_get_num(&n));
    EXPECT_EQ(MPI_SUCCESS, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    EXPECT_EQ(MPI_SUCCESS, MPI_T_cvar_get_num(&n));
    EXPECT_EQ(1, n > 20);
    EXPECT_EQ(MPI_SUCCESS, MPI_T_cvar_get_index("CTRAN_EAGER_LIMIT", &index));
    EXPECT_EQ(MPI_SUCCESS, MPI_T_cvar_get_info(index, NULL, &len, &verbosity, &type, &words, NULL,
                                               NULL, &bind, &scope));
    EXPECT_EQ(18, len);
    EXPECT_EQ(1, type == MPI_COUNT);
    EXPECT_EQ(MPI_SUCCESS, MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    EXPECT_EQ(MPI_SUCCESS, MPI_T_cvar_read(handle, &limit));
    EXPECT_EQ(64 << 10, limit);
    EXPECT_EQ(MPI_T_ERR_CVAR_SET_NEVER, MPI_T_cvar_write(handle, &limit));
    EXPECT_EQ(MPI_SUCCESS, MPI_T_cvar_handle_free(&handle));
    EXPECT_EQ(MPI_SUCCESS, MPI_T_category_get_index("CTRAN_TCP", &index));
    EXPECT_EQ(MPI_SUCCESS, MPI_T_event_get_num(&n));
    EXPECT_EQ(0, n);
    EXPECT_EQ(MPI_SUCCESS, MPI_T_finalize());
}

int main(int argc, char **argv)
{
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts_at_once();
    counts_of_request();
    large_counts_of_request();
    counts_of_persistent();
    many_counts();
    large_results();
    operators();
    callbacks();
    names();
    integers();
    statuses();
    fortran_types();
    fortran_updates();
    envelope_of_nothing();
    tools();
    refused();
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d failures on %d ranks\n", all, size);
    }
    MPI_Finalize();
    return all != 0;
}
