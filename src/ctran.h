/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran.h - the public interface of ctran, and the only header that is installed.
 *
 * The interface is that of MPI-4.1, spelled ctran_ and in lower case, with the same order of
 * arguments: MPI_Allreduce is ctran_allreduce, MPI_COMM_WORLD is CTRAN_COMM_WORLD. Counts are
 * ctran_count_t (signed 64 bits, MPI's large-count forms). Constants, predefined handles and the
 * layout of a status have the values of the MPI-5.0 ABI.
 *
 * What holds for every call, and is not repeated below:
 *
 *   Errors    Every call returns CTRAN_SUCCESS or a CTRAN_ERR_*; ctran_error_string() explains it.
 *             A call with a communicator first hands its error to that communicator's error
 *             handler: CTRAN_ERRORS_ARE_FATAL, the default, ends the job with a message;
 *             CTRAN_ERRORS_RETURN lets the call return; so does a function of the program, see
 *             ctran_comm_create_errhandler. Calls without one use CTRAN_COMM_SELF's, or, with
 *             sessions alone, the initial one; calls about a session use the session's. Errors of
 *             ctran_init, and of calls before it and after ctran_finalize, go to the initial error
 *             handler (MPI-4.1 sec. 9.3), which CTRAN_INITIAL_ERRHANDLER or ctranrun
 *             --initial-errhandler names: fatal by default.
 *             Outputs are set only on success, except by the calls that complete requests: these
 *             retire what has completed, with its status, whether it succeeded or not.
 *   Init      The library is in use from ctran_init to ctran_finalize, and from each
 *             ctran_session_init to its ctran_session_finalize; at other times calls fail with
 *             CTRAN_ERR_OTHER, except for these, ctran_initialized, ctran_finalized,
 *             ctran_get_version, ctran_get_library_version, ctran_error_class,
 *             ctran_error_string, ctran_add_error_*, ctran_remove_error_*, ctran_info_*,
 *             ctran_session_create_errhandler, ctran_errhandler_free, ctran_wtime and
 *             ctran_wtick. CTRAN_COMM_WORLD and CTRAN_COMM_SELF are handles between ctran_init
 *             and ctran_finalize alone.
 *   Buffers   A buffer belongs to the caller; the library only borrows it, until the call returns
 *             or, for a nonblocking call, until its request completes. Any buffer may be NULL
 *             where it has no data. It may be CTRAN_BOTTOM where the datatype has absolute
 *             addresses.
 *   GPUs      Buffers that are sent, received, reduced or packed may lie in a GPU's memory, each of
 *             another kind than the rest, on every rank as it likes; arrays of counts and the like,
 *             and the buffers of ctran_buffer_attach, are in the host's. The calls know nothing of
 *             CUDA's streams: the program synchronizes before it calls. CTRAN_ERR_BUFFER: memory
 *             could not be copied. See ctran-gpu(7).
 *   Blocking  A blocking call waits as long as its peers live and drives all of the process's
 *             transfers while it waits. It spins briefly, yields, then sleeps. Outside of calls
 *             transfers rest, but with CTRAN_PROGRESS_THREAD=1, and once a window has needed it.
 *   Failures  A rank that dies ends the job, unless the launcher lets the job outlive it (ctranrun
 *             --enable-recovery). Then every operation with it ends with CTRAN_ERR_PROC_FAILED:
 *             sends and named receives, those under way and later ones; receives and probes from
 *             CTRAN_ANY_SOURCE on communicators that have it as a member; and collectives on these,
 *             on every member, also where that one has nothing to do with it. Messages of it that
 *             have arrived whole are received before that, in order. Before the error is returned
 *             the buffer is the caller's again, and nothing writes to it any more. A nonblocking
 *             receive from any source is not ended, but left pending: the call that waits for it
 *             returns CTRAN_ERR_PROC_FAILED_PENDING, and the request stays, to be waited for again
 *             (after ctran_comm_ack_failed), or cancelled; one that is persistent ends. All else
 *             goes on. This follows ULFM, the MPI Forum's proposal.
 *   Threads   With CTRAN_THREAD_SINGLE and _FUNNELED only the thread that called ctran_init may
 *             call; with _SERIALIZED any thread, one at a time; with _MULTIPLE any threads at any
 *             time, but for calls on one object that MPI puts in the user's order: one collective
 *             at a time on a communicator, one call that completes a request, and none after the
 *             one that frees an object. Functions that the user gives are called by the thread
 *             whose call needs them. See ctran_init_thread.
 *   Fork      A child made by fork() has no ctran: its calls return CTRAN_ERR_OTHER, and no error
 *             handler is asked.
 */
#ifndef CTRAN_H
#define CTRAN_H

#include <stddef.h>
#include <stdint.h>

#define CTRAN_VERSION_MAJOR 0
#define CTRAN_VERSION_MINOR 1
#define CTRAN_VERSION_PATCH 0
#define CTRAN_VERSION       4 /* the MPI standard whose semantics the calls follow: 4.1 */
#define CTRAN_SUBVERSION    1

#if defined(__GNUC__)
#define CTRAN_API __attribute__((visibility("default")))
#else
#define CTRAN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * Types and handles
 * ------------------------------------------------------------------------------------------ */

typedef intptr_t ctran_aint_t;  /* an address or a displacement in bytes */
typedef int64_t  ctran_count_t; /* a number of elements; MPI's large-count type */

/* Handles are opaque pointers. Predefined ones are small constants, equal to those of the MPI-5.0
 * ABI, so that they can initialise static objects. Never compare handles other than by ==. */
typedef struct ct_comm        *ctran_comm_t;
typedef struct ct_group       *ctran_group_t;
typedef struct ct_dtype       *ctran_datatype_t;
typedef struct ct_op          *ctran_op_t;
typedef struct ct_request     *ctran_request_t;
typedef struct ct_message     *ctran_message_t;
typedef struct ct_errhandler  *ctran_errhandler_t;
typedef struct ct_info        *ctran_info_t;
typedef struct ct_mpi_session *ctran_session_t;

/* What a receive found. 32 bytes, laid out as in the MPI-5.0 ABI; the last member is private. */
typedef struct ctran_status {
    int CTRAN_SOURCE; /* rank of the sender in the receive's communicator */
    int CTRAN_TAG;
    int CTRAN_ERROR; /* set only by the calls that complete several requests */
    int ctran_internal[5];
} ctran_status_t;

#define CTRAN_COMM_NULL  ((ctran_comm_t)0x100)
#define CTRAN_COMM_WORLD ((ctran_comm_t)0x101) /* all ranks of the job */
#define CTRAN_COMM_SELF  ((ctran_comm_t)0x102) /* the calling rank alone */

#define CTRAN_GROUP_NULL  ((ctran_group_t)0x108)
#define CTRAN_GROUP_EMPTY ((ctran_group_t)0x109) /* a group without members */

#define CTRAN_SESSION_NULL ((ctran_session_t)0x120)

#define CTRAN_INFO_NULL ((ctran_info_t)0x130)
#define CTRAN_INFO_ENV  ((ctran_info_t)0x131) /* what the program was started with */

#define CTRAN_MESSAGE_NULL    ((ctran_message_t)0x128)
#define CTRAN_MESSAGE_NO_PROC ((ctran_message_t)0x129) /* what a probe of CTRAN_PROC_NULL finds */

#define CTRAN_ERRHANDLER_NULL  ((ctran_errhandler_t)0x140)
#define CTRAN_ERRORS_ARE_FATAL ((ctran_errhandler_t)0x141) /* an error ends the job */
#define CTRAN_ERRORS_ABORT     ((ctran_errhandler_t)0x142) /* here the same (MPI: ends comm) */
#define CTRAN_ERRORS_RETURN    ((ctran_errhandler_t)0x143) /* an error is returned */

#define CTRAN_REQUEST_NULL ((ctran_request_t)0x180)

#define CTRAN_BOTTOM   ((void *)0)
#define CTRAN_IN_PLACE ((void *)1) /* take the input from the receive buffer */

#define CTRAN_BUFFER_AUTOMATIC ((void *)2) /* the library has memory for buffered sends */

#define CTRAN_STATUS_IGNORE   ((ctran_status_t *)0)
#define CTRAN_STATUSES_IGNORE ((ctran_status_t *)0)

enum {
    CTRAN_ANY_SOURCE = -1, /* receive from any rank */
    CTRAN_ANY_TAG = -2,    /* receive with any tag */
    CTRAN_PROC_NULL = -3,  /* a rank that does not exist: transfers with it do nothing */
    CTRAN_ROOT = -4,
    CTRAN_UNDEFINED = -32766
};

enum { CTRAN_TAG_MAX = 0x7fffffff }; /* the largest tag */

enum {
    CTRAN_KEYVAL_INVALID = 0,
    CTRAN_TAG_UB = 501, /* keys of predefined attributes */
    CTRAN_IO = 502,
    CTRAN_HOST = 503,
    CTRAN_WTIME_IS_GLOBAL = 504,
    CTRAN_APPNUM = 505,
    CTRAN_LASTUSEDCODE = 506,
    CTRAN_UNIVERSE_SIZE = 507
};

enum {
    CTRAN_COMM_TYPE_SHARED = 221, /* ranks of one host */
    CTRAN_COMM_TYPE_HW_UNGUIDED = 222,
    CTRAN_COMM_TYPE_HW_GUIDED = 223,
    CTRAN_COMM_TYPE_RESOURCE_GUIDED = 224
};
enum { CTRAN_BSEND_OVERHEAD = 512 }; /* bytes of a buffer that a message takes besides its own */

enum { CTRAN_IDENT = 201, CTRAN_CONGRUENT = 202, CTRAN_SIMILAR = 203, CTRAN_UNEQUAL = 204 };

/* Kinds of topology. */
enum { CTRAN_CART = 211, CTRAN_GRAPH = 212, CTRAN_DIST_GRAPH = 213 };

/* In place of weights: the graph has none; it has, but the caller has no edges. */
#define CTRAN_ARGV_NULL       ((char **)0)  /* a program gets no arguments */
#define CTRAN_ARGVS_NULL      ((char ***)0) /* no program gets any */
#define CTRAN_ERRCODES_IGNORE ((int *)0)

#define CTRAN_UNWEIGHTED    ((int *)10)
#define CTRAN_WEIGHTS_EMPTY ((int *)11)
/* Orders of arrays, distributions of their dimensions, constructors of datatypes, and classes for
 * ctran_type_match_size. */
enum { CTRAN_ORDER_C = 12, CTRAN_ORDER_FORTRAN = 15 };
enum {
    CTRAN_DISTRIBUTE_NONE = 16,
    CTRAN_DISTRIBUTE_BLOCK = 17,
    CTRAN_DISTRIBUTE_CYCLIC = 18,
    CTRAN_DISTRIBUTE_DFLT_DARG = 19
};
enum {
    CTRAN_COMBINER_NAMED = 101,
    CTRAN_COMBINER_DUP = 102,
    CTRAN_COMBINER_CONTIGUOUS = 103,
    CTRAN_COMBINER_VECTOR = 104,
    CTRAN_COMBINER_HVECTOR = 105,
    CTRAN_COMBINER_INDEXED = 106,
    CTRAN_COMBINER_HINDEXED = 107,
    CTRAN_COMBINER_INDEXED_BLOCK = 108,
    CTRAN_COMBINER_HINDEXED_BLOCK = 109,
    CTRAN_COMBINER_STRUCT = 110,
    CTRAN_COMBINER_SUBARRAY = 111,
    CTRAN_COMBINER_DARRAY = 112,
    CTRAN_COMBINER_F90_REAL = 113, /* the library makes none of these */
    CTRAN_COMBINER_F90_COMPLEX = 114,
    CTRAN_COMBINER_F90_INTEGER = 115,
    CTRAN_COMBINER_RESIZED = 116,
    CTRAN_COMBINER_VALUE_INDEX = 117
};
enum { CTRAN_TYPECLASS_INTEGER = 192, CTRAN_TYPECLASS_REAL = 193, CTRAN_TYPECLASS_COMPLEX = 194 };

enum {
    CTRAN_MAX_ERROR_STRING = 512,
    CTRAN_MAX_PROCESSOR_NAME = 256,
    CTRAN_MAX_LIBRARY_VERSION_STRING = 8192,
    CTRAN_MAX_OBJECT_NAME = 128,
    CTRAN_MAX_STRINGTAG_LEN = 1024,
    CTRAN_MAX_PSET_NAME_LEN = 1024,
    CTRAN_MAX_PORT_NAME = 1024,
    CTRAN_MAX_INFO_KEY = 256, /* these two, too, with the closing 0 */
    CTRAN_MAX_INFO_VAL = 1024
};

enum {
    CTRAN_THREAD_SINGLE = 0,
    CTRAN_THREAD_FUNNELED = 1024,
    CTRAN_THREAD_SERIALIZED = 2048,
    CTRAN_THREAD_MULTIPLE = 4096
};

/* ---------------------------------------------------------------------------------------------
 * Errors
 *
 * X(name, number, what is lost, text). Numbers up to 62 are MPI's classes; those from 80 on are
 * ULFM's and ctran's own. "What is lost" is one of: nothing, argument (the call did nothing),
 * operation (this one operation), peer (every operation with one process), communicator, process.
 * ------------------------------------------------------------------------------------------ */
#define CTRAN_ERROR_MAP(X)                                                                         \
    X(SUCCESS, 0, nothing, "no error")                                                             \
    X(ERR_BUFFER, 1, argument, "invalid buffer")                                                   \
    X(ERR_COUNT, 2, argument, "invalid count")                                                     \
    X(ERR_TYPE, 3, argument, "invalid datatype")                                                   \
    X(ERR_TAG, 4, argument, "invalid tag")                                                         \
    X(ERR_COMM, 5, argument, "invalid communicator")                                               \
    X(ERR_RANK, 6, argument, "invalid rank")                                                       \
    X(ERR_REQUEST, 7, argument, "invalid request")                                                 \
    X(ERR_ROOT, 8, argument, "invalid root")                                                       \
    X(ERR_GROUP, 9, argument, "invalid group")                                                     \
    X(ERR_OP, 10, argument, "operator is invalid, or not defined for the datatype")                \
    X(ERR_TOPOLOGY, 11, argument, "invalid topology, or none of this kind")                        \
    X(ERR_DIMS, 12, argument, "invalid dimensions")                                                \
    X(ERR_ARG, 13, argument, "invalid argument")                                                   \
    X(ERR_UNKNOWN, 14, operation, "unknown error")                                                 \
    X(ERR_TRUNCATE, 15, operation, "message is longer than the receive buffer; the rest is lost")  \
    X(ERR_OTHER, 16, operation, "the operation was not possible")                                  \
    X(ERR_INTERN, 17, process, "internal error of ctran: please report it")                        \
    X(ERR_PENDING, 18, nothing, "request is still pending")                                        \
    X(ERR_IN_STATUS, 19, operation, "errors are in the status array")                              \
    X(ERR_ACCESS, 20, argument, "permission was denied")                                           \
    X(ERR_AMODE, 21, argument, "invalid mode of access")                                           \
    X(ERR_ASSERT, 22, argument, "invalid assertion")                                               \
    X(ERR_BAD_FILE, 23, argument, "invalid name of a file")                                        \
    X(ERR_BASE, 24, argument, "not the address of memory that the library gave")                   \
    X(ERR_CONVERSION, 25, operation, "a conversion of data has failed")                            \
    X(ERR_DISP, 26, argument, "invalid displacement")                                              \
    X(ERR_DUP_DATAREP, 27, argument, "the data representation is there already")                   \
    X(ERR_FILE_EXISTS, 28, operation, "the file is there already")                                 \
    X(ERR_FILE_IN_USE, 29, operation, "the file is in use")                                        \
    X(ERR_FILE, 30, argument, "invalid file")                                                      \
    X(ERR_INFO_KEY, 31, argument, "invalid key of an info object")                                 \
    X(ERR_INFO_NOKEY, 32, argument, "the info object has no such key")                             \
    X(ERR_INFO_VALUE, 33, argument, "invalid value of an info object")                             \
    X(ERR_INFO, 34, argument, "invalid info object")                                               \
    X(ERR_IO, 35, operation, "an input or output has failed")                                      \
    X(ERR_KEYVAL, 36, argument, "invalid key of attributes")                                       \
    X(ERR_LOCKTYPE, 37, argument, "invalid type of lock")                                          \
    X(ERR_NAME, 38, argument, "no service has this name")                                          \
    X(ERR_NO_MEM, 39, operation, "out of memory")                                                  \
    X(ERR_NOT_SAME, 40, argument, "an argument differs between processes")                         \
    X(ERR_NO_SPACE, 41, operation, "no space is left")                                             \
    X(ERR_NO_SUCH_FILE, 42, argument, "there is no such file")                                     \
    X(ERR_PORT, 43, argument, "invalid name of a port")                                            \
    X(ERR_QUOTA, 44, operation, "a quota is used up")                                              \
    X(ERR_READ_ONLY, 45, operation, "the file or file system is read-only")                        \
    X(ERR_RMA_ATTACH, 46, argument, "memory cannot be attached, or is not")                        \
    X(ERR_RMA_CONFLICT, 47, operation, "conflicting accesses to a window")                         \
    X(ERR_RMA_RANGE, 48, operation, "target memory is not part of the window")                     \
    X(ERR_RMA_SHARED, 49, operation, "memory cannot be shared by these processes")                 \
    X(ERR_RMA_SYNC, 50, argument, "not possible in this epoch of the window")                      \
    X(ERR_SERVICE, 51, argument, "the service is published already, or was not")                   \
    X(ERR_SIZE, 52, argument, "invalid size")                                                      \
    X(ERR_SPAWN, 53, operation, "processes could not be started")                                  \
    X(ERR_UNSUPPORTED_DATAREP, 54, argument, "data representation is not known")                   \
    X(ERR_UNSUPPORTED_OPERATION, 55, operation, "operation is not supported here")                 \
    X(ERR_WIN, 56, argument, "invalid window")                                                     \
    X(ERR_RMA_FLAVOR, 57, argument, "not for this kind of window")                                 \
    X(ERR_PROC_ABORTED, 58, peer, "a process has aborted")                                         \
    X(ERR_VALUE_TOO_LARGE, 59, argument, "a value is too large for the result's type")             \
    X(ERR_SESSION, 60, argument, "invalid session")                                                \
    X(ERR_ERRHANDLER, 61, argument, "invalid error handler")                                       \
    X(ERR_ABI, 62, argument, "invalid with respect to the ABI")                                    \
    X(ERR_PROC_FAILED, 80, peer, "a process has failed")                                           \
    X(ERR_PROC_FAILED_PENDING, 81, nothing, "a process that could match this receive has failed")  \
    X(ERR_REVOKED, 82, communicator, "the communicator has been revoked")                          \
    X(ERR_CONFIG, 83, process, "a CTRAN_ variable has a bad value")                                \
    X(ERR_BOOTSTRAP, 84, process, "the job could not be joined")                                   \
    X(ERR_SYSTEM, 85, operation, "a system call failed")                                           \
    X(ERR_TIMEOUT, 86, operation, "a deadline has passed")                                         \
    X(ERR_VERSION, 87, peer, "the peer runs another build of ctran")

enum {
#define CTRAN_ERROR_ENUM_(name, number, lost, text) CTRAN_##name = number,
    CTRAN_ERROR_MAP(CTRAN_ERROR_ENUM_)
#undef CTRAN_ERROR_ENUM_
        CTRAN_ERR_LASTCODE = 16383
};

/* ---------------------------------------------------------------------------------------------
 * Predefined datatypes (values: MPI-5.0 ABI; FLOAT16, BFLOAT16 and FLOAT8 are ctran's own, stored
 * in 16 and 8 bits) and operators
 * ------------------------------------------------------------------------------------------ */
#define CTRAN_TYPE_(number)      ((ctran_datatype_t)(number))
#define CTRAN_DATATYPE_NULL      CTRAN_TYPE_(0x200)
#define CTRAN_AINT               CTRAN_TYPE_(0x201)
#define CTRAN_COUNT              CTRAN_TYPE_(0x202)
#define CTRAN_OFFSET             CTRAN_TYPE_(0x203)
#define CTRAN_PACKED             CTRAN_TYPE_(0x207) /* what ctran_pack makes */
#define CTRAN_SHORT              CTRAN_TYPE_(0x208)
#define CTRAN_INT                CTRAN_TYPE_(0x209)
#define CTRAN_LONG               CTRAN_TYPE_(0x20a)
#define CTRAN_LONG_LONG          CTRAN_TYPE_(0x20b)
#define CTRAN_LONG_LONG_INT      CTRAN_LONG_LONG
#define CTRAN_UNSIGNED_SHORT     CTRAN_TYPE_(0x20c)
#define CTRAN_UNSIGNED           CTRAN_TYPE_(0x20d)
#define CTRAN_UNSIGNED_LONG      CTRAN_TYPE_(0x20e)
#define CTRAN_UNSIGNED_LONG_LONG CTRAN_TYPE_(0x20f)
#define CTRAN_FLOAT              CTRAN_TYPE_(0x210)
#define CTRAN_DOUBLE             CTRAN_TYPE_(0x214)
#define CTRAN_LONG_DOUBLE        CTRAN_TYPE_(0x220)
#define CTRAN_C_BOOL             CTRAN_TYPE_(0x238)
#define CTRAN_WCHAR              CTRAN_TYPE_(0x23c)
#define CTRAN_INT8_T             CTRAN_TYPE_(0x240)
#define CTRAN_UINT8_T            CTRAN_TYPE_(0x241)
#define CTRAN_CHAR               CTRAN_TYPE_(0x243) /* in reductions an integer */
#define CTRAN_SIGNED_CHAR        CTRAN_TYPE_(0x244)
#define CTRAN_UNSIGNED_CHAR      CTRAN_TYPE_(0x245)
#define CTRAN_BYTE               CTRAN_TYPE_(0x247) /* uninterpreted: bitwise operators only */
#define CTRAN_INT16_T            CTRAN_TYPE_(0x248)
#define CTRAN_UINT16_T           CTRAN_TYPE_(0x249)
#define CTRAN_FLOAT16            CTRAN_TYPE_(0x24a) /* IEEE 754 binary16 */
#define CTRAN_BFLOAT16           CTRAN_TYPE_(0x24b) /* upper half of a binary32 */
#define CTRAN_FLOAT8_E4M3        CTRAN_TYPE_(0x242) /* of the OCP; sums and products saturate */
#define CTRAN_FLOAT8_E5M2        CTRAN_TYPE_(0x246)
#define CTRAN_INT32_T            CTRAN_TYPE_(0x250)
#define CTRAN_UINT32_T           CTRAN_TYPE_(0x251)
#define CTRAN_INT64_T            CTRAN_TYPE_(0x258)
#define CTRAN_UINT64_T           CTRAN_TYPE_(0x259)

#define CTRAN_C_FLOAT_COMPLEX       CTRAN_TYPE_(0x212) /* complex: SUM and PROD only */
#define CTRAN_C_COMPLEX             CTRAN_C_FLOAT_COMPLEX
#define CTRAN_C_DOUBLE_COMPLEX      CTRAN_TYPE_(0x216)
#define CTRAN_C_LONG_DOUBLE_COMPLEX CTRAN_TYPE_(0x224)

/* Pairs, laid out as struct { T value; int index; }: MINLOC and MAXLOC only. */
#define CTRAN_FLOAT_INT       CTRAN_TYPE_(0x228)
#define CTRAN_DOUBLE_INT      CTRAN_TYPE_(0x229)
#define CTRAN_LONG_INT        CTRAN_TYPE_(0x22a)
#define CTRAN_2INT            CTRAN_TYPE_(0x22b)
#define CTRAN_SHORT_INT       CTRAN_TYPE_(0x22c)
#define CTRAN_LONG_DOUBLE_INT CTRAN_TYPE_(0x22d)

/* Types of C++ and Fortran, in the sizes of C's, for programs that come by way of mpi.h. No
 * operator takes those that C has no type for: CHARACTER, COMPLEX4, 2REAL, 2DOUBLE_PRECISION, and
 * those of 16 bytes and more but COMPLEX16. */
#define CTRAN_CXX_BOOL                CTRAN_TYPE_(0x239)
#define CTRAN_CXX_FLOAT_COMPLEX       CTRAN_TYPE_(0x213)
#define CTRAN_CXX_DOUBLE_COMPLEX      CTRAN_TYPE_(0x217)
#define CTRAN_CXX_LONG_DOUBLE_COMPLEX CTRAN_TYPE_(0x225)
#define CTRAN_LOGICAL                 CTRAN_TYPE_(0x218)
#define CTRAN_INTEGER                 CTRAN_TYPE_(0x219)
#define CTRAN_REAL                    CTRAN_TYPE_(0x21a)
#define CTRAN_COMPLEX                 CTRAN_TYPE_(0x21b)
#define CTRAN_DOUBLE_PRECISION        CTRAN_TYPE_(0x21c)
#define CTRAN_DOUBLE_COMPLEX          CTRAN_TYPE_(0x21d)
#define CTRAN_CHARACTER               CTRAN_TYPE_(0x21e)
#define CTRAN_2REAL                   CTRAN_TYPE_(0x230)
#define CTRAN_2DOUBLE_PRECISION       CTRAN_TYPE_(0x231)
#define CTRAN_2INTEGER                CTRAN_TYPE_(0x232)
#define CTRAN_LOGICAL1                CTRAN_TYPE_(0x2c0)
#define CTRAN_INTEGER1                CTRAN_TYPE_(0x2c1)
#define CTRAN_LOGICAL2                CTRAN_TYPE_(0x2c8)
#define CTRAN_INTEGER2                CTRAN_TYPE_(0x2c9)
#define CTRAN_REAL2                   CTRAN_TYPE_(0x2ca)
#define CTRAN_LOGICAL4                CTRAN_TYPE_(0x2d0)
#define CTRAN_INTEGER4                CTRAN_TYPE_(0x2d1)
#define CTRAN_REAL4                   CTRAN_TYPE_(0x2d2)
#define CTRAN_COMPLEX4                CTRAN_TYPE_(0x2d3)
#define CTRAN_LOGICAL8                CTRAN_TYPE_(0x2d8)
#define CTRAN_INTEGER8                CTRAN_TYPE_(0x2d9)
#define CTRAN_REAL8                   CTRAN_TYPE_(0x2da)
#define CTRAN_COMPLEX8                CTRAN_TYPE_(0x2db)
#define CTRAN_LOGICAL16               CTRAN_TYPE_(0x2e0)
#define CTRAN_INTEGER16               CTRAN_TYPE_(0x2e1)
#define CTRAN_REAL16                  CTRAN_TYPE_(0x2e2)
#define CTRAN_COMPLEX16               CTRAN_TYPE_(0x2e3)
#define CTRAN_COMPLEX32               CTRAN_TYPE_(0x2eb)

#define CTRAN_OP_(number) ((ctran_op_t)(number))
#define CTRAN_OP_NULL     CTRAN_OP_(0x20)
#define CTRAN_SUM         CTRAN_OP_(0x21)
#define CTRAN_MIN         CTRAN_OP_(0x22)
#define CTRAN_MAX         CTRAN_OP_(0x23)
#define CTRAN_PROD        CTRAN_OP_(0x24)
#define CTRAN_BAND        CTRAN_OP_(0x28)
#define CTRAN_BOR         CTRAN_OP_(0x29)
#define CTRAN_BXOR        CTRAN_OP_(0x2a)
#define CTRAN_LAND        CTRAN_OP_(0x30)
#define CTRAN_LOR         CTRAN_OP_(0x31)
#define CTRAN_LXOR        CTRAN_OP_(0x32)
#define CTRAN_MINLOC      CTRAN_OP_(0x38) /* least value and its index; of equals the lowest */
#define CTRAN_MAXLOC      CTRAN_OP_(0x39)
#define CTRAN_REPLACE     CTRAN_OP_(0x3c) /* accumulation in windows only */
#define CTRAN_NO_OP       CTRAN_OP_(0x3d)

/* ---------------------------------------------------------------------------------------------
 * Start and end
 * ------------------------------------------------------------------------------------------ */

/* Joins the job: under ctranrun, srun --mpi=pmix, mpirun or any other PMIx launcher; started by
 * hand, the process is a job of one rank. Collective over the job. argc and argv may be NULL and
 * are not touched. Errors: CTRAN_ERR_CONFIG, CTRAN_ERR_BOOTSTRAP (names the cause), and
 * CTRAN_ERR_OTHER on a second call before ctran_finalize. The initial error handler is asked: by
 * default an error is fatal, with a message on stderr. Source: MPI-4.1 sec. 11.2.1.
 *
 * Beyond MPI: after ctran_finalize it may be called again, any number of times, by all ranks alike,
 * for a new world. The variables are those of the first time. */
CTRAN_API int ctran_init(int *argc, char ***argv);

/* The same, asking for thread level `required` (CTRAN_THREAD_*), which is provided: *provided is
 * the same, but while the library is in use already: then it is that of the first who uses it.
 * Levels below CTRAN_THREAD_MULTIPLE cost nothing. Errors: as ctran_init, and CTRAN_ERR_ARG for an
 * unknown level. Source: MPI-4.1 sec. 11.2.1. */
CTRAN_API int ctran_init_thread(int *argc, char ***argv, int required, int *provided);

/* Ends the world: collective over the ranks that live, completes what these still wait for, then
 * frees what no session uses. The user completes all requests first. In a job that outlives
 * failures, those of other ranks are no error here. Source: MPI-4.1 sec. 11.2.2.
 *
 * The process leaves the job when it ends, by exit() or by the return of main. One that ends while
 * the library is in use, or by other means, has failed. */
CTRAN_API int ctran_finalize(void);

/* *flag is 1 once ctran_init has returned (stays 1 after finalize); sessions do not count. Any
 * thread, any time. Source: MPI-4.1 sec. 11.2.3. */
CTRAN_API int ctran_initialized(int *flag);

/* *flag is 1 once ctran_finalize has returned, until ctran_init is called again. Any thread, any
 * time. */
CTRAN_API int ctran_finalized(int *flag);

/* *provided is the thread level in force. Source: MPI-4.1 sec. 11.2.1. */
CTRAN_API int ctran_query_thread(int *provided);

/* *flag is 1 in the thread that called ctran_init or ctran_init_thread, else 0. Any thread.
 * Source: MPI-4.1 sec. 11.2.1. */
CTRAN_API int ctran_is_thread_main(int *flag);

/* ---------------------------------------------------------------------------------------------
 * Sessions: a part of the program uses the library apart from others, each for itself, beside the
 * world or without one, at any time, again and again. A session knows names of process sets,
 * "mpi://WORLD", the job's, and "mpi://SELF", in any case of letters; a set makes a group, and a
 * group a communicator: ctran_comm_create_from_group. Errors: CTRAN_ERR_SESSION, handled by
 * CTRAN_COMM_SELF's handler; others, which the session's handles: CTRAN_ERR_ARG, CTRAN_ERR_INFO,
 * CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 11.3.
 *
 * Example: the job's ranks without CTRAN_COMM_WORLD:
 *
 *     ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &session);
 *     ctran_group_from_session_pset(session, "mpi://WORLD", &group);
 *     ctran_comm_create_from_group(group, "org.example.mylib", CTRAN_INFO_NULL,
 *                                  CTRAN_ERRORS_RETURN, &comm);
 * ------------------------------------------------------------------------------------------ */

/* Opens a session with an error handler, which is one for sessions or a constant. Local, but the
 * first one under ctranrun --enable-recovery waits for all ranks to open one or to call ctran_init.
 * info may ask for a thread level under "thread_level" ("CTRAN_THREAD_SINGLE", ..., or MPI_ for
 * CTRAN_); the default is CTRAN_THREAD_MULTIPLE. As with ctran_init_thread the first who uses the
 * library decides. Errors of the start go to errhandler: also CTRAN_ERR_CONFIG,
 * CTRAN_ERR_BOOTSTRAP, CTRAN_ERR_ERRHANDLER, CTRAN_ERR_INFO_VALUE. Source: MPI-4.1 sec. 11.3.1. */
CTRAN_API int ctran_session_init(ctran_info_t info, ctran_errhandler_t errhandler,
                                 ctran_session_t *session);

/* Closes it and sets *session to CTRAN_SESSION_NULL. The user completes all requests and frees all
 * that was made of it first. Does not wait for others. Source: MPI-4.1 sec. 11.3.1. */
CTRAN_API int ctran_session_finalize(ctran_session_t *session);

/* A new info object with "thread_level", the one in force. Source: MPI-4.1 sec. 11.3.1. */
CTRAN_API int ctran_session_get_info(ctran_session_t session, ctran_info_t *info_used);

/* The number of process sets, and the name of set n, from 0 on: the first *pset_len - 1 bytes of it
 * and a 0 (nothing where *pset_len is 0); *pset_len becomes what the whole name takes with its 0,
 * at most CTRAN_MAX_PSET_NAME_LEN. info may be CTRAN_INFO_NULL; its hints have no effect. Local.
 * Source: MPI-4.1 sec. 11.3.2. */
CTRAN_API int ctran_session_get_num_psets(ctran_session_t session, ctran_info_t info,
                                          int *npset_names);
CTRAN_API int ctran_session_get_nth_pset(ctran_session_t session, ctran_info_t info, int n,
                                         int *pset_len, char *pset_name);

/* A new info object with "mpi_size", the number of processes in a set. Local.
 * Source: MPI-4.1 sec. 11.3.2. */
CTRAN_API int ctran_session_get_pset_info(ctran_session_t session, const char *pset_name,
                                          ctran_info_t *info);

/* The group of a set's processes, to be freed with ctran_group_free. Local. Source: MPI-4.1
 * sec. 7.3.2. */
CTRAN_API int ctran_group_from_session_pset(ctran_session_t session, const char *pset_name,
                                            ctran_group_t *newgroup);

/* Error handlers of sessions: as those of communicators, see ctran_comm_create_errhandler. One can
 * be created, and freed, at any time. Errors: CTRAN_ERR_ARG, CTRAN_ERR_NO_MEM.
 * The function gets CTRAN_SESSION_NULL where the session could not be opened. Local.
 * Source: MPI-4.1 sec. 9.3.4. */
typedef void ctran_session_errhandler_function(ctran_session_t *session, int *error_code, ...);

CTRAN_API int
ctran_session_create_errhandler(ctran_session_errhandler_function *session_errhandler_fn,
                                ctran_errhandler_t                *errhandler);
CTRAN_API int ctran_session_set_errhandler(ctran_session_t session, ctran_errhandler_t errhandler);
CTRAN_API int ctran_session_get_errhandler(ctran_session_t session, ctran_errhandler_t *errhandler);
CTRAN_API int ctran_session_call_errhandler(ctran_session_t session, int errorcode);

/* ---------------------------------------------------------------------------------------------
 * The process and its environment
 * ------------------------------------------------------------------------------------------ */

/* Ends the whole job, best effort, with exit status `errorcode` (its low 8 bits; 1 where these are
 * 0). Does not return. comm may be any communicator: all ranks of the job end.
 * Source: MPI-4.1 sec. 11.4.2. */
CTRAN_API int ctran_abort(ctran_comm_t comm, int errorcode);

/* The version of the MPI standard that the semantics follow: CTRAN_VERSION, CTRAN_SUBVERSION.
 * Source: MPI-4.1 sec. 9.1.1. */
CTRAN_API int ctran_get_version(int *version, int *subversion);

/* Writes a line such as "ctran 0.1.0 (...)" into `version`, which holds at least
 * CTRAN_MAX_LIBRARY_VERSION_STRING bytes; *resultlen is its length without the 0. */
CTRAN_API int ctran_get_library_version(char *version, int *resultlen);

/* The host's name as the launcher knows it; name holds at least CTRAN_MAX_PROCESSOR_NAME bytes.
 * Source: MPI-4.1 sec. 9.1.2. */
CTRAN_API int ctran_get_processor_name(char *name, int *resultlen);

/* What kinds of hardware resources the calling process is on, as a new info object: under each name
 * that ctran_comm_split_type takes as "mpi_hw_resource_type", and that there is one of on this
 * host, "true" where the process is confined to one of the kind now, else "false". Reads the
 * machine if no process of the job on this host has done so. Local. Errors: CTRAN_ERR_ARG,
 * CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 9.1.2. */
CTRAN_API int ctran_get_hw_resource_info(ctran_info_t *hw_info);

/* Does nothing, whatever its arguments: for profilers that stand before the library.
 * Source: MPI-4.1 sec. 15.2.4. */
CTRAN_API int ctran_pcontrol(int level, ...);

/* Stores the address of `size` bytes of memory in *(void **)baseptr, at a multiple of 64 or of what
 * info has under "mpi_minimum_memory_alignment". free gives them back; NULL is ignored. Local.
 * From 64 KiB on (CTRAN_SHM_ALLOC) the ranks of the host map it, and messages from it take one
 * plain copy; up to 64 such pieces at a time. These begin as zeros, and a child made by fork shares
 * them with its parent. As with any memory, no message that uses it may be under way when it is
 * freed. Errors: CTRAN_ERR_ARG, CTRAN_ERR_INFO, CTRAN_ERR_NO_MEM; CTRAN_ERR_BASE for an address
 * that cannot have come from alloc. Source: MPI-4.1 sec. 9.2. */
CTRAN_API int ctran_alloc_mem(ctran_aint_t size, ctran_info_t info, void *baseptr);
CTRAN_API int ctran_free_mem(void *base);

/* The same for memory of the rank's GPU (CTRAN_GPU_DEVICE), which peers on the host reach without
 * a further registration: many pieces share one. It begins at a multiple of 512. info may be
 * CTRAN_INFO_NULL; no key is known. Before free, all work on GPUs that uses the memory has ended;
 * NULL is ignored. free may wait for streams that are at work, as cuMemFree does. Local; any
 * thread. What is not freed goes with the last finalize. Errors: CTRAN_ERR_ARG, CTRAN_ERR_INFO,
 * CTRAN_ERR_NO_MEM; CTRAN_ERR_UNSUPPORTED_OPERATION where there is no GPU; CTRAN_ERR_BASE for an
 * address that alloc did not give. No standard has it; NCCL's ncclMemAlloc is alike. */
CTRAN_API int ctran_mem_alloc(ctran_aint_t size, ctran_info_t info, void *baseptr);
CTRAN_API int ctran_mem_free(void *base);

/* Prepares `size` > 0 bytes from base on for transfers, which otherwise happens at first use:
 * memory of a GPU is made known to be exported, host memory is page-locked where there is a GPU.
 * deregister takes it back, by base; it may wait for streams that are at work. A range may be
 * registered several times, with the same size. Memory is deregistered before it is freed; where it
 * was not, that is noticed and no transfer goes wrong. Local; any thread. Without GPUs both
 * succeed. Errors: CTRAN_ERR_ARG, also for another size at a base that is registered;
 * CTRAN_ERR_NO_MEM; CTRAN_ERR_BASE for a base that is not registered. NCCL's ncclCommRegister is
 * alike, but belongs to a communicator. */
CTRAN_API int ctran_mem_register(void *base, ctran_aint_t size);
CTRAN_API int ctran_mem_deregister(void *base);

/* Seconds since some moment in the past, the same for all ranks of a host; monotonic. */
CTRAN_API double ctran_wtime(void);

/* Resolution of ctran_wtime in seconds. Source: MPI-4.1 sec. 9.6. */
CTRAN_API double ctran_wtick(void);

/* ---------------------------------------------------------------------------------------------
 * Errors and error handlers
 * ------------------------------------------------------------------------------------------ */

/* The text for `errorcode`; string holds at least CTRAN_MAX_ERROR_STRING bytes. An unknown code
 * gives CTRAN_ERR_ARG. Any thread, any time; no error handler is asked.
 * Source: MPI-4.1 sec. 9.3.5. */
CTRAN_API int ctran_error_string(int errorcode, char *string, int *resultlen);

/* The class of `errorcode`: ctran's codes are their own classes. Any thread, any time. */
CTRAN_API int ctran_error_class(int errorcode, int *errorclass);

/* Codes of the program's own, for layers above ctran: a new class, a code of any class but
 * CTRAN_SUCCESS, and the text that ctran_error_string gives for one of them (at first ""; cut to
 * CTRAN_MAX_ERROR_STRING - 1 bytes). Their numbers are above CTRAN_ERR_LASTCODE, the attribute
 * CTRAN_LASTUSEDCODE is the last one given, and none is given twice. remove takes them back: codes
 * with their text, classes once they have no codes. Local; any thread, any time; no error handler
 * is asked. Errors: CTRAN_ERR_ARG for what is no class, or was not added; CTRAN_ERR_OTHER for a
 * class that has codes; CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 9.5. */
CTRAN_API int ctran_add_error_class(int *errorclass);
CTRAN_API int ctran_remove_error_class(int errorclass);
CTRAN_API int ctran_add_error_code(int errorclass, int *errorcode);
CTRAN_API int ctran_remove_error_code(int errorcode);
CTRAN_API int ctran_add_error_string(int errorcode, const char *string);
CTRAN_API int ctran_remove_error_string(int errorcode);

/* Called instead of ending the job, in the thread of the call that has failed, which returns
 * *error_code afterwards; the function may change that, not to CTRAN_SUCCESS. *comm is the
 * communicator, CTRAN_COMM_NULL where it was freed before its last operation failed. A third
 * argument follows, a const char * that says which call failed and why. The function may make any
 * call, also free *comm or its handler. */
typedef void ctran_comm_errhandler_function(ctran_comm_t *comm, int *error_code, ...);

/* A handler made of a function. free gives the caller's handle back and sets it to
 * CTRAN_ERRHANDLER_NULL; communicators that use the handler keep it. Local. Errors: CTRAN_ERR_ARG
 * for a null pointer, CTRAN_ERR_ERRHANDLER, CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 9.3.1, 9.3.5. */
CTRAN_API int ctran_comm_create_errhandler(ctran_comm_errhandler_function *comm_errhandler_fn,
                                           ctran_errhandler_t             *errhandler);
CTRAN_API int ctran_errhandler_free(ctran_errhandler_t *errhandler);

/* Sets the error handler of comm: such a one, or CTRAN_ERRORS_ARE_FATAL, _ABORT or _RETURN. A
 * communicator made from comm later starts with the same; CTRAN_COMM_WORLD and _SELF start with
 * CTRAN_INITIAL_ERRHANDLER's. Beyond MPI, set takes a communicator that ctran_comm_idup has not
 * completed. get gives a handle that ctran_errhandler_free takes back. Local.
 * Errors: CTRAN_ERR_COMM, CTRAN_ERR_ERRHANDLER. Source: MPI-4.1 sec. 9.3.1. */
CTRAN_API int ctran_comm_set_errhandler(ctran_comm_t comm, ctran_errhandler_t errhandler);
CTRAN_API int ctran_comm_get_errhandler(ctran_comm_t comm, ctran_errhandler_t *errhandler);

/* Calls comm's error handler with `errorcode`; returns CTRAN_SUCCESS if it returns. Errors:
 * CTRAN_ERR_COMM; CTRAN_ERR_ARG for what is no code. Source: MPI-4.1 sec. 9.5. */
CTRAN_API int ctran_comm_call_errhandler(ctran_comm_t comm, int errorcode);

/* ---------------------------------------------------------------------------------------------
 * Info objects: strings under keys, by which the program hands hints to calls, which ignore those
 * that they do not know. Local; any thread, any time. Errors: CTRAN_ERR_INFO for what is no info
 * object, and for a change of CTRAN_INFO_ENV; CTRAN_ERR_INFO_KEY, _VALUE for NULL, or one that with
 * its 0 is longer than CTRAN_MAX_INFO_KEY, _VAL; CTRAN_ERR_ARG; CTRAN_ERR_NO_MEM. Before ctran_init
 * and after ctran_finalize they are returned without asking a handler. Source: MPI-4.1 ch. 10.
 * ------------------------------------------------------------------------------------------ */

/* A new object without keys; a copy. Free it with ctran_info_free, which sets *info to
 * CTRAN_INFO_NULL: what it was given to keeps no reference. */
CTRAN_API int ctran_info_create(ctran_info_t *info);
CTRAN_API int ctran_info_dup(ctran_info_t info, ctran_info_t *newinfo);
CTRAN_API int ctran_info_free(ctran_info_t *info);

/* A new object with what is known of the program's start, as CTRAN_INFO_ENV has it: "command" and
 * "argv" (from the arguments, or with argc 0 or argv NULL from the system), "wdir", "arch", "host",
 * "maxprocs", "soft"; the last two before init only without a launcher or under ctranrun. A value
 * that is too long is not there.
 * CTRAN_INFO_ENV itself exists from ctran_init to ctran_finalize. */
CTRAN_API int ctran_info_create_env(int argc, char *argv[], ctran_info_t *info);

/* Sets the value of a key, over an old one. delete takes a key away: CTRAN_ERR_INFO_NOKEY where it
 * is not there. */
CTRAN_API int ctran_info_set(ctran_info_t info, const char *key, const char *value);
CTRAN_API int ctran_info_delete(ctran_info_t info, const char *key);

/* *flag is 1 where info has the key: then `value` gets the first *buflen - 1 bytes of its value and
 * a 0 (nothing where *buflen is 0), and *buflen becomes what the whole value takes with its 0. Else
 * they stay as they are. */
CTRAN_API int ctran_info_get_string(ctran_info_t info, const char *key, int *buflen, char *value,
                                    int *flag);

/* The same in the words of old programs: `value` has room for valuelen bytes and a 0; *valuelen
 * gets the length without its 0. Deprecated: use ctran_info_get_string. Source: MPI-4.1
 * sec. 16.3. */
CTRAN_API int ctran_info_get(ctran_info_t info, const char *key, int valuelen, char *value,
                             int *flag);
CTRAN_API int ctran_info_get_valuelen(ctran_info_t info, const char *key, int *valuelen, int *flag);

/* The number of keys, and key number n, from 0 on in the order of their setting; it has room for
 * CTRAN_MAX_INFO_KEY bytes. */
CTRAN_API int ctran_info_get_nkeys(ctran_info_t info, int *nkeys);
CTRAN_API int ctran_info_get_nthkey(ctran_info_t info, int n, char *key);

/* ---------------------------------------------------------------------------------------------
 * Communicators
 * ------------------------------------------------------------------------------------------ */

/* The number of ranks in comm, or in the local group of an inter-communicator; the caller's rank
 * there (0 .. size - 1). Local.
 * Source: MPI-4.1 sec. 7.4.1. */
CTRAN_API int ctran_comm_size(ctran_comm_t comm, int *size);
CTRAN_API int ctran_comm_rank(ctran_comm_t comm, int *rank);

/* CTRAN_IDENT (same communicator), CTRAN_CONGRUENT (same ranks, same order), CTRAN_SIMILAR (same
 * ranks) or CTRAN_UNEQUAL; of inter-communicators this holds for both groups. Local.
 * Source: MPI-4.1 sec. 7.4.1. */
CTRAN_API int ctran_comm_compare(ctran_comm_t comm1, ctran_comm_t comm2, int *result);

/* *newcomm: the same ranks in the same order, messages kept apart from comm's. Collective over
 * comm. Free it with ctran_comm_free. Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_dup(ctran_comm_t comm, ctran_comm_t *newcomm);

/* The same, and newcomm starts with the hints of info; with ctran_comm_dup it starts with none.
 * Errors: also CTRAN_ERR_INFO. Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_dup_with_info(ctran_comm_t comm, ctran_info_t info, ctran_comm_t *newcomm);

/* The same, nonblocking: newcomm is made once *request is completed by a call that completes
 * requests, and void before that. Attributes and hints are those at the time of the call. The
 * request cannot be freed or cancelled. Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_idup(ctran_comm_t comm, ctran_comm_t *newcomm, ctran_request_t *request);
CTRAN_API int ctran_comm_idup_with_info(ctran_comm_t comm, ctran_info_t info, ctran_comm_t *newcomm,
                                        ctran_request_t *request);

/* Hints: what the program promises, "true" or "false" under the keys mpi_assert_no_any_tag,
 * mpi_assert_no_any_source, mpi_assert_exact_length, mpi_assert_allow_overtaking and
 * mpi_assert_strict_persistent_collective_ordering. set changes those that info has, and is
 * collective by the standard; here it does not wait for others. get gives a new info object with
 * all of them. This version uses none. Errors: CTRAN_ERR_COMM, CTRAN_ERR_INFO, CTRAN_ERR_NO_MEM.
 * Source: MPI-4.1 sec. 7.4.4. */
CTRAN_API int ctran_comm_set_info(ctran_comm_t comm, ctran_info_t info);
CTRAN_API int ctran_comm_get_info(ctran_comm_t comm, ctran_info_t *info_used);

/* Splits comm: ranks with the same `color` (>= 0) come into one communicator, ordered by `key`,
 * then by rank in comm. With CTRAN_UNDEFINED the caller joins none and gets CTRAN_COMM_NULL.
 * Collective over comm. Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_split(ctran_comm_t comm, int color, int key, ctran_comm_t *newcomm);

/* The same for all ranks of one `split_type`: CTRAN_COMM_TYPE_SHARED, those of one host; _HW_GUIDED
 * and _RESOURCE_GUIDED, those confined to one object of the kind that info has under
 * "mpi_hw_resource_type"; _HW_UNGUIDED, the same for the largest kind that parts the ranks, whose
 * name is set in info (unless that is CTRAN_INFO_ENV); or CTRAN_UNDEFINED. Without that key
 * _RESOURCE_GUIDED takes those of the process set that info has under "mpi_pset_name",
 * "mpi://WORLD" or "mpi://SELF". Kinds, from the largest: "mpi_shared_memory" (a host),
 * "hwloc://Package", "hwloc://Die", "hwloc://NUMANode", "hwloc://L3Cache", "hwloc://L2Cache",
 * "hwloc://L1Cache", "hwloc://Core", "hwloc://PU"; Open MPI's "socket", "numanode", "l3cache",
 * "l2cache", "l1cache", "core" and "hwthread" are the same. A rank is confined by the CPUs that its
 * first thread may run on at the call. Who is not, and everybody with another name or where nothing
 * parts, gets CTRAN_COMM_NULL. *newcomm starts with the hints of info, which may be
 * CTRAN_INFO_NULL. Errors: also CTRAN_ERR_ARG, CTRAN_ERR_INFO. Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_split_type(ctran_comm_t comm, int split_type, int key, ctran_info_t info,
                                    ctran_comm_t *newcomm);

/* *newcomm: the members of `group`, all of them in comm, in its order. Who is no member gets
 * CTRAN_COMM_NULL. Collective over comm; the members of a group give the same, and groups that are
 * given at once are equal or have no member in common. Errors: CTRAN_ERR_COMM, CTRAN_ERR_GROUP.
 * Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_create(ctran_comm_t comm, ctran_group_t group, ctran_comm_t *newcomm);

/* The same, but collective over the members of `group` alone. Concurrent calls on one comm, which
 * threads may order differently, are told apart by `tag`, which has nothing to do with those of
 * messages. Errors: also CTRAN_ERR_TAG. Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_create_group(ctran_comm_t comm, ctran_group_t group, int tag,
                                      ctran_comm_t *newcomm);

/* The same without a parent: concurrent calls are told apart by `stringtag`, of less than
 * CTRAN_MAX_STRINGTAG_LEN bytes. newcomm starts with the hints of info and with errhandler. Who is
 * no member gets CTRAN_COMM_NULL. Errors are those of CTRAN_COMM_SELF; also CTRAN_ERR_ARG,
 * CTRAN_ERR_ERRHANDLER, CTRAN_ERR_INFO. Source: MPI-4.1 sec. 7.4.2. */
CTRAN_API int ctran_comm_create_from_group(ctran_group_t group, const char *stringtag,
                                           ctran_info_t info, ctran_errhandler_t errhandler,
                                           ctran_comm_t *newcomm);

/* Failures of processes, where the job outlives them (ctranrun --enable-recovery); see "Failures"
 * above and ctran-failures(7). Source of all: the MPI Forum's user-level failure mitigation (ULFM).
 *
 * get_failed: *failedgrp gets the members of comm, of both groups of an inter-communicator, that
 * this process knows to have failed, in the order in which it learnt of them: a later group begins
 * with an earlier one. Free it with ctran_group_free. Local.
 * ack_failed acknowledges the first num_to_ack of them; *num_acked gets how many are acknowledged,
 * those of earlier calls included. An acknowledged member ends no receive from CTRAN_ANY_SOURCE any
 * more, and makes no agreement an error. Local.
 * failure_ack acknowledges all that are known; failure_get_acked tells which are. These are the
 * older names. Local.
 * Errors: CTRAN_ERR_COMM, CTRAN_ERR_ARG, CTRAN_ERR_NO_MEM. */
CTRAN_API int ctran_comm_get_failed(ctran_comm_t comm, ctran_group_t *failedgrp);
CTRAN_API int ctran_comm_ack_failed(ctran_comm_t comm, int num_to_ack, int *num_acked);
CTRAN_API int ctran_comm_failure_ack(ctran_comm_t comm);
CTRAN_API int ctran_comm_failure_get_acked(ctran_comm_t comm, ctran_group_t *failedgrp);

/* Revokes comm, for all members: each operation on it that is under way, and each later one but
 * those of this section and calls without communication, ends with CTRAN_ERR_REVOKED, whatever its
 * peers do. That holds for messages, probes, collectives of all forms, stream-ordered calls
 * (ctran_comm_get_async_error tells) and the windows that were made of comm, where waits for calls
 * of other ranks end; what is moving data at that moment may still end well. Local: it returns at
 * once, and the others learn of it as soon as they are in a call. It cannot be undone.
 * is_revoked: *flag is 1 if this process knows of it. Local; drives transfers once.
 * Errors: CTRAN_ERR_COMM. */
CTRAN_API int ctran_comm_revoke(ctran_comm_t comm);
CTRAN_API int ctran_comm_is_revoked(ctran_comm_t comm, int *flag);

/* Agreement: *flag becomes the bitwise AND of the values that the living members gave; of an
 * inter-communicator, of those of the remote group. Collective over the living members of comm,
 * also if it is revoked or members fail meanwhile. What a member returns is what every other one
 * returns that returns at all, also one that fails afterwards. CTRAN_ERR_PROC_FAILED: *flag is set,
 * and a member has failed that not all of the others have acknowledged; all members return this
 * error or none. Other errors: CTRAN_ERR_COMM, CTRAN_ERR_NO_MEM,
 * CTRAN_ERR_UNSUPPORTED_OPERATION (more than 7168 members). `flag` of iagree is borrowed until the
 * request is completed. */
CTRAN_API int ctran_comm_agree(ctran_comm_t comm, int *flag);
CTRAN_API int ctran_comm_iagree(ctran_comm_t comm, int *flag, ctran_request_t *request);

/* *newcomm: the members of comm that have not failed, as far as one of them knows, in their order.
 * Collective as agreement is, and the members agree on who they are; one that fails meanwhile may
 * still be in it. It has the error handler of comm, and none of its attributes, hints and topology.
 * CTRAN_COMM_NULL, if a group of an inter-communicator has nobody left. Of ishrink it is made once
 * *request is completed, as by ctran_comm_idup. Errors: as above, but CTRAN_ERR_PROC_FAILED. */
CTRAN_API int ctran_comm_shrink(ctran_comm_t comm, ctran_comm_t *newcomm);
CTRAN_API int ctran_comm_ishrink(ctran_comm_t comm, ctran_comm_t *newcomm,
                                 ctran_request_t *request);

/* Inter-communicators: two groups without a common process. A rank is in the local one; the ranks
 * that messages go to and come from are those of the remote one. dup, idup, split, split_type,
 * create, compare, free, names, attributes and error handlers are as of others. split joins the
 * ranks of both groups that give the same color; it and create give CTRAN_COMM_NULL where one group
 * would be empty, and of create all ranks of a group give the same. Collectives but scan and exscan
 * take them, without CTRAN_IN_PLACE: what a rank gets comes from the remote group (see there).
 * Source: MPI-4.1 sec. 6.2.3, 7.6.
 *
 * *flag is 1 for an inter-communicator. The size of the remote group, and the group, which is freed
 * with ctran_group_free. Local. Errors: CTRAN_ERR_COMM, too, for an intra-communicator. */
CTRAN_API int ctran_comm_test_inter(ctran_comm_t comm, int *flag);
CTRAN_API int ctran_comm_remote_size(ctran_comm_t comm, int *size);
CTRAN_API int ctran_comm_remote_group(ctran_comm_t comm, ctran_group_t *group);

/* Makes one of the group of local_comm, an intra-communicator, and that of another, whose ranks
 * call at the same time. Collective over both. In each, local_leader knows the other group's
 * leader: by its rank remote_leader in peer_comm, which both leaders have, with the same tag;
 * elsewhere these three do not count. The messages between leaders meet no others of peer_comm.
 * Errors: CTRAN_ERR_COMM; CTRAN_ERR_RANK for a leader, CTRAN_ERR_TAG, which all ranks of the group
 * get; CTRAN_ERR_GROUP where both groups have a process in common. */
CTRAN_API int ctran_intercomm_create(ctran_comm_t local_comm, int local_leader,
                                     ctran_comm_t peer_comm, int remote_leader, int tag,
                                     ctran_comm_t *newintercomm);

/* The same of two groups that all know, without a parent; stringtag, info and errhandler as of
 * ctran_comm_create_from_group. The leaders, ranks in their groups, have nothing to do here. */
CTRAN_API int ctran_intercomm_create_from_groups(ctran_group_t local_group, int local_leader,
                                                 ctran_group_t remote_group, int remote_leader,
                                                 const char *stringtag, ctran_info_t info,
                                                 ctran_errhandler_t errhandler,
                                                 ctran_comm_t      *newintercomm);

/* An intra-communicator of both groups: first the one whose ranks give high = 0, then the one with
 * high != 0; where both give the same, some order. Collective over both. */
CTRAN_API int ctran_intercomm_merge(ctran_comm_t intercomm, int high, ctran_comm_t *newintracomm);

/* The name of comm, for messages and tools: at first "", "CTRAN_COMM_WORLD" or "CTRAN_COMM_SELF";
 * no copy of comm has it. set keeps the first CTRAN_MAX_OBJECT_NAME - 1 bytes; get writes up to
 * CTRAN_MAX_OBJECT_NAME and stores the length without the 0. CTRAN_COMM_NULL's name can be got: it
 * is "CTRAN_COMM_NULL". Local. Errors: CTRAN_ERR_COMM; CTRAN_ERR_ARG for a null pointer.
 * Source: MPI-4.1 sec. 7.8. */
CTRAN_API int ctran_comm_set_name(ctran_comm_t comm, const char *comm_name);
CTRAN_API int ctran_comm_get_name(ctran_comm_t comm, char *comm_name, int *resultlen);

/* Frees *comm once its pending operations are done and sets it to CTRAN_COMM_NULL. Collective by
 * the standard; here it does not wait for others. Not for CTRAN_COMM_WORLD or _SELF.
 * Source: MPI-4.1 sec. 7.4.3. */
CTRAN_API int ctran_comm_free(ctran_comm_t *comm);

/* The same, once all communication on *comm has been completed by the calls that complete it, so
 * that it waits for nothing here either. Source: MPI-4.1 sec. 11.10.4. */
CTRAN_API int ctran_comm_disconnect(ctran_comm_t *comm);

/* ---------------------------------------------------------------------------------------------
 * Processes that start or meet later. A job whose ranks another job has spawned has a world of its
 * own; an intercommunicator joins it with those who have spawned it. Processes of all jobs of such
 * a family can meet at ports, if ctranrun has started the first one. Messages between jobs go by
 * tcp. Source: MPI-4.1 chapter 11.
 * ------------------------------------------------------------------------------------------ */

/* Starts maxprocs processes of `command` with the arguments argv, a list without the command that
 * ends with NULL (CTRAN_ARGV_NULL: none), as one job. Returns when all have called ctran_init.
 * intercomm has them as its remote group, in the order of their ranks. Collective over comm, an
 * intracommunicator; command, argv, maxprocs and info count at root alone. Keys of info: "host", a
 * list of hosts of this job with ',' between; "wdir", the processes' directory, else root's;
 * "path", folders with ':' between in which a command without '/' is looked for first. All
 * processes start, or none. Each of array_of_errcodes, which has a place for each process
 * (CTRAN_ERRCODES_IGNORE: none), gets CTRAN_SUCCESS; the places get the error at root alone.
 * Errors, at all ranks: CTRAN_ERR_SPAWN: there is no such program, no such host or no room, or no
 * ctranrun, or rank 0 has ended before it called ctran_init; CTRAN_ERR_ARG, CTRAN_ERR_INFO;
 * CTRAN_ERR_ROOT. */
CTRAN_API int ctran_comm_spawn(const char *command, char *argv[], int maxprocs, ctran_info_t info,
                               int root, ctran_comm_t comm, ctran_comm_t *intercomm,
                               int array_of_errcodes[]);

/* Spawns several programs, which become one job, in this order: an array has `count` elements, one
 * for each program (CTRAN_ARGVS_NULL: none gets arguments). All name the same hosts, or none. The
 * attribute CTRAN_APPNUM tells a process which program it is. */
CTRAN_API int ctran_comm_spawn_multiple(int count, char *array_of_commands[],
                                        char **array_of_argv[], const int array_of_maxprocs[],
                                        const ctran_info_t array_of_info[], int root,
                                        ctran_comm_t comm, ctran_comm_t *intercomm,
                                        int array_of_errcodes[]);

/* *parent is the intercommunicator with the processes that have spawned this job; CTRAN_COMM_NULL:
 * it was not spawned by these calls, or the program has freed it. It is the same handle each time,
 * and ctran_finalize frees it. Local. */
CTRAN_API int ctran_comm_get_parent(ctran_comm_t *parent);

/* Opens a port of the calling process, at which other processes may call it, and writes its name,
 * at most CTRAN_MAX_PORT_NAME bytes with the 0. No key of info is known. Close ends calls that were
 * not accepted. Local. Errors: CTRAN_ERR_PORT: it is no open port of this process. */
CTRAN_API int ctran_open_port(ctran_info_t info, char *port_name);
CTRAN_API int ctran_close_port(const char *port_name);

/* The ranks of comm, an intracommunicator, meet those of another one: one side accepts at a port
 * that its root has opened, the other connects to it. newcomm has the other side as its remote
 * group. Calls that come early wait, at most as long as the key "timeout" of info says, in seconds.
 * Collective over comm; port_name and info count at root alone. Errors, at all ranks:
 * CTRAN_ERR_PORT: the port is not open, its process has ended or cannot be reached, or the time is
 * over; CTRAN_ERR_GROUP: both sides have a process in common; CTRAN_ERR_ROOT. */
CTRAN_API int ctran_comm_accept(const char *port_name, ctran_info_t info, int root,
                                ctran_comm_t comm, ctran_comm_t *newcomm);
CTRAN_API int ctran_comm_connect(const char *port_name, ctran_info_t info, int root,
                                 ctran_comm_t comm, ctran_comm_t *newcomm);

/* Makes an inter-communicator of the two processes that have the ends of a connected stream socket,
 * on which nothing else is under way. CTRAN_COMM_NULL: the processes are not of one family, or fd
 * leads back to this process. Blocks until the other end calls. Errors: CTRAN_ERR_ARG: the socket
 * has failed. */
CTRAN_API int ctran_comm_join(int fd, ctran_comm_t *intercomm);

/* Names for ports, which all jobs of a family see, until the process that has published one ends.
 * No key of info is known. Errors: CTRAN_ERR_SERVICE: the name is published already, or not by this
 * process; CTRAN_ERR_NAME: nobody has published it; CTRAN_ERR_UNSUPPORTED_OPERATION: ctranrun has
 * not started this process; CTRAN_ERR_ARG: the name has more than about 500 bytes. */
CTRAN_API int ctran_publish_name(const char *service_name, ctran_info_t info,
                                 const char *port_name);
CTRAN_API int ctran_lookup_name(const char *service_name, ctran_info_t info, char *port_name);
CTRAN_API int ctran_unpublish_name(const char *service_name, ctran_info_t info,
                                   const char *port_name);

/* ---------------------------------------------------------------------------------------------
 * Attributes: pointers that the program attaches to communicators under keys of its own. All are
 * local. Errors: CTRAN_ERR_COMM; CTRAN_ERR_KEYVAL for a key that does not exist, or a predefined
 * one where that is not possible; CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 7.7.
 * ------------------------------------------------------------------------------------------ */

/* Called by ctran_comm_dup for each attribute of oldcomm: with *flag = 1 the new communicator gets
 * what it stores in *(void **)attribute_val_out. And by ctran_comm_free, ctran_comm_delete_attr,
 * ctran_comm_set_attr where there is a value already, and, for CTRAN_COMM_SELF, ctran_finalize.
 * What they return, if not CTRAN_SUCCESS, is the error of that call, which then fails. */
typedef int ctran_comm_copy_attr_function(ctran_comm_t oldcomm, int comm_keyval, void *extra_state,
                                          void *attribute_val_in, void *attribute_val_out,
                                          int *flag);
typedef int ctran_comm_delete_attr_function(ctran_comm_t comm, int comm_keyval, void *attribute_val,
                                            void *extra_state);
#define CTRAN_COMM_NULL_COPY_FN   ((ctran_comm_copy_attr_function *)0) /* not copied */
#define CTRAN_COMM_DUP_FN         ((ctran_comm_copy_attr_function *)1) /* the pointer is */
#define CTRAN_COMM_NULL_DELETE_FN ((ctran_comm_delete_attr_function *)0)

/* A new key; extra_state is handed to its functions. free sets *comm_keyval to
 * CTRAN_KEYVAL_INVALID; values that communicators still have stay, with their functions, until they
 * are deleted; until then the key may be freed again, to no effect. */
CTRAN_API int ctran_comm_create_keyval(ctran_comm_copy_attr_function   *comm_copy_attr_fn,
                                       ctran_comm_delete_attr_function *comm_delete_attr_fn,
                                       int *comm_keyval, void *extra_state);
CTRAN_API int ctran_comm_free_keyval(int *comm_keyval);

/* get: *flag is 1 where comm has a value, which is stored in *(void **)attribute_val. Every
 * communicator has the predefined ones (one of a session the first only, MPI-4.1 sec. 9.1.2), as
 * pointers to int: CTRAN_TAG_UB (CTRAN_TAG_MAX), _IO
 * (CTRAN_ANY_SOURCE), _HOST (CTRAN_PROC_NULL), _WTIME_IS_GLOBAL (1 if the job has one host),
 * _LASTUSEDCODE (see ctran_add_error_class); and, where the launcher says so, CTRAN_APPNUM, which
 * of the programs of one command line the caller runs, from 0 on, and CTRAN_UNIVERSE_SIZE, how many
 * processes there is room for (at least the job's; ctranrun's slots). They cannot be set or
 * deleted. Deleting what comm has not does nothing. */
CTRAN_API int ctran_comm_set_attr(ctran_comm_t comm, int comm_keyval, void *attribute_val);
CTRAN_API int ctran_comm_get_attr(ctran_comm_t comm, int comm_keyval, void *attribute_val,
                                  int *flag);
CTRAN_API int ctran_comm_delete_attr(ctran_comm_t comm, int comm_keyval);

/* ---------------------------------------------------------------------------------------------
 * Groups: processes in an order, ranks 0 to size - 1, without a way to talk. A group never changes;
 * the calls that make one give a handle to be freed with ctran_group_free, and CTRAN_GROUP_EMPTY
 * where it has no members. All are local. Errors: CTRAN_ERR_GROUP; CTRAN_ERR_RANK for a rank that
 * the group does not have or that comes twice; CTRAN_ERR_ARG for n < 0, a null array or a bad
 * range; CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 7.3.
 * ------------------------------------------------------------------------------------------ */

/* The group of comm. */
CTRAN_API int ctran_comm_group(ctran_comm_t comm, ctran_group_t *group);

/* The number of members; the caller's rank, CTRAN_UNDEFINED if it is no member. */
CTRAN_API int ctran_group_size(ctran_group_t group, int *size);
CTRAN_API int ctran_group_rank(ctran_group_t group, int *rank);

/* ranks2[i] is the rank in group2 of the process that is ranks1[i] in group1; CTRAN_UNDEFINED where
 * it is no member of group2; CTRAN_PROC_NULL stays that. The arrays may be the same. */
CTRAN_API int ctran_group_translate_ranks(ctran_group_t group1, int n, const int ranks1[],
                                          ctran_group_t group2, int ranks2[]);

/* CTRAN_IDENT (same members, same order), CTRAN_SIMILAR (same members) or CTRAN_UNEQUAL. */
CTRAN_API int ctran_group_compare(ctran_group_t group1, ctran_group_t group2, int *result);

/* The members of group1, then those of group2 that are not among them; the members of group1 that
 * are in group2; those that are not. */
CTRAN_API int ctran_group_union(ctran_group_t group1, ctran_group_t group2,
                                ctran_group_t *newgroup);
CTRAN_API int ctran_group_intersection(ctran_group_t group1, ctran_group_t group2,
                                       ctran_group_t *newgroup);
CTRAN_API int ctran_group_difference(ctran_group_t group1, ctran_group_t group2,
                                     ctran_group_t *newgroup);

/* The members with the n distinct ranks of `ranks`, in this order; all others, in group's. */
CTRAN_API int ctran_group_incl(ctran_group_t group, int n, const int ranks[],
                               ctran_group_t *newgroup);
CTRAN_API int ctran_group_excl(ctran_group_t group, int n, const int ranks[],
                               ctran_group_t *newgroup);

/* The same for the ranks of n ranges {first, last, stride}: first, first + stride, ... up to last,
 * or down to it where stride < 0. The stride is not 0 and leads from first towards last. */
CTRAN_API int ctran_group_range_incl(ctran_group_t group, int n, int ranges[][3],
                                     ctran_group_t *newgroup);
CTRAN_API int ctran_group_range_excl(ctran_group_t group, int n, int ranges[][3],
                                     ctran_group_t *newgroup);

/* Gives the handle back and sets *group to CTRAN_GROUP_NULL. Communicators made from the group
 * stay. */
CTRAN_API int ctran_group_free(ctran_group_t *group);

/* ---------------------------------------------------------------------------------------------
 * Virtual topologies. Source: MPI-4.1 ch. 8
 *
 * Ranks as points of a grid, or nodes of a graph. A new communicator has the topology, as have its
 * duplicates. With `reorder` ranks may get another order, so that neighbours are close: fewer edges
 * (of a distributed graph, less weight) between hosts, and then between NVLink domains, racks,
 * zones and data centres (ctran-labels(7)); never more between hosts than without. Members stay the
 * same, and so does the order if nothing is gained, as on a single host, or a graph has more than
 * 4,096 ranks or 1,048,576 edges. A rank of a distributed graph gets the edges of the node whose
 * number it has, which another rank may have given.
 * Creation is collective over comm_old, which is no inter-communicator, with the same arguments on
 * all ranks; everything else is local. Errors, besides those of comm: CTRAN_ERR_TOPOLOGY where comm
 * has not the topology that a question is about, CTRAN_ERR_DIMS, CTRAN_ERR_RANK, CTRAN_ERR_ARG.
 * Output arrays are the caller's and are filled up to the room that it names. (Weights are declared
 * as pointers, since compilers warn of CTRAN_UNWEIGHTED for an array.)
 * ------------------------------------------------------------------------------------------ */

/* Chooses the dims that are 0, so that dims[0] * ... * dims[ndims - 1] is nnodes: as close to each
 * other as possible (the largest less the smallest is least; of equals the smallest is greatest,
 * then the next), not increasing. Errors: CTRAN_ERR_DIMS
 * where the dims that are given do not divide nnodes. Source: sec. 8.5.2. */
CTRAN_API int ctran_dims_create(int nnodes, int ndims, int dims[]);

/* A grid: row-major, the last dimension varies fastest; along those with periods[i] it closes to a
 * ring. Ranks beyond its places get CTRAN_COMM_NULL. ndims may be 0: one place. Source: sec. 8.5.1.
 */
CTRAN_API int ctran_cart_create(ctran_comm_t comm_old, int ndims, const int dims[],
                                const int periods[], int reorder, ctran_comm_t *comm_cart);

/* The grids of the dimensions with remain_dims[i]; the caller's is the one that it lies in.
 * Collective over comm. Source: sec. 8.5.6. */
CTRAN_API int ctran_cart_sub(ctran_comm_t comm, const int remain_dims[], ctran_comm_t *newcomm);

/* CTRAN_CART, CTRAN_GRAPH, CTRAN_DIST_GRAPH, or CTRAN_UNDEFINED for none. Source: sec. 8.5.5. */
CTRAN_API int ctran_topo_test(ctran_comm_t comm, int *status);

/* What the grid was made with, and the caller's place in it. Source: sec. 8.5.5. */
CTRAN_API int ctran_cartdim_get(ctran_comm_t comm, int *ndims);
CTRAN_API int ctran_cart_get(ctran_comm_t comm, int maxdims, int dims[], int periods[],
                             int coords[]);

/* Places to ranks, where a coordinate of a periodic dimension may lie outside, and back.
 * Source: sec. 8.5.5. */
CTRAN_API int ctran_cart_rank(ctran_comm_t comm, const int coords[], int *rank);
CTRAN_API int ctran_cart_coords(ctran_comm_t comm, int rank, int maxdims, int coords[]);

/* The ranks to exchange with for a shift by disp (also negative) along a dimension: receive from
 * *rank_source, send to *rank_dest; CTRAN_PROC_NULL beyond an edge. Source: sec. 8.5.5. */
CTRAN_API int ctran_cart_shift(ctran_comm_t comm, int direction, int disp, int *rank_source,
                               int *rank_dest);

/* The rank that the caller would have in such a grid or graph made with reorder; CTRAN_UNDEFINED
 * beyond it. Source: sec. 8.5.8. */
CTRAN_API int ctran_cart_map(ctran_comm_t comm, int ndims, const int dims[], const int periods[],
                             int *newrank);
CTRAN_API int ctran_graph_map(ctran_comm_t comm, int nnodes, const int index[], const int edges[],
                              int *newrank);

/* A graph that all ranks know: index[i] is the number of neighbours of nodes 0 to i together, edges
 * lists them. Ranks beyond nnodes get CTRAN_COMM_NULL. Source: sec. 8.5.3. */
CTRAN_API int ctran_graph_create(ctran_comm_t comm_old, int nnodes, const int index[],
                                 const int edges[], int reorder, ctran_comm_t *comm_graph);
CTRAN_API int ctran_graphdims_get(ctran_comm_t comm, int *nnodes, int *nedges);
CTRAN_API int ctran_graph_get(ctran_comm_t comm, int maxindex, int maxedges, int index[],
                              int edges[]);
CTRAN_API int ctran_graph_neighbors_count(ctran_comm_t comm, int rank, int *nneighbors);
CTRAN_API int ctran_graph_neighbors(ctran_comm_t comm, int rank, int maxneighbors, int neighbors[]);

/* A graph of which each rank gives its own edges, from `sources` and to `destinations`; an edge may
 * come several times. Weights, at least 0, are kept, and count where ranks are reordered; all give
 * CTRAN_UNWEIGHTED, or none does (who has no edges may give CTRAN_WEIGHTS_EMPTY). info may be
 * CTRAN_INFO_NULL; its hints have no effect. Source: sec. 8.5.4. */
CTRAN_API int ctran_dist_graph_create_adjacent(ctran_comm_t comm_old, int indegree,
                                               const int sources[], const int *sourceweights,
                                               int outdegree, const int destinations[],
                                               const int *destweights, ctran_info_t info,
                                               int reorder, ctran_comm_t *comm_dist_graph);

/* The same where a rank gives any edges: degrees[i] of them go out from sources[i], to the next of
 * `destinations`. Each rank learns its own, in the order of who gave them. Source: sec. 8.5.4. */
CTRAN_API int ctran_dist_graph_create(ctran_comm_t comm_old, int n, const int sources[],
                                      const int degrees[], const int destinations[],
                                      const int *weights, ctran_info_t info, int reorder,
                                      ctran_comm_t *comm_dist_graph);

/* The caller's edges; weights may be CTRAN_UNWEIGHTED, and are left alone where the graph has none.
 * Source: sec. 8.5.5. */
CTRAN_API int ctran_dist_graph_neighbors_count(ctran_comm_t comm, int *indegree, int *outdegree,
                                               int *weighted);
CTRAN_API int ctran_dist_graph_neighbors(ctran_comm_t comm, int maxindegree, int sources[],
                                         int *sourceweights, int maxoutdegree, int destinations[],
                                         int *destweights);

/* ---------------------------------------------------------------------------------------------
 * Point-to-point. Messages from one rank to another in one communicator do not overtake each
 * other. count >= 0 elements of datatype, which with a count of 0 may be CTRAN_DATATYPE_NULL;
 * 0 <= tag <= CTRAN_TAG_MAX. Source: MPI-4.1 ch. 3. Errors of all of them: CTRAN_ERR_COMM, _COUNT,
 * _TYPE, _BUFFER, _RANK, _TAG, _ARG, _NO_MEM; and, when the peer is lost, CTRAN_ERR_PROC_FAILED.
 * ------------------------------------------------------------------------------------------ */

/* Sends; returns when buf may be used again. Blocks until the receiver has taken the message where
 * this is longer than CTRAN_EAGER_LIMIT, or lies in a GPU's memory (ctran-gpu(7)). */
CTRAN_API int ctran_send(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                         int tag, ctran_comm_t comm);

/* Receives a message of at most `count` elements from `source` (or CTRAN_ANY_SOURCE) with `tag` (or
 * CTRAN_ANY_TAG). status may be CTRAN_STATUS_IGNORE. A longer message fills buf and gives
 * CTRAN_ERR_TRUNCATE. */
CTRAN_API int ctran_recv(void *buf, ctran_count_t count, ctran_datatype_t datatype, int source,
                         int tag, ctran_comm_t comm, ctran_status_t *status);

/* The same, nonblocking: *request completes through ctran_wait, ctran_test and their kin, which
 * also free it. The transfer moves on whenever the process is inside a ctran call. */
CTRAN_API int ctran_isend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                          int tag, ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_irecv(void *buf, ctran_count_t count, ctran_datatype_t datatype, int source,
                          int tag, ctran_comm_t comm, ctran_request_t *request);

/* A synchronous send: completes only once the receiver has matched the message, and its buffer may
 * be used again. Source: MPI-4.1 sec. 3.4. */
CTRAN_API int ctran_ssend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                          int tag, ctran_comm_t comm);
CTRAN_API int ctran_issend(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                           int dest, int tag, ctran_comm_t comm, ctran_request_t *request);

/* A ready send: the caller promises that the receive has been posted. Here it does what a standard
 * send does, so that a broken promise has no consequence. Source: MPI-4.1 sec. 3.4. */
CTRAN_API int ctran_rsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                          int tag, ctran_comm_t comm);
CTRAN_API int ctran_irsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                           int dest, int tag, ctran_comm_t comm, ctran_request_t *request);

/* Gives the library `size` bytes at `buffer`, where buffered sends keep their messages; they are
 * the library's until detached. One message takes up to CTRAN_BSEND_OVERHEAD bytes beyond its own.
 * With CTRAN_BUFFER_AUTOMATIC for `buffer`, `size` does not matter, and the library takes memory of
 * its own for each message. A send takes the buffer of its communicator; where there is none, that
 * of the session which the communicator comes from by its group or its parents; else the process's.
 * Local. Errors: CTRAN_ERR_BUFFER for NULL and where there is one already; CTRAN_ERR_COMM,
 * CTRAN_ERR_SESSION, CTRAN_ERR_ARG, CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 3.6. */
CTRAN_API int ctran_buffer_attach(void *buffer, ctran_count_t size);
CTRAN_API int ctran_comm_attach_buffer(ctran_comm_t comm, void *buffer, ctran_count_t size);
CTRAN_API int ctran_session_attach_buffer(ctran_session_t session, void *buffer,
                                          ctran_count_t size);

/* Waits until all messages in the buffer have been sent, or their receivers are lost, then gives it
 * back: buffer_addr is the address of a pointer, which is set to it; CTRAN_BUFFER_AUTOMATIC comes
 * back with size 0. A communicator that is freed, a session that ends, and ctran_finalize for
 * CTRAN_COMM_WORLD, CTRAN_COMM_SELF and the process, do so, too. CTRAN_ERR_BUFFER where there is
 * none. Source: MPI-4.1 sec. 3.6. */
CTRAN_API int ctran_buffer_detach(void *buffer_addr, ctran_count_t *size);
CTRAN_API int ctran_comm_detach_buffer(ctran_comm_t comm, void *buffer_addr, ctran_count_t *size);
CTRAN_API int ctran_session_detach_buffer(ctran_session_t session, void *buffer_addr,
                                          ctran_count_t *size);

/* Waits for the messages that are in the buffer now, as detaching does, but the buffer stays; later
 * ones do not count. The nonblocking forms give a request, which cannot be cancelled.
 * CTRAN_ERR_BUFFER where there is none. Source: MPI-4.1 sec. 3.6. */
CTRAN_API int ctran_buffer_flush(void);
CTRAN_API int ctran_buffer_iflush(ctran_request_t *request);
CTRAN_API int ctran_comm_flush_buffer(ctran_comm_t comm);
CTRAN_API int ctran_comm_iflush_buffer(ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_session_flush_buffer(ctran_session_t session);
CTRAN_API int ctran_session_iflush_buffer(ctran_session_t session, ctran_request_t *request);

/* A buffered send: copies the message to a buffer and never waits for the receiver; buf may be used
 * again at once. CTRAN_ERR_BUFFER where the buffer has no room, or there is none; CTRAN_ERR_NO_MEM
 * of an automatic one. That the receiver dies later goes unreported. Source: MPI-4.1 sec. 3.4. */
CTRAN_API int ctran_bsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                          int tag, ctran_comm_t comm);
CTRAN_API int ctran_ibsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                           int dest, int tag, ctran_comm_t comm, ctran_request_t *request);

/* Sends and receives at once, without deadlock whatever the partners do. The buffers are disjoint.
 * status is that of the receive. Source: MPI-4.1 sec. 3.10. */
CTRAN_API int ctran_sendrecv(const void *sendbuf, ctran_count_t sendcount,
                             ctran_datatype_t sendtype, int dest, int sendtag, void *recvbuf,
                             ctran_count_t recvcount, ctran_datatype_t recvtype, int source,
                             int recvtag, ctran_comm_t comm, ctran_status_t *status);

/* The same with one buffer: what it holds is sent, then replaced by what comes. Errors, too:
 * CTRAN_ERR_NO_MEM, for a copy of the buffer. Source: MPI-4.1 sec. 3.10. */
CTRAN_API int ctran_sendrecv_replace(void *buf, ctran_count_t count, ctran_datatype_t datatype,
                                     int dest, int sendtag, int source, int recvtag,
                                     ctran_comm_t comm, ctran_status_t *status);

/* Both, nonblocking: one request for the send and the receive, whose status it has. It cannot be
 * cancelled. _replace sends a copy of the buffer. Source: MPI-4.1 sec. 3.10. */
CTRAN_API int ctran_isendrecv(const void *sendbuf, ctran_count_t sendcount,
                              ctran_datatype_t sendtype, int dest, int sendtag, void *recvbuf,
                              ctran_count_t recvcount, ctran_datatype_t recvtype, int source,
                              int recvtag, ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_isendrecv_replace(void *buf, ctran_count_t count, ctran_datatype_t datatype,
                                      int dest, int sendtag, int source, int recvtag,
                                      ctran_comm_t comm, ctran_request_t *request);

/* The number of elements of `datatype` that the receive of `status` got; CTRAN_UNDEFINED where that
 * is no whole number. Local. Source: MPI-4.1 sec. 3.2.5. */
CTRAN_API int ctran_get_count(const ctran_status_t *status, ctran_datatype_t datatype,
                              ctran_count_t *count);

/* The number of basic elements, the scalars that `datatype` is made of at last, that it got: also
 * where the last element of datatype is not whole. A pair counts as two. CTRAN_UNDEFINED where a
 * scalar is cut. Local. Source: MPI-4.1 sec. 5.1.11. */
CTRAN_API int ctran_get_elements(const ctran_status_t *status, ctran_datatype_t datatype,
                                 ctran_count_t *count);

/* Waits for a message that a receive with these arguments would get, and tells of it in status; it
 * stays where it is. CTRAN_PROC_NULL always has one, empty. Source: MPI-4.1 sec. 3.8.1. */
CTRAN_API int ctran_probe(int source, int tag, ctran_comm_t comm, ctran_status_t *status);

/* The same without waiting: *flag is 1 when there is one, else 0 and status is not touched. Drives
 * transfers once; gives the core away as a test does. Source: MPI-4.1 sec. 3.8.1. */
CTRAN_API int ctran_iprobe(int source, int tag, ctran_comm_t comm, int *flag,
                           ctran_status_t *status);

/* The same, but the message leaves the line: no receive and no probe finds it any more. *message is
 * the caller's, to be given to ctran_mrecv or ctran_imrecv once; it is CTRAN_MESSAGE_NO_PROC from
 * CTRAN_PROC_NULL. Source: MPI-4.1 sec. 3.8.2. */
CTRAN_API int ctran_mprobe(int source, int tag, ctran_comm_t comm, ctran_message_t *message,
                           ctran_status_t *status);
CTRAN_API int ctran_improbe(int source, int tag, ctran_comm_t comm, int *flag,
                            ctran_message_t *message, ctran_status_t *status);

/* Receive that message, and set *message to CTRAN_MESSAGE_NULL. Errors are handled by the
 * communicator of the probe; CTRAN_ERR_REQUEST where *message is null. Source: MPI-4.1
 * sec. 3.8.3. */
CTRAN_API int ctran_mrecv(void *buf, ctran_count_t count, ctran_datatype_t datatype,
                          ctran_message_t *message, ctran_status_t *status);
CTRAN_API int ctran_imrecv(void *buf, ctran_count_t count, ctran_datatype_t datatype,
                           ctran_message_t *message, ctran_request_t *request);

/* ---------------------------------------------------------------------------------------------
 * Completion. A completed request is freed and its handle set to CTRAN_REQUEST_NULL, also when its
 * operation failed. Null requests are allowed: wait, test and the "all" forms give them an empty
 * status (source CTRAN_ANY_SOURCE, tag CTRAN_ANY_TAG, count 0), the "any" and "some" forms pass
 * them over. Statuses may be CTRAN_STATUS(ES)_IGNORE. A wait blocks; a test drives transfers once
 * and never blocks. After several tests in a row that found nothing, a test gives the core away
 * once, unless the program computes between them. The calls that complete one request return its
 * error. Those that may complete several return CTRAN_ERR_IN_STATUS when one of them failed, and
 * set CTRAN_ERROR in each status; the "all" forms wait for every request before they say so.
 * Source: MPI-4.1 sec. 3.7.
 * ------------------------------------------------------------------------------------------ */
CTRAN_API int ctran_wait(ctran_request_t *request, ctran_status_t *status);
CTRAN_API int ctran_test(ctran_request_t *request, int *flag, ctran_status_t *status);

/* All of `count` requests. */
CTRAN_API int ctran_waitall(int count, ctran_request_t requests[], ctran_status_t statuses[]);
CTRAN_API int ctran_testall(int count, ctran_request_t requests[], int *flag,
                            ctran_status_t statuses[]);

/* One of them: *index says which; CTRAN_UNDEFINED where all are null (test: *flag is 1 then, too)
 * and where a test finds none complete. */
CTRAN_API int ctran_waitany(int count, ctran_request_t requests[], int *index,
                            ctran_status_t *status);
CTRAN_API int ctran_testany(int count, ctran_request_t requests[], int *index, int *flag,
                            ctran_status_t *status);

/* At least one (wait), or any number (test): their *outcount indices and statuses; CTRAN_UNDEFINED
 * where all are null. */
CTRAN_API int ctran_waitsome(int incount, ctran_request_t requests[], int *outcount, int indices[],
                             ctran_status_t statuses[]);
CTRAN_API int ctran_testsome(int incount, ctran_request_t requests[], int *outcount, int indices[],
                             ctran_status_t statuses[]);

/* Marks *request for freeing once it completes, and sets it to CTRAN_REQUEST_NULL. Local. Errors:
 * CTRAN_ERR_REQUEST, also for a collective under way, and for a started partitioned send with a
 * partition that is not ready, which would never complete. Source: MPI-4.1 sec. 3.7.3. */
CTRAN_API int ctran_request_free(ctran_request_t *request);

/* Persistent requests: the arguments of a transfer, to be started any number of times. *request is
 * inactive until started; completing calls take an inactive one for null, and make it inactive
 * again instead of freeing it. ctran_request_free frees it. Local. Source: MPI-4.1 sec. 3.9. */
CTRAN_API int ctran_send_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                              int dest, int tag, ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_bsend_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                               int dest, int tag, ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ssend_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                               int dest, int tag, ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_rsend_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                               int dest, int tag, ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_recv_init(void *buf, ctran_count_t count, ctran_datatype_t datatype, int source,
                              int tag, ctran_comm_t comm, ctran_request_t *request);

/* Starts inactive persistent requests; the buffers are borrowed until they complete. A failure
 * leaves those before it started. Local. Errors: CTRAN_ERR_REQUEST for others, CTRAN_ERR_BUFFER for
 * a buffered send without room. Source: MPI-4.1 sec. 3.9. */
CTRAN_API int ctran_start(ctran_request_t *request);
CTRAN_API int ctran_startall(int count, ctran_request_t requests[]);

/* ---------------------------------------------------------------------------------------------
 * Partitioned messages: persistent transfers of `partitions` times count elements, which the sender
 * hands over part by part. Both ends give the same total; their partitions may differ. The ends
 * meet in the order in which they are made, by (comm, rank, tag), without wildcards and apart from
 * all other messages. Source: MPI-4.1 ch. 4.
 * ------------------------------------------------------------------------------------------ */

/* *request is inactive until ctran_start. A send is complete when all of its partitions have been
 * marked ready and the buffer may be used again; until a partition is marked, it may be written. A
 * receive is complete when all has arrived; its error is CTRAN_ERR_COUNT where the totals differ.
 * Wait, test and free as for other persistent requests; there is no cancelling. info may be
 * CTRAN_INFO_NULL, no key is known yet. Local. Errors: as ctran_send_init; CTRAN_ERR_RANK,
 * CTRAN_ERR_TAG for wildcards, CTRAN_ERR_COUNT. Source: MPI-4.1 sec. 4.2.1. */
CTRAN_API int ctran_psend_init(const void *buf, int partitions, ctran_count_t count,
                               ctran_datatype_t datatype, int dest, int tag, ctran_comm_t comm,
                               ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_precv_init(void *buf, int partitions, ctran_count_t count,
                               ctran_datatype_t datatype, int source, int tag, ctran_comm_t comm,
                               ctran_info_t info, ctran_request_t *request);

/* Marks partitions of a started send as ready: one; low to high, both included; those of a list.
 * Each once a start. Several threads may do so at once where the thread level allows calls at once.
 * Small partitions may travel together, so marking many in one call is cheaper. Local. Errors,
 * which mark none: CTRAN_ERR_REQUEST where it is no partitioned send or has not been started,
 * CTRAN_ERR_ARG for a partition that it does not have or that was marked. Source: MPI-4.1
 * sec. 4.2.1. */
CTRAN_API int ctran_pready(int partition, ctran_request_t request);
CTRAN_API int ctran_pready_range(int partition_low, int partition_high, ctran_request_t request);
CTRAN_API int ctran_pready_list(int length, const int array_of_partitions[],
                                ctran_request_t request);

/* *flag is 1 when a partition of this receive (as the receive counts them) is there, or the request
 * is null or inactive. Drives transfers once. Errors: CTRAN_ERR_REQUEST where it is no partitioned
 * receive, CTRAN_ERR_ARG; the operation's own once it has failed. Source: MPI-4.1 sec. 4.2.2. */
CTRAN_API int ctran_parrived(ctran_request_t request, int partition, int *flag);

/* ---------------------------------------------------------------------------------------------
 * Generalized requests: operations of the program's own that waits, tests and ctran_request_free
 * take like any other. Source: MPI-4.1 sec. 13.2.
 * ------------------------------------------------------------------------------------------ */

/* Called, each with the request's extra_state, by the call that wants a status (which is empty at
 * first; its error is that call's); by the one that frees the request, once; and by ctran_cancel,
 * with whether the operation is complete already. No lock is held. */
typedef int ctran_grequest_query_function(void *extra_state, ctran_status_t *status);
typedef int ctran_grequest_free_function(void *extra_state);
typedef int ctran_grequest_cancel_function(void *extra_state, int complete);

/* *request is an active request with these functions, each of which may be NULL: there is nothing
 * to do then. Local. Errors: CTRAN_ERR_NO_MEM. */
CTRAN_API int ctran_grequest_start(ctran_grequest_query_function  *query_fn,
                                   ctran_grequest_free_function   *free_fn,
                                   ctran_grequest_cancel_function *cancel_fn, void *extra_state,
                                   ctran_request_t *request);

/* Its operation is complete: waits for it end. Once a request, also by another thread, where the
 * thread level allows calls at once. Local. Errors: CTRAN_ERR_REQUEST for other requests. */
CTRAN_API int ctran_grequest_complete(ctran_request_t request);

/* Make a status say that `count` basic elements of datatype came (those of ctran_get_elements), and
 * whether the operation was cancelled. Local. Errors: CTRAN_ERR_ARG for CTRAN_STATUS_IGNORE,
 * CTRAN_ERR_TYPE, CTRAN_ERR_COUNT. Source: MPI-4.1 sec. 13.3. */
CTRAN_API int ctran_status_set_elements(ctran_status_t *status, ctran_datatype_t datatype,
                                        ctran_count_t count);
CTRAN_API int ctran_status_set_cancelled(ctran_status_t *status, int flag);

/* *flag is 1 when `request` is complete, with its status; it stays as it is, to be completed by a
 * wait or test. Drives transfers once. A null request has the empty status. The operation's own
 * error comes with that wait or test. Source: MPI-4.1 sec. 3.7.6. */
CTRAN_API int ctran_request_get_status(ctran_request_t request, int *flag, ctran_status_t *status);

/* The same for several, as ctran_testall, _testany and _testsome have it, but that they all stay as
 * they are. Where there are statuses, each has its operation's own error, too.
 * Source: MPI-4.1 sec. 3.7.6. */
CTRAN_API int ctran_request_get_status_all(int count, const ctran_request_t requests[], int *flag,
                                           ctran_status_t statuses[]);
CTRAN_API int ctran_request_get_status_any(int count, const ctran_request_t requests[], int *index,
                                           int *flag, ctran_status_t *status);
CTRAN_API int ctran_request_get_status_some(int incount, const ctran_request_t requests[],
                                            int *outcount, int indices[],
                                            ctran_status_t statuses[]);

/* Asks for *request to end without effect; it must still be completed or freed. A receive that has
 * no message yet ends at once, and ctran_test_cancelled says so of its status; a send is never
 * cancelled, nor is what has its message. Local. Errors: CTRAN_ERR_REQUEST where it is null.
 * Source: MPI-4.1 sec. 3.8.4. */
CTRAN_API int ctran_cancel(ctran_request_t *request);

/* *flag is 1 when the operation of `status` was cancelled. Local. Source: MPI-4.1 sec. 3.8.4. */
CTRAN_API int ctran_test_cancelled(const ctran_status_t *status, int *flag);

/* ---------------------------------------------------------------------------------------------
 * Datatypes
 *
 * A derived datatype says where in memory the elements of others are, and in which order they
 * travel: its type map. Both ends of a message may have different ones, as long as their scalars
 * are the same in the same order. A constructor gives a handle, which is the caller's, to be freed
 * by ctran_type_free; types that it was made of may be freed before. It describes at once, however
 * large it is, and moves data only once it was committed: an uncommitted one gives CTRAN_ERR_TYPE.
 * What is regular (blocks, columns, parts of arrays) costs the same however many elements it has.
 * Blocks that do not touch one another are gathered and scattered as they travel, without a copy of
 * the whole; collectives work on copies without gaps.
 *
 * All are local. Any thread may use a datatype that another is using. Errors: CTRAN_ERR_TYPE for
 * what is no datatype, CTRAN_ERR_COUNT for a count < 0 and for a type that is more than memory can
 * hold, CTRAN_ERR_ARG for another bad argument, CTRAN_ERR_NO_MEM. Source: MPI-4.1 ch. 5.
 *
 * Example: column 3 of `double m[100][50]` is 100 blocks of one double, 50 doubles apart:
 *
 *     ctran_type_vector(100, 1, 50, CTRAN_DOUBLE, &column);
 *     ctran_type_commit(&column);
 *     ctran_send(&m[0][3], 1, column, dest, tag, comm);
 * ------------------------------------------------------------------------------------------ */

/* `count` elements one after the other. Source: MPI-4.1 sec. 5.1.2, as all of these. */
CTRAN_API int ctran_type_contiguous(ctran_count_t count, ctran_datatype_t oldtype,
                                    ctran_datatype_t *newtype);

/* `count` blocks of `blocklength` elements, their starts `stride` extents of oldtype apart;
 * hvector: `stride` bytes. */
CTRAN_API int ctran_type_vector(ctran_count_t count, ctran_count_t blocklength,
                                ctran_count_t stride, ctran_datatype_t oldtype,
                                ctran_datatype_t *newtype);
CTRAN_API int ctran_type_create_hvector(ctran_count_t count, ctran_count_t blocklength,
                                        ctran_count_t stride, ctran_datatype_t oldtype,
                                        ctran_datatype_t *newtype);

/* `count` blocks, each with a length and a displacement of its own, this in extents of oldtype or,
 * for hindexed, in bytes; the "block" forms: all of one length. */
CTRAN_API int ctran_type_indexed(ctran_count_t count, const ctran_count_t array_of_blocklengths[],
                                 const ctran_count_t array_of_displacements[],
                                 ctran_datatype_t oldtype, ctran_datatype_t *newtype);
CTRAN_API int ctran_type_create_hindexed(ctran_count_t       count,
                                         const ctran_count_t array_of_blocklengths[],
                                         const ctran_count_t array_of_displacements[],
                                         ctran_datatype_t oldtype, ctran_datatype_t *newtype);
CTRAN_API int ctran_type_create_indexed_block(ctran_count_t count, ctran_count_t blocklength,
                                              const ctran_count_t array_of_displacements[],
                                              ctran_datatype_t oldtype, ctran_datatype_t *newtype);
CTRAN_API int ctran_type_create_hindexed_block(ctran_count_t count, ctran_count_t blocklength,
                                               const ctran_count_t array_of_displacements[],
                                               ctran_datatype_t oldtype, ctran_datatype_t *newtype);

/* `count` blocks, each with a datatype, a length and a displacement in bytes. The extent is rounded
 * up to what the strictest scalar wants, as a C compiler does. */
CTRAN_API int ctran_type_create_struct(ctran_count_t          count,
                                       const ctran_count_t    array_of_blocklengths[],
                                       const ctran_count_t    array_of_displacements[],
                                       const ctran_datatype_t array_of_types[],
                                       ctran_datatype_t      *newtype);

/* The part of an array of ndims >= 1 dimensions that has subsizes[i] >= 1 elements from starts[i]
 * on in dimension i of sizes[i]; its extent is the whole array's. order: CTRAN_ORDER_C, the last
 * index varies fastest, or CTRAN_ORDER_FORTRAN, the first. Source: MPI-4.1 sec. 5.1.3. */
CTRAN_API int ctran_type_create_subarray(int ndims, const ctran_count_t array_of_sizes[],
                                         const ctran_count_t array_of_subsizes[],
                                         const ctran_count_t array_of_starts[], int order,
                                         ctran_datatype_t oldtype, ctran_datatype_t *newtype);

/* What process `rank` of `size` has of an array that is distributed over a grid of psizes[0] x ...
 * processes, row by row. Dimension i is dealt out in blocks of dargs[i] elements: one to each
 * process (CTRAN_DISTRIBUTE_BLOCK), round and round (_CYCLIC), or not at all (_NONE, psizes[i] is
 * 1). CTRAN_DISTRIBUTE_DFLT_DARG, whose ABI value is 19, stands for blocks of equal length, or of
 * 1. The extent is the whole array's. Source: MPI-4.1 sec. 5.1.4. */
CTRAN_API int ctran_type_create_darray(int size, int rank, int ndims,
                                       const ctran_count_t array_of_gsizes[],
                                       const int array_of_distribs[], const int array_of_dargs[],
                                       const int array_of_psizes[], int order,
                                       ctran_datatype_t oldtype, ctran_datatype_t *newtype);

/* The same data, but its elements begin at lb and are `extent` apart. Source: MPI-4.1 sec. 5.1.7.
 * Example: as the extent of a column is nearly the matrix, for all 50 columns one after the other
 * each begins a double after the one before:
 *
 *     ctran_type_create_resized(column, 0, sizeof(double), &next_to_next);
 */
CTRAN_API int ctran_type_create_resized(ctran_datatype_t oldtype, ctran_count_t lb,
                                        ctran_count_t extent, ctran_datatype_t *newtype);

/* A copy, committed if oldtype is, with the attributes that their functions let pass. Source:
 * MPI-4.1 sec. 5.1.10. */
CTRAN_API int ctran_type_dup(ctran_datatype_t oldtype, ctran_datatype_t *newtype);

/* Lets it move data; a second time, or of a predefined one, nothing happens. Source: MPI-4.1
 * sec. 5.1.9. */
CTRAN_API int ctran_type_commit(ctran_datatype_t *datatype);

/* Gives the handle back and sets it to CTRAN_DATATYPE_NULL. Pending operations with it go on, and
 * types made of it stay. Errors: also CTRAN_ERR_TYPE for a predefined one. Source: MPI-4.1
 * sec. 5.1.9. */
CTRAN_API int ctran_type_free(ctran_datatype_t *datatype);

/* Bytes of data in one element. Source: MPI-4.1 sec. 5.1.5. */
CTRAN_API int ctran_type_size(ctran_datatype_t datatype, ctran_count_t *size);

/* Where an element begins, and how far from it the next one does: as its constructor says, ... */
CTRAN_API int ctran_type_get_extent(ctran_datatype_t datatype, ctran_count_t *lb,
                                    ctran_count_t *extent);
/* ... and its data alone, whatever it says. Source: MPI-4.1 sec. 5.1.7 and 5.1.8. */
CTRAN_API int ctran_type_get_true_extent(ctran_datatype_t datatype, ctran_count_t *true_lb,
                                         ctran_count_t *true_extent);

/* How it was made: what its constructor was given, in the order of MPI-4.1 sec. 5.1.13, counts and
 * displacements as large counts; there are no addresses. The maxima are at least what the envelope
 * says. Datatypes that come out are the caller's to free, but for predefined ones. A predefined
 * datatype is CTRAN_COMBINER_NAMED and has no contents: CTRAN_ERR_TYPE. */
CTRAN_API int ctran_type_get_envelope(ctran_datatype_t datatype, ctran_count_t *num_integers,
                                      ctran_count_t *num_addresses, ctran_count_t *num_large_counts,
                                      ctran_count_t *num_datatypes, int *combiner);
CTRAN_API int ctran_type_get_contents(ctran_datatype_t datatype, ctran_count_t max_integers,
                                      ctran_count_t max_addresses, ctran_count_t max_large_counts,
                                      ctran_count_t max_datatypes, int array_of_integers[],
                                      ctran_aint_t     array_of_addresses[],
                                      ctran_count_t    array_of_large_counts[],
                                      ctran_datatype_t array_of_datatypes[]);

/* The name of a datatype, for messages and tools: at first that of a predefined one, which may be
 * changed, else "". As ctran_comm_set_name and _get_name. Source: MPI-4.1 sec. 7.8. */
CTRAN_API int ctran_type_set_name(ctran_datatype_t datatype, const char *type_name);
CTRAN_API int ctran_type_get_name(ctran_datatype_t datatype, char *type_name, int *resultlen);

/* Attributes of datatypes, predefined ones too: as those of communicators, with keys of their own.
 * Their functions run in ctran_type_dup, and in ctran_type_free, ctran_type_delete_attr and
 * ctran_type_set_attr. Source: MPI-4.1 sec. 7.7.4. */
typedef int ctran_type_copy_attr_function(ctran_datatype_t oldtype, int type_keyval,
                                          void *extra_state, void *attribute_val_in,
                                          void *attribute_val_out, int *flag);
typedef int ctran_type_delete_attr_function(ctran_datatype_t datatype, int type_keyval,
                                            void *attribute_val, void *extra_state);
#define CTRAN_TYPE_NULL_COPY_FN   ((ctran_type_copy_attr_function *)0) /* not copied */
#define CTRAN_TYPE_DUP_FN         ((ctran_type_copy_attr_function *)1) /* the pointer is */
#define CTRAN_TYPE_NULL_DELETE_FN ((ctran_type_delete_attr_function *)0)
CTRAN_API int ctran_type_create_keyval(ctran_type_copy_attr_function   *type_copy_attr_fn,
                                       ctran_type_delete_attr_function *type_delete_attr_fn,
                                       int *type_keyval, void *extra_state);
CTRAN_API int ctran_type_free_keyval(int *type_keyval);
CTRAN_API int ctran_type_set_attr(ctran_datatype_t datatype, int type_keyval, void *attribute_val);
CTRAN_API int ctran_type_get_attr(ctran_datatype_t datatype, int type_keyval, void *attribute_val,
                                  int *flag);
CTRAN_API int ctran_type_delete_attr(ctran_datatype_t datatype, int type_keyval);

/* The predefined datatype of `size` bytes in a CTRAN_TYPECLASS_*: the C types, and CTRAN_FLOAT16
 * for 2 bytes. CTRAN_ERR_ARG where there is none. Source: MPI-4.1 sec. 19.1.9. */
CTRAN_API int ctran_type_match_size(int typeclass, int size, ctran_datatype_t *datatype);

/* The address of location, to be used as a displacement; sums and differences of such. Any thread,
 * any time. Source: MPI-4.1 sec. 5.1.5 and 5.1.12. */
CTRAN_API int          ctran_get_address(const void *location, ctran_aint_t *address);
CTRAN_API ctran_aint_t ctran_aint_add(ctran_aint_t base, ctran_aint_t disp);
CTRAN_API ctran_aint_t ctran_aint_diff(ctran_aint_t addr1, ctran_aint_t addr2);

/* ---------------------------------------------------------------------------------------------
 * Packing: elements of any committed datatype to and from memory without gaps. Packed data are sent
 * and received as CTRAN_PACKED; they may also be received as what was packed, and the reverse. All
 * are local. *position is where in the packed buffer to begin, and is moved behind. Errors: as for
 * datatypes; CTRAN_ERR_ARG where the packed buffer is too short. Source: MPI-4.1 sec. 5.2 and 5.3.
 * ------------------------------------------------------------------------------------------ */
CTRAN_API int ctran_pack(const void *inbuf, ctran_count_t incount, ctran_datatype_t datatype,
                         void *outbuf, ctran_count_t outsize, ctran_count_t *position,
                         ctran_comm_t comm);
CTRAN_API int ctran_unpack(const void *inbuf, ctran_count_t insize, ctran_count_t *position,
                           void *outbuf, ctran_count_t outcount, ctran_datatype_t datatype,
                           ctran_comm_t comm);

/* The bytes that ctran_pack takes for it: no more than the data. */
CTRAN_API int ctran_pack_size(ctran_count_t incount, ctran_datatype_t datatype, ctran_comm_t comm,
                              ctran_count_t *size);

/* The same in the representation datarep, which is "external32" (MPI-4.1 sec. 14.5.2): big endian,
 * and of the same size everywhere. There, long has 4 bytes: the upper ones are lost. Errors: also
 * CTRAN_ERR_UNSUPPORTED_DATAREP. */
CTRAN_API int ctran_pack_external(const char datarep[], const void *inbuf, ctran_count_t incount,
                                  ctran_datatype_t datatype, void *outbuf, ctran_count_t outsize,
                                  ctran_count_t *position);
CTRAN_API int ctran_unpack_external(const char datarep[], const void *inbuf, ctran_count_t insize,
                                    ctran_count_t *position, void *outbuf, ctran_count_t outcount,
                                    ctran_datatype_t datatype);
CTRAN_API int ctran_pack_external_size(const char datarep[], ctran_count_t incount,
                                       ctran_datatype_t datatype, ctran_count_t *size);

/* ---------------------------------------------------------------------------------------------
 * Reduction operators
 * ------------------------------------------------------------------------------------------ */

/* inoutvec[i] = invec[i] op inoutvec[i] for the *len elements of *datatype. It may be called on any
 * part of a buffer, any number of times, and by any thread that drives transfers; no lock is held.
 * A result may depend on its two elements only. The function calls nothing of ctran but
 * ctran_abort. Source: MPI-4.1 sec. 6.9.5. */
typedef void ctran_user_function(void *invec, void *inoutvec, ctran_count_t *len,
                                 ctran_datatype_t *datatype);

/* *op is a new operator, for every datatype that the function understands, in all reductions; the
 * function is associative. Where `commute` is 0 it is applied in order of ranks; else the order
 * depends on the same as that of predefined operators. *op is the caller's, to be freed by
 * ctran_op_free. Local. Errors: CTRAN_ERR_ARG for NULL, CTRAN_ERR_NO_MEM. Source: MPI-4.1
 * sec. 6.9.5. */
CTRAN_API int ctran_op_create(ctran_user_function *user_fn, int commute, ctran_op_t *op);

/* Gives *op up, and sets it to CTRAN_OP_NULL; reductions under way go on. Local. Errors:
 * CTRAN_ERR_OP where it is predefined, or is no operator. Source: MPI-4.1 sec. 6.9.5. */
CTRAN_API int ctran_op_free(ctran_op_t *op);

/* *commute is 1 where op may be applied in any order, else 0. Local. Source: MPI-4.1 sec. 6.9.7. */
CTRAN_API int ctran_op_commutative(ctran_op_t op, int *commute);

/* inoutbuf = inbuf combined with inoutbuf, in this order. Local. Source: MPI-4.1 sec. 6.9.7. */
CTRAN_API int ctran_reduce_local(const void *inbuf, void *inoutbuf, ctran_count_t count,
                                 ctran_datatype_t datatype, ctran_op_t op);

/* ---------------------------------------------------------------------------------------------
 * Collectives: called by every rank of comm, in the same order, with matching arguments. Counts may
 * be 0. sendbuf may be CTRAN_IN_PLACE where said; else buffers do not overlap, which gives
 * CTRAN_ERR_BUFFER where it is seen. Blocking. Errors as for point-to-point, CTRAN_ERR_ROOT, and
 * CTRAN_ERR_OP where the operator is not defined for the datatype. The order of a reduction, and so
 * the bits of a floating-point result, depends on ranks, count, type, operator, the algorithms
 * configured and, unless CTRAN_REPRODUCIBLE is 1, the placement of ranks on hosts; never on timing.
 * Source: MPI-4.1 ch. 6.
 *
 * On an inter-communicator data go from each group to the other: there is a block for each rank of
 * the remote group, and a reduction's result is of the remote group's input. With a root they go
 * one way: the root gives CTRAN_ROOT, the others of its group CTRAN_PROC_NULL, which ends the call
 * at once, and those of the other group the root's rank. What one group sends is as long as what
 * the other receives for it; a reduction's count, or the sum of reduce_scatter's, is the same in
 * both. CTRAN_ERR_COMM from calls that do not take it.
 * ------------------------------------------------------------------------------------------ */

/* Returns once all ranks of comm have called it. */
CTRAN_API int ctran_barrier(ctran_comm_t comm);

/* Copies root's buffer to all. */
CTRAN_API int ctran_bcast(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root,
                          ctran_comm_t comm);

/* recvbuf at root = the ranks' sendbufs combined, element by element. recvbuf matters at root
 * only, where sendbuf may be CTRAN_IN_PLACE. */
CTRAN_API int ctran_reduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                           ctran_datatype_t datatype, ctran_op_t op, int root, ctran_comm_t comm);

/* The same, the result at every rank; sendbuf may be CTRAN_IN_PLACE (at all ranks alike). */
CTRAN_API int ctran_allreduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                              ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm);

/* recvbuf = the sendbufs of ranks 0 to the caller's combined, in rank order; sendbuf may be
 * CTRAN_IN_PLACE (at all ranks alike). */
CTRAN_API int ctran_scan(const void *sendbuf, void *recvbuf, ctran_count_t count,
                         ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm);

/* The same without the caller's own. At rank 0 recvbuf is left as it is and, but for
 * CTRAN_IN_PLACE, may be NULL. */
CTRAN_API int ctran_exscan(const void *sendbuf, void *recvbuf, ctran_count_t count,
                           ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm);

/* recvbuf = the ranks' sendbufs one after the other, recvcount elements of recvtype each.
 * CTRAN_IN_PLACE: the caller's part is already in its place in recvbuf. */
CTRAN_API int ctran_allgather(const void *sendbuf, ctran_count_t sendcount,
                              ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                              ctran_datatype_t recvtype, ctran_comm_t comm);

/* The same at root only; recvbuf, recvcount and recvtype matter there only, and sendbuf may be
 * CTRAN_IN_PLACE there only. */
CTRAN_API int ctran_gather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                           void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                           int root, ctran_comm_t comm);

/* The reverse: rank r's recvbuf = block r, sendcount elements of sendtype, of root's sendbuf.
 * sendbuf, sendcount and sendtype matter at root only, where recvbuf may be CTRAN_IN_PLACE: its
 * block stays where it is. */
CTRAN_API int ctran_scatter(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                            void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                            int root, ctran_comm_t comm);

/* Block r of recvbuf, recvcount elements of recvtype, = the caller's block of rank r's sendbuf.
 * CTRAN_IN_PLACE (at all ranks alike): what is sent is in recvbuf and is replaced, by way of a copy
 * of it all. */
CTRAN_API int ctran_alltoall(const void *sendbuf, ctran_count_t sendcount,
                             ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                             ctran_datatype_t recvtype, ctran_comm_t comm);

/* The same four with a count of its own for each block, and its displacement from the buffer's
 * start, in elements of the buffer's type. The two ends of a block give it the same length; only
 * the root of gatherv and scatterv gives any but its own, and only there the arrays matter. Blocks
 * that are received may not overlap. CTRAN_IN_PLACE as above; sendcounts and sdispls of alltoallv
 * are then ignored, too. */
CTRAN_API int ctran_allgatherv(const void *sendbuf, ctran_count_t sendcount,
                               ctran_datatype_t sendtype, void *recvbuf,
                               const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                               ctran_datatype_t recvtype, ctran_comm_t comm);
CTRAN_API int ctran_gatherv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                            void *recvbuf, const ctran_count_t recvcounts[],
                            const ctran_aint_t displs[], ctran_datatype_t recvtype, int root,
                            ctran_comm_t comm);
CTRAN_API int ctran_scatterv(const void *sendbuf, const ctran_count_t sendcounts[],
                             const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                             ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                             ctran_comm_t comm);
CTRAN_API int ctran_alltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                              const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                              void *recvbuf, const ctran_count_t recvcounts[],
                              const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                              ctran_comm_t comm);

/* The same with a datatype of its own for each block; displacements are in bytes. A type whose
 * count is 0 may be CTRAN_DATATYPE_NULL. */
CTRAN_API int ctran_alltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                              const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                              void *recvbuf, const ctran_count_t recvcounts[],
                              const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[],
                              ctran_comm_t comm);

/* Combines the ranks' sendbufs of size * recvcount elements and leaves block r, recvcount elements,
 * at rank r. CTRAN_IN_PLACE: the input is in recvbuf, whose first block receives the result; the
 * rest of it is undefined afterwards. */
CTRAN_API int ctran_reduce_scatter_block(const void *sendbuf, void *recvbuf,
                                         ctran_count_t recvcount, ctran_datatype_t datatype,
                                         ctran_op_t op, ctran_comm_t comm);

/* The same with blocks of different lengths: recvcounts[r] elements for each rank r, alike at all
 * ranks. recvbuf may be NULL at a rank whose count is 0. */
CTRAN_API int ctran_reduce_scatter(const void *sendbuf, void *recvbuf,
                                   const ctran_count_t recvcounts[], ctran_datatype_t datatype,
                                   ctran_op_t op, ctran_comm_t comm);

/* ---- the same as requests ---------------------------------------------------------------------
 * Each begins its collective and returns; the request ends as those of point-to-point do, in any
 * order and number of them, and with the status of nothing received. It goes on in every call that
 * drives transfers, or by itself with CTRAN_PROGRESS_THREAD. All ranks begin a communicator's
 * collectives, blocking ones included, in the same order; a nonblocking one meets none that blocks.
 * Buffers, arrays of counts, displacements and types are the library's until then; communicator,
 * datatypes and operator may be freed. An argument's error is told by the call, what goes wrong
 * later by the completion. ctran_cancel gives CTRAN_ERR_REQUEST, so does ctran_request_free until
 * the collective is done. They run algorithms of messages: where small collectives go through
 * memory that ranks share, a floating-point sum may have other bits than the blocking call's.
 * Source: MPI-4.1 sec. 6.12. */
CTRAN_API int ctran_ibarrier(ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ibcast(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root,
                           ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ireduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                            ctran_datatype_t datatype, ctran_op_t op, int root, ctran_comm_t comm,
                            ctran_request_t *request);
CTRAN_API int ctran_iallreduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                               ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                               ctran_request_t *request);
CTRAN_API int ctran_iscan(const void *sendbuf, void *recvbuf, ctran_count_t count,
                          ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                          ctran_request_t *request);
CTRAN_API int ctran_iexscan(const void *sendbuf, void *recvbuf, ctran_count_t count,
                            ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                            ctran_request_t *request);
CTRAN_API int ctran_iallgather(const void *sendbuf, ctran_count_t sendcount,
                               ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                               ctran_datatype_t recvtype, ctran_comm_t comm,
                               ctran_request_t *request);
CTRAN_API int ctran_igather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                            void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                            int root, ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_iscatter(const void *sendbuf, ctran_count_t sendcount,
                             ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                             ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                             ctran_request_t *request);
CTRAN_API int ctran_ialltoall(const void *sendbuf, ctran_count_t sendcount,
                              ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                              ctran_datatype_t recvtype, ctran_comm_t comm,
                              ctran_request_t *request);
CTRAN_API int ctran_iallgatherv(const void *sendbuf, ctran_count_t sendcount,
                                ctran_datatype_t sendtype, void *recvbuf,
                                const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                                ctran_datatype_t recvtype, ctran_comm_t comm,
                                ctran_request_t *request);
CTRAN_API int ctran_igatherv(const void *sendbuf, ctran_count_t sendcount,
                             ctran_datatype_t sendtype, void *recvbuf,
                             const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                             ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                             ctran_request_t *request);
CTRAN_API int ctran_iscatterv(const void *sendbuf, const ctran_count_t sendcounts[],
                              const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                              ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                              ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ialltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                               const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                               void *recvbuf, const ctran_count_t recvcounts[],
                               const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                               ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ialltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                               const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                               void *recvbuf, const ctran_count_t recvcounts[],
                               const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[],
                               ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ireduce_scatter_block(const void *sendbuf, void *recvbuf,
                                          ctran_count_t recvcount, ctran_datatype_t datatype,
                                          ctran_op_t op, ctran_comm_t comm,
                                          ctran_request_t *request);
CTRAN_API int ctran_ireduce_scatter(const void *sendbuf, void *recvbuf,
                                    const ctran_count_t recvcounts[], ctran_datatype_t datatype,
                                    ctran_op_t op, ctran_comm_t comm, ctran_request_t *request);

/* ---- the same prepared once -------------------------------------------------------------------
 * Each leaves an inactive request, which ctran_start and ctran_startall begin: from then on it is
 * as above until it has been completed, when it is inactive again, until ctran_request_free. All
 * ranks prepare a communicator's in the same order, and start them in any; what is said
 * above of buffers and arrays holds from here until it is freed. There are no hints for `info`. A
 * communicator has up to 32767 in its life, then CTRAN_ERR_UNSUPPORTED_OPERATION.
 * Local here: ranks meet when it is started. Source: MPI-4.1 sec. 6.13. */
CTRAN_API int ctran_barrier_init(ctran_comm_t comm, ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_bcast_init(void *buffer, ctran_count_t count, ctran_datatype_t datatype,
                               int root, ctran_comm_t comm, ctran_info_t info,
                               ctran_request_t *request);
CTRAN_API int ctran_reduce_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                                ctran_datatype_t datatype, ctran_op_t op, int root,
                                ctran_comm_t comm, ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_allreduce_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                                   ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                   ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_scan_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                              ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                              ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_exscan_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                                ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_allgather_init(const void *sendbuf, ctran_count_t sendcount,
                                   ctran_datatype_t sendtype, void *recvbuf,
                                   ctran_count_t recvcount, ctran_datatype_t recvtype,
                                   ctran_comm_t comm, ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_gather_init(const void *sendbuf, ctran_count_t sendcount,
                                ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                                ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                                ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_scatter_init(const void *sendbuf, ctran_count_t sendcount,
                                 ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                                 ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                                 ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_alltoall_init(const void *sendbuf, ctran_count_t sendcount,
                                  ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                                  ctran_datatype_t recvtype, ctran_comm_t comm, ctran_info_t info,
                                  ctran_request_t *request);
CTRAN_API int ctran_allgatherv_init(const void *sendbuf, ctran_count_t sendcount,
                                    ctran_datatype_t sendtype, void *recvbuf,
                                    const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                                    ctran_datatype_t recvtype, ctran_comm_t comm, ctran_info_t info,
                                    ctran_request_t *request);
CTRAN_API int ctran_gatherv_init(const void *sendbuf, ctran_count_t sendcount,
                                 ctran_datatype_t sendtype, void *recvbuf,
                                 const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                                 ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                                 ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_scatterv_init(const void *sendbuf, const ctran_count_t sendcounts[],
                                  const ctran_aint_t displs[], ctran_datatype_t sendtype,
                                  void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                                  int root, ctran_comm_t comm, ctran_info_t info,
                                  ctran_request_t *request);
CTRAN_API int ctran_alltoallv_init(const void *sendbuf, const ctran_count_t sendcounts[],
                                   const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                                   void *recvbuf, const ctran_count_t recvcounts[],
                                   const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                                   ctran_comm_t comm, ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_alltoallw_init(const void *sendbuf, const ctran_count_t sendcounts[],
                                   const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                                   void *recvbuf, const ctran_count_t recvcounts[],
                                   const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[],
                                   ctran_comm_t comm, ctran_info_t info, ctran_request_t *request);
CTRAN_API int ctran_reduce_scatter_block_init(const void *sendbuf, void *recvbuf,
                                              ctran_count_t recvcount, ctran_datatype_t datatype,
                                              ctran_op_t op, ctran_comm_t comm, ctran_info_t info,
                                              ctran_request_t *request);
CTRAN_API int ctran_reduce_scatter_init(const void *sendbuf, void *recvbuf,
                                        const ctran_count_t recvcounts[], ctran_datatype_t datatype,
                                        ctran_op_t op, ctran_comm_t comm, ctran_info_t info,
                                        ctran_request_t *request);
/* ---------------------------------------------------------------------------------------------
 * Collectives of neighbours: in a communicator with a topology each rank sends a block to each of
 * its destinations and receives one from each of its sources. Block j of sendbuf is for the j-th
 * destination, block i of recvbuf from the i-th source:
 *   of a grid     2 * ndims of both: for each dimension the rank before, then the one behind; what
 *                 goes backwards arrives from ahead, and the reverse
 *   of a graph    the neighbours, as ctran_graph_neighbors lists them
 *   otherwise     as ctran_dist_graph_neighbors lists them; of several edges between the same ranks
 *                 the first here is the first there
 * Beyond the edge of a grid is CTRAN_PROC_NULL: its blocks are in the buffers but are neither read
 * nor written. The two ends of an edge give a block the same length. Buffers are disjoint, and none
 * may be CTRAN_IN_PLACE. All ranks of comm call, also those without neighbours; nobody waits for
 * any but its own neighbours. Source: MPI-4.1 sec. 8.6 to 8.8.
 * Errors, besides those of the other collectives: CTRAN_ERR_TOPOLOGY where comm has none, or one of
 * ctran_graph_create in which a rank has another for a neighbour more often than that one has it;
 * CTRAN_ERR_TRUNCATE where a block is longer than the receiver said, while all others arrive.
 * ------------------------------------------------------------------------------------------ */

/* The same sendcount elements to all; recvcount elements from each, one block after the other. */
CTRAN_API int ctran_neighbor_allgather(const void *sendbuf, ctran_count_t sendcount,
                                       ctran_datatype_t sendtype, void *recvbuf,
                                       ctran_count_t recvcount, ctran_datatype_t recvtype,
                                       ctran_comm_t comm);
/* sendcount elements to each; the rest as above. */
CTRAN_API int ctran_neighbor_alltoall(const void *sendbuf, ctran_count_t sendcount,
                                      ctran_datatype_t sendtype, void *recvbuf,
                                      ctran_count_t recvcount, ctran_datatype_t recvtype,
                                      ctran_comm_t comm);

/* The same two with a count of its own for each block, and its displacement from the buffer's
 * start, in elements of the buffer's type. */
CTRAN_API int ctran_neighbor_allgatherv(const void *sendbuf, ctran_count_t sendcount,
                                        ctran_datatype_t sendtype, void *recvbuf,
                                        const ctran_count_t recvcounts[],
                                        const ctran_aint_t displs[], ctran_datatype_t recvtype,
                                        ctran_comm_t comm);
CTRAN_API int ctran_neighbor_alltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                                       const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                                       void *recvbuf, const ctran_count_t recvcounts[],
                                       const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                                       ctran_comm_t comm);

/* And with a datatype of its own for each block; displacements are in bytes. */
CTRAN_API int ctran_neighbor_alltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                                       const ctran_aint_t     sdispls[],
                                       const ctran_datatype_t sendtypes[], void *recvbuf,
                                       const ctran_count_t    recvcounts[],
                                       const ctran_aint_t     rdispls[],
                                       const ctran_datatype_t recvtypes[], ctran_comm_t comm);

/* The same as requests, and prepared once: as those of the other collectives. Source: MPI-4.1 sec.
 * 8.7, 8.8. */
CTRAN_API int ctran_ineighbor_allgather(const void *sendbuf, ctran_count_t sendcount,
                                        ctran_datatype_t sendtype, void *recvbuf,
                                        ctran_count_t recvcount, ctran_datatype_t recvtype,
                                        ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ineighbor_allgatherv(const void *sendbuf, ctran_count_t sendcount,
                                         ctran_datatype_t sendtype, void *recvbuf,
                                         const ctran_count_t recvcounts[],
                                         const ctran_aint_t displs[], ctran_datatype_t recvtype,
                                         ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ineighbor_alltoall(const void *sendbuf, ctran_count_t sendcount,
                                       ctran_datatype_t sendtype, void *recvbuf,
                                       ctran_count_t recvcount, ctran_datatype_t recvtype,
                                       ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ineighbor_alltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                                        const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                                        void *recvbuf, const ctran_count_t recvcounts[],
                                        const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                                        ctran_comm_t comm, ctran_request_t *request);
CTRAN_API int ctran_ineighbor_alltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                                        const ctran_aint_t     sdispls[],
                                        const ctran_datatype_t sendtypes[], void *recvbuf,
                                        const ctran_count_t    recvcounts[],
                                        const ctran_aint_t     rdispls[],
                                        const ctran_datatype_t recvtypes[], ctran_comm_t comm,
                                        ctran_request_t *request);

CTRAN_API int ctran_neighbor_allgather_init(const void *sendbuf, ctran_count_t sendcount,
                                            ctran_datatype_t sendtype, void *recvbuf,
                                            ctran_count_t recvcount, ctran_datatype_t recvtype,
                                            ctran_comm_t comm, ctran_info_t info,
                                            ctran_request_t *request);
CTRAN_API int ctran_neighbor_allgatherv_init(const void *sendbuf, ctran_count_t sendcount,
                                             ctran_datatype_t sendtype, void *recvbuf,
                                             const ctran_count_t recvcounts[],
                                             const ctran_aint_t displs[], ctran_datatype_t recvtype,
                                             ctran_comm_t comm, ctran_info_t info,
                                             ctran_request_t *request);
CTRAN_API int ctran_neighbor_alltoall_init(const void *sendbuf, ctran_count_t sendcount,
                                           ctran_datatype_t sendtype, void *recvbuf,
                                           ctran_count_t recvcount, ctran_datatype_t recvtype,
                                           ctran_comm_t comm, ctran_info_t info,
                                           ctran_request_t *request);
CTRAN_API int ctran_neighbor_alltoallv_init(const void *sendbuf, const ctran_count_t sendcounts[],
                                            const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                                            void *recvbuf, const ctran_count_t recvcounts[],
                                            const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                                            ctran_comm_t comm, ctran_info_t info,
                                            ctran_request_t *request);
CTRAN_API int ctran_neighbor_alltoallw_init(const void *sendbuf, const ctran_count_t sendcounts[],
                                            const ctran_aint_t     sdispls[],
                                            const ctran_datatype_t sendtypes[], void *recvbuf,
                                            const ctran_count_t    recvcounts[],
                                            const ctran_aint_t     rdispls[],
                                            const ctran_datatype_t recvtypes[], ctran_comm_t comm,
                                            ctran_info_t info, ctran_request_t *request);

/* ---------------------------------------------------------------------------------------------
 * Stream-ordered calls: the same operations, put on a CUDA stream. A call returns as soon as it is
 * enqueued; the stream carries it out in its turn and goes on when its buffers may be used again.
 * No SM is used where messages are copied between the GPUs of one host; small collectives, small
 * messages and reductions are kernels there. Arguments are those of the blocking call, the stream
 * last; ctran_allreduce_enqueue(3) has the rules.
 *
 * - Operations of one communicator are carried out in the order of the calls, whatever their
 *   streams. All ranks call collectives in the same order. The first stream-ordered call of a
 *   communicator is collective: it waits until each rank has made one.
 * - Buffers are memory of the GPU that can be shared: of ctran_mem_alloc or cudaMalloc; they stay
 *   as they are until the stream is through. Reductions by kernel, and collectives of up to
 *   CTRAN_STREAM_SMALL bytes, take page-locked memory, too. Datatypes are without gaps.
 * - Sends are synchronous: one ends when its receive has its bytes. A small one, by kernel, may end
 *   before its receive has begun; a program does not count on that. Messages between two ranks
 *   match in order; tags are compared, and have to agree. There is no CTRAN_ANY_SOURCE, and no
 *   status.
 * - All may be captured into a CUDA graph, on all ranks or on none, and replayed. A captured graph
 *   is instantiated once at a time.
 * - Over a network, and for reductions where there are no kernels, a thread of the library takes
 *   part: CTRAN_THREAD_MULTIPLE or CTRAN_PROGRESS_THREAD=1.
 * - When a peer dies, CTRAN_STREAM_TIMEOUT passes or calls do not fit, streams are let go, what was
 *   to be received is undefined, and the communicator's stream-ordered calls fail from then on with
 *   the reason, which ctran_comm_get_async_error tells: CTRAN_ERR_PROC_FAILED, CTRAN_ERR_TIMEOUT,
 *   CTRAN_ERR_TRUNCATE, CTRAN_ERR_TAG, CTRAN_ERR_OTHER. Ranks of one host compare collective calls
 *   as they are made: kind, root, operator, type, length; of those with counts the kind; those of
 *   equal blocks without data are not compared.
 * - A collective that is refused to one rank, for its buffer or its stream, ends the work of all
 *   with that error; sends and receives that are refused so have not been made.
 *
 * Errors of all: those of the blocking call; CTRAN_ERR_UNSUPPORTED_OPERATION: there is no GPU,
 * memory cannot be shared, or the process has no thread for it; CTRAN_ERR_TYPE: the datatype has
 * gaps; CTRAN_ERR_CONFIG, from the first: the ranks have different settings of kernels. Any thread
 * may call; those of one communicator in an order. Source: NCCLX sec. 4.1, 5.1; the names follow
 * MPICH's MPIX_Send_enqueue.
 * ------------------------------------------------------------------------------------------ */

/* A cudaStream_t or CUstream as it is; NULL: the default stream. */
typedef struct CUstream_st *ctran_stream_t;

CTRAN_API int ctran_send_enqueue(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                                 int dest, int tag, ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_recv_enqueue(void *buf, ctran_count_t count, ctran_datatype_t datatype,
                                 int source, int tag, ctran_comm_t comm, ctran_stream_t stream);
/* Neither waits for the other. */
CTRAN_API int ctran_sendrecv_enqueue(const void *sendbuf, ctran_count_t sendcount,
                                     ctran_datatype_t sendtype, int dest, int sendtag,
                                     void *recvbuf, ctran_count_t recvcount,
                                     ctran_datatype_t recvtype, int source, int recvtag,
                                     ctran_comm_t comm, ctran_stream_t stream);

/* Collectives. CTRAN_IN_PLACE as in the blocking ones, but for alltoall and alltoallv. */
CTRAN_API int ctran_barrier_enqueue(ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_bcast_enqueue(void *buffer, ctran_count_t count, ctran_datatype_t datatype,
                                  int root, ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_gather_enqueue(const void *sendbuf, ctran_count_t sendcount,
                                   ctran_datatype_t sendtype, void *recvbuf,
                                   ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                                   ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_scatter_enqueue(const void *sendbuf, ctran_count_t sendcount,
                                    ctran_datatype_t sendtype, void *recvbuf,
                                    ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                                    ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_allgather_enqueue(const void *sendbuf, ctran_count_t sendcount,
                                      ctran_datatype_t sendtype, void *recvbuf,
                                      ctran_count_t recvcount, ctran_datatype_t recvtype,
                                      ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_alltoall_enqueue(const void *sendbuf, ctran_count_t sendcount,
                                     ctran_datatype_t sendtype, void *recvbuf,
                                     ctran_count_t recvcount, ctran_datatype_t recvtype,
                                     ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_gatherv_enqueue(const void *sendbuf, ctran_count_t sendcount,
                                    ctran_datatype_t sendtype, void *recvbuf,
                                    const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                                    ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                                    ctran_stream_t stream);
CTRAN_API int ctran_scatterv_enqueue(const void *sendbuf, const ctran_count_t sendcounts[],
                                     const ctran_aint_t displs[], ctran_datatype_t sendtype,
                                     void *recvbuf, ctran_count_t recvcount,
                                     ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                                     ctran_stream_t stream);
CTRAN_API int ctran_allgatherv_enqueue(const void *sendbuf, ctran_count_t sendcount,
                                       ctran_datatype_t sendtype, void *recvbuf,
                                       const ctran_count_t recvcounts[],
                                       const ctran_aint_t displs[], ctran_datatype_t recvtype,
                                       ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_alltoallv_enqueue(const void *sendbuf, const ctran_count_t sendcounts[],
                                      const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                                      void *recvbuf, const ctran_count_t recvcounts[],
                                      const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                                      ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_reduce_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                                   ctran_datatype_t datatype, ctran_op_t op, int root,
                                   ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_allreduce_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                                      ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                      ctran_stream_t stream);
CTRAN_API int ctran_reduce_scatter_block_enqueue(const void *sendbuf, void *recvbuf,
                                                 ctran_count_t recvcount, ctran_datatype_t datatype,
                                                 ctran_op_t op, ctran_comm_t comm,
                                                 ctran_stream_t stream);
CTRAN_API int ctran_reduce_scatter_enqueue(const void *sendbuf, void *recvbuf,
                                           const ctran_count_t recvcounts[],
                                           ctran_datatype_t datatype, ctran_op_t op,
                                           ctran_comm_t comm, ctran_stream_t stream);
CTRAN_API int ctran_scan_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                                 ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                 ctran_stream_t stream);
CTRAN_API int ctran_exscan_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                                   ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                   ctran_stream_t stream);

/* An alltoallv whose counts the GPU alone knows, when the stream comes to it: as in the shuffle of
 * tokens to experts, and also in a graph, whose replays each have other counts. All ranks of the
 * communicator are on one host and have kernels for it. It sends what there is, and its memory is
 * the communicator's workspace, whatever may come.
 *
 * - sendcounts, sdispls, sindices, recvcounts, rdispls: arrays in memory that the GPU reaches, of a
 *   count or displacement for each rank, in elements of `datatype`, which is without gaps and the
 *   same on all ranks. They are read, and recvcounts is written, by the operation; they are the
 *   program's again when the stream is through with it. A negative count is 0.
 * - To rank r go sendcounts[r] elements from sendbuf + sdispls[r] on. sindices: NULL, or a list of
 *   nindices places of elements in sendbuf; then they are those that the list names from its place
 *   sdispls[r] on, and an element may go to several ranks. sdispls NULL: one rank's behind the
 *   other's. sendsize: elements at sendbuf.
 * - Those from rank r lie from recvbuf + rdispls[r] on; rdispls NULL: one rank's behind the
 *   other's. recvcounts[r] tells how many it sent. recvsize: elements that recvbuf holds; what
 *   comes beyond is dropped, and recvcounts shows it.
 * - What lies outside sendbuf (or the list) is not sent, and an index outside of sendbuf sends an
 *   element of zeros. The buffers are apart, and recvcounts is apart from all of these.
 *
 * Collective; otherwise as above. Errors: CTRAN_ERR_COUNT, CTRAN_ERR_BUFFER, CTRAN_ERR_ARG (an
 * array is NULL), CTRAN_ERR_TYPE (it has gaps, or no bytes), CTRAN_ERR_UNSUPPORTED_OPERATION: ranks
 * are on several hosts, or a rank has no kernels; on all ranks. Source: NCCLX sec. 6.1
 * (AllToAllvDynamic). */
CTRAN_API int ctran_alltoallv_dynamic_enqueue(
    const void *sendbuf, ctran_count_t sendsize, const ctran_count_t sendcounts[],
    const ctran_aint_t sdispls[], const ctran_count_t sindices[], ctran_count_t nindices,
    void *recvbuf, ctran_count_t recvsize, ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
    ctran_datatype_t datatype, ctran_comm_t comm, ctran_stream_t stream);

/* Stream-ordered calls of this thread between the two are carried out by the latter. Sends and
 * receives of one communicator and stream become one operation, in which none waits for another;
 * collectives stay what they are. Groups may be nested: the outermost end counts. A rank sends to
 * itself in a group only, with the receive. ctran_group_end returns the first error of its calls,
 * which is raised on that call's communicator. Source: NCCL's ncclGroupStart. */
CTRAN_API int ctran_group_start(void);
CTRAN_API int ctran_group_end(void);

/* *error: why the communicator's stream-ordered work has ended, or CTRAN_SUCCESS. Waits for
 * nobody and calls no CUDA. Errors: CTRAN_ERR_COMM, CTRAN_ERR_ARG. Source: NCCL's
 * ncclCommGetAsyncError. */
CTRAN_API int ctran_comm_get_async_error(ctran_comm_t comm, int *error);

/* ---------------------------------------------------------------------------------------------
 * Windows: one-sided communication (MPI-4.1 chapter 12)
 *
 * Each rank of an intra-communicator gives a part of its memory, which all of them may put to, get
 * from and update, while its owner does something else. Operations are within an epoch: they start
 * after a call that opens one (ctran_win_fence, _start, _lock, _lock_all) and are over after the
 * call that closes it, or after ctran_win_flush. On one host they are loads and stores wherever the
 * ranks map the memory; ctran-rma(7) says which path serves which window, and when the target's
 * progress has to take part.
 *
 * Errors that all calls below may have, beside those that they name: CTRAN_ERR_WIN, no window;
 * CTRAN_ERR_RMA_SYNC, the call is not possible in this epoch, or without one; it has done nothing.
 * They go to the window's error handler, CTRAN_ERRORS_ARE_FATAL at first. An operation that fails
 * at the target later is an error of the next call that waits for it. CTRAN_ERR_PROC_FAILED: a rank
 * has failed that the call needs; other targets can still be reached, and the lock that it held is
 * free. The data that it was about to write are undefined.
 * ------------------------------------------------------------------------------------------ */

typedef struct ct_win *ctran_win_t;
#define CTRAN_WIN_NULL ((ctran_win_t)0x110)

enum { CTRAN_LOCK_EXCLUSIVE = 301, CTRAN_LOCK_SHARED = 302 };
enum {
    CTRAN_WIN_FLAVOR_CREATE = 311,
    CTRAN_WIN_FLAVOR_ALLOCATE = 312,
    CTRAN_WIN_FLAVOR_DYNAMIC = 313,
    CTRAN_WIN_FLAVOR_SHARED = 314
};
enum { CTRAN_WIN_UNIFIED = 321, CTRAN_WIN_SEPARATE = 322 };
/* Keys of predefined attributes. The value of CTRAN_WIN_BASE is the address; of CTRAN_WIN_SIZE it
 * points to a ctran_aint_t, of the others to an int. */
enum {
    CTRAN_WIN_BASE = 601,
    CTRAN_WIN_DISP_UNIT = 602,
    CTRAN_WIN_SIZE = 603,
    CTRAN_WIN_CREATE_FLAVOR = 604,
    CTRAN_WIN_MODEL = 605
};
/* Assertions about the synchronisation; or-ed. */
enum {
    CTRAN_MODE_NOCHECK = 1024,
    CTRAN_MODE_NOPRECEDE = 2048,
    CTRAN_MODE_NOPUT = 4096,
    CTRAN_MODE_NOSTORE = 8192,
    CTRAN_MODE_NOSUCCEED = 16384
};

/* Make a window. Collective over comm, an intra-communicator. Sizes, in bytes, and displacement
 * units, > 0, may differ from rank to rank. create takes memory of the caller's, which stays until
 * ctran_win_free; allocate leaves the address of new memory at baseptr (a void **); allocate_shared
 * likewise, on ranks of one host, where it lies in one piece in the order of the ranks unless info
 * has alloc_shared_noncontig; create_dynamic has none at first, see ctran_win_attach. info:
 * no_locks, accumulate_ordering, accumulate_ops, same_size, same_disp_unit,
 * mpi_accumulate_granularity, alloc_shared_noncontig, mpi_minimum_memory_alignment,
 * ctran_device_memory (of allocate: "true" for memory of the rank's GPU); or CTRAN_INFO_NULL.
 * Memory that create and attach are given may be a GPU's as well; kinds may differ from rank to
 * rank.
 * Errors, which are comm's: CTRAN_ERR_COMM, CTRAN_ERR_SIZE, CTRAN_ERR_DISP (a unit < 1),
 * CTRAN_ERR_ARG, CTRAN_ERR_INFO, CTRAN_ERR_NO_MEM; CTRAN_ERR_RMA_SHARED: these ranks cannot share
 * memory; CTRAN_ERR_UNSUPPORTED_OPERATION: memory of a GPU is asked for, which a rank cannot have.
 * Source: MPI-4.1 sec. 12.2. */
CTRAN_API int ctran_win_create(void *base, ctran_aint_t size, ctran_aint_t disp_unit,
                               ctran_info_t info, ctran_comm_t comm, ctran_win_t *win);
CTRAN_API int ctran_win_allocate(ctran_aint_t size, ctran_aint_t disp_unit, ctran_info_t info,
                                 ctran_comm_t comm, void *baseptr, ctran_win_t *win);
CTRAN_API int ctran_win_allocate_shared(ctran_aint_t size, ctran_aint_t disp_unit,
                                        ctran_info_t info, ctran_comm_t comm, void *baseptr,
                                        ctran_win_t *win);
CTRAN_API int ctran_win_create_dynamic(ctran_info_t info, ctran_comm_t comm, ctran_win_t *win);

/* Ends a window, and with it the memory that it has allocated. Collective; no epoch is open. Sets
 * *win to CTRAN_WIN_NULL. Works, too, when ranks have failed. Source: MPI-4.1 sec. 12.2.5. */
CTRAN_API int ctran_win_free(ctran_win_t *win);

/* Where the memory of a rank lies here, for load and store: its size, its displacement unit and its
 * address (baseptr is a void **). CTRAN_PROC_NULL stands for the first rank that has any. Beyond
 * MPI: of every kind of window, for every rank whose memory this one maps; of others the size is 0
 * and the address NULL. Errors: CTRAN_ERR_RANK, CTRAN_ERR_ARG; CTRAN_ERR_RMA_FLAVOR of a dynamic
 * window. Source: MPI-4.1 sec. 12.2.3. */
CTRAN_API int ctran_win_shared_query(ctran_win_t win, int rank, ctran_aint_t *size,
                                     ctran_aint_t *disp_unit, void *baseptr);

/* Adds memory to a dynamic window, and takes it out again, by its address; local. Displacements are
 * the addresses that ctran_get_address gives at the target. The ranks agree that no operation
 * reaches what is being detached. Errors: CTRAN_ERR_RMA_ATTACH: the range overlaps another one, or
 * none begins there; CTRAN_ERR_RMA_FLAVOR: the window is not dynamic; CTRAN_ERR_SIZE,
 * CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 12.2.4. */
CTRAN_API int ctran_win_attach(ctran_win_t win, void *base, ctran_aint_t size);
CTRAN_API int ctran_win_detach(ctran_win_t win, const void *base);

/* The group of the window's communicator; its hints. Errors: CTRAN_ERR_ARG, CTRAN_ERR_INFO,
 * CTRAN_ERR_NO_MEM. Source: MPI-4.1 sec. 12.2.7, 12.2.8. */
CTRAN_API int ctran_win_get_group(ctran_win_t win, ctran_group_t *group);
CTRAN_API int ctran_win_set_info(ctran_win_t win, ctran_info_t info);
CTRAN_API int ctran_win_get_info(ctran_win_t win, ctran_info_t *info_used);

/* Names: as ctran_comm_set_name. */
CTRAN_API int ctran_win_set_name(ctran_win_t win, const char *win_name);
CTRAN_API int ctran_win_get_name(ctran_win_t win, char *win_name, int *resultlen);

/* Error handlers: as those of communicators, see ctran_comm_create_errhandler. */
typedef void  ctran_win_errhandler_function(ctran_win_t *win, int *error_code, ...);
CTRAN_API int ctran_win_create_errhandler(ctran_win_errhandler_function *win_errhandler_fn,
                                          ctran_errhandler_t            *errhandler);
CTRAN_API int ctran_win_set_errhandler(ctran_win_t win, ctran_errhandler_t errhandler);
CTRAN_API int ctran_win_get_errhandler(ctran_win_t win, ctran_errhandler_t *errhandler);
CTRAN_API int ctran_win_call_errhandler(ctran_win_t win, int errorcode);

/* Attributes: as those of communicators, see ctran_comm_create_keyval; and the predefined ones
 * (CTRAN_WIN_BASE and so on), which can only be read. */
typedef int ctran_win_copy_attr_function(ctran_win_t win, int win_keyval, void *extra_state,
                                         void *attribute_val_in, void *attribute_val_out,
                                         int *flag);
typedef int ctran_win_delete_attr_function(ctran_win_t win, int win_keyval, void *attribute_val,
                                           void *extra_state);
#define CTRAN_WIN_NULL_COPY_FN   ((ctran_win_copy_attr_function *)0)
#define CTRAN_WIN_DUP_FN         ((ctran_win_copy_attr_function *)1)
#define CTRAN_WIN_NULL_DELETE_FN ((ctran_win_delete_attr_function *)0)
CTRAN_API int ctran_win_create_keyval(ctran_win_copy_attr_function   *win_copy_attr_fn,
                                      ctran_win_delete_attr_function *win_delete_attr_fn,
                                      int *win_keyval, void *extra_state);
CTRAN_API int ctran_win_free_keyval(int *win_keyval);
CTRAN_API int ctran_win_set_attr(ctran_win_t win, int win_keyval, void *attribute_val);
CTRAN_API int ctran_win_get_attr(ctran_win_t win, int win_keyval, void *attribute_val, int *flag);
CTRAN_API int ctran_win_delete_attr(ctran_win_t win, int win_keyval);

/* Operations. target_disp counts units of the target's; the data of both sides have as many bytes.
 * Buffers are the caller's again, and results are there, when the operation is over. The target may
 * be CTRAN_PROC_NULL: nothing happens. Errors, before anything has moved: CTRAN_ERR_RANK,
 * CTRAN_ERR_COUNT, CTRAN_ERR_TYPE, CTRAN_ERR_BUFFER, CTRAN_ERR_OP, CTRAN_ERR_DISP (target_disp is
 * negative); CTRAN_ERR_RMA_RANGE: not all of it is in the target's window; of a dynamic window that
 * is known when the operation has come there. Source: MPI-4.1 sec. 12.3. */
CTRAN_API int ctran_put(const void *origin_addr, ctran_count_t origin_count,
                        ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
                        ctran_count_t target_count, ctran_datatype_t target_datatype,
                        ctran_win_t win);
CTRAN_API int ctran_get(void *origin_addr, ctran_count_t origin_count,
                        ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
                        ctran_count_t target_count, ctran_datatype_t target_datatype,
                        ctran_win_t win);

/* Updates, element by element, each as one step to all other updates of the window: target = origin
 * op target. op is a predefined operator, CTRAN_REPLACE, or CTRAN_NO_OP for those that return what
 * was there before. Datatypes are predefined ones, or made of one predefined one. fetch_and_op and
 * compare_and_swap are about one element of a predefined type; that of compare_and_swap is an
 * integer, logical or byte. Updates of one rank to one place take effect in their order. */
CTRAN_API int ctran_accumulate(const void *origin_addr, ctran_count_t origin_count,
                               ctran_datatype_t origin_datatype, int target_rank,
                               ctran_aint_t target_disp, ctran_count_t target_count,
                               ctran_datatype_t target_datatype, ctran_op_t op, ctran_win_t win);
CTRAN_API int ctran_get_accumulate(const void *origin_addr, ctran_count_t origin_count,
                                   ctran_datatype_t origin_datatype, void *result_addr,
                                   ctran_count_t result_count, ctran_datatype_t result_datatype,
                                   int target_rank, ctran_aint_t target_disp,
                                   ctran_count_t target_count, ctran_datatype_t target_datatype,
                                   ctran_op_t op, ctran_win_t win);
CTRAN_API int ctran_fetch_and_op(const void *origin_addr, void *result_addr,
                                 ctran_datatype_t datatype, int target_rank,
                                 ctran_aint_t target_disp, ctran_op_t op, ctran_win_t win);
CTRAN_API int ctran_compare_and_swap(const void *origin_addr, const void *compare_addr,
                                     void *result_addr, ctran_datatype_t datatype, int target_rank,
                                     ctran_aint_t target_disp, ctran_win_t win);

/* The same with a request, within a passive target epoch (ctran_win_lock, _lock_all). The request
 * is complete when the operation is at the target. Also: CTRAN_ERR_NO_MEM. Source: MPI-4.1
 * sec. 12.3.5. */
CTRAN_API int ctran_rput(const void *origin_addr, ctran_count_t origin_count,
                         ctran_datatype_t origin_datatype, int target_rank,
                         ctran_aint_t target_disp, ctran_count_t target_count,
                         ctran_datatype_t target_datatype, ctran_win_t win,
                         ctran_request_t *request);
CTRAN_API int ctran_rget(void *origin_addr, ctran_count_t origin_count,
                         ctran_datatype_t origin_datatype, int target_rank,
                         ctran_aint_t target_disp, ctran_count_t target_count,
                         ctran_datatype_t target_datatype, ctran_win_t win,
                         ctran_request_t *request);
CTRAN_API int ctran_raccumulate(const void *origin_addr, ctran_count_t origin_count,
                                ctran_datatype_t origin_datatype, int target_rank,
                                ctran_aint_t target_disp, ctran_count_t target_count,
                                ctran_datatype_t target_datatype, ctran_op_t op, ctran_win_t win,
                                ctran_request_t *request);
CTRAN_API int ctran_rget_accumulate(const void *origin_addr, ctran_count_t origin_count,
                                    ctran_datatype_t origin_datatype, void *result_addr,
                                    ctran_count_t result_count, ctran_datatype_t result_datatype,
                                    int target_rank, ctran_aint_t target_disp,
                                    ctran_count_t target_count, ctran_datatype_t target_datatype,
                                    ctran_op_t op, ctran_win_t win, ctran_request_t *request);

/* Ends the epochs of the fence before it and opens new ones, on all ranks; a barrier. assert: 0, or
 * CTRAN_MODE_NOSTORE, _NOPUT, _NOPRECEDE (no operation of this rank is under way), _NOSUCCEED (none
 * comes before the next fence). Errors: CTRAN_ERR_ASSERT. Source: MPI-4.1 sec. 12.5.1. */
CTRAN_API int ctran_win_fence(int assert, ctran_win_t win);

/* post opens an exposure epoch for the ranks of a group, wait ends it when all of them have called
 * complete; test does so if they have. start opens an access epoch to a group, once all of it have
 * called post; complete ends it when the operations are over at their targets. With
 * CTRAN_MODE_NOCHECK at both, start does not wait for post. Errors: CTRAN_ERR_GROUP,
 * CTRAN_ERR_ASSERT. Source: MPI-4.1 sec. 12.5.2. */
CTRAN_API int ctran_win_post(ctran_group_t group, int assert, ctran_win_t win);
CTRAN_API int ctran_win_start(ctran_group_t group, int assert, ctran_win_t win);
CTRAN_API int ctran_win_complete(ctran_win_t win);
CTRAN_API int ctran_win_wait(ctran_win_t win);
CTRAN_API int ctran_win_test(ctran_win_t win, int *flag);

/* Open and end an access epoch to one rank's window, or a shared one to all; the target does not
 * call anything. lock returns when the lock is there; CTRAN_MODE_NOCHECK takes none. Several ranks
 * may be locked at once, each by its own call. A rank that dies loses its locks. Errors:
 * CTRAN_ERR_LOCKTYPE, CTRAN_ERR_RANK, CTRAN_ERR_ASSERT. Source: MPI-4.1 sec. 12.5.3. */
CTRAN_API int ctran_win_lock(int lock_type, int rank, int assert, ctran_win_t win);
CTRAN_API int ctran_win_lock_all(int assert, ctran_win_t win);
CTRAN_API int ctran_win_unlock(int rank, ctran_win_t win);
CTRAN_API int ctran_win_unlock_all(ctran_win_t win);

/* Within such an epoch: return when the operations to a rank, or to all, are over. Those that are
 * local return when buffers are free, which may be earlier; errors of these operations may then
 * come with a later call. sync orders the loads and stores of this rank with what others do.
 * Errors: CTRAN_ERR_RANK. Source: MPI-4.1 sec. 12.5.4. */
CTRAN_API int ctran_win_flush(int rank, ctran_win_t win);
CTRAN_API int ctran_win_flush_all(ctran_win_t win);
CTRAN_API int ctran_win_flush_local(int rank, ctran_win_t win);
CTRAN_API int ctran_win_flush_local_all(ctran_win_t win);
CTRAN_API int ctran_win_sync(ctran_win_t win);

/* Signals. A window counts, for each pair of ranks, how many signals the one has sent to the other
 * since the window was made; the count never falls. put_signal is a put within an epoch, and counts
 * after its data are at the target; signal alone counts after all operations of the caller to that
 * rank, and needs no epoch. wait_signal returns once `count` signals have come from a rank, all in
 * all, and then their data can be loaded; it needs no epoch either. test_signal sets *flag to 1 if
 * they have, and drives transfers. Errors: those of ctran_put; CTRAN_ERR_RANK, CTRAN_ERR_COUNT (it
 * is negative), CTRAN_ERR_ARG. Source: put_signal of OpenSHMEM-1.5 sec. 9.8, ncclPutSignal. */
CTRAN_API int ctran_put_signal(const void *origin_addr, ctran_count_t origin_count,
                               ctran_datatype_t origin_datatype, int target_rank,
                               ctran_aint_t target_disp, ctran_count_t target_count,
                               ctran_datatype_t target_datatype, ctran_win_t win);
CTRAN_API int ctran_signal(int target_rank, ctran_win_t win);
CTRAN_API int ctran_wait_signal(int source_rank, ctran_count_t count, ctran_win_t win);
CTRAN_API int ctran_test_signal(int source_rank, ctran_count_t count, ctran_win_t win, int *flag);

/* Stream-ordered puts, gets and signals. A call returns when the operation is on the stream. The
 * GPU's copy engine carries the operation out in the stream's order, without the target, without an
 * epoch and without an SM. A stream that is captured takes these calls. All ranks have made the
 * window with ctran_stream_ordered=true (ctran_win_create(3)). The calls of a window are carried
 * out in their order, whatever their streams. A put overwrites the target's memory whatever the
 * target's streams do. Buffers are memory of a GPU or page-locked. A group does not hold these
 * calls back. Signals of streams are counted apart from those of ctran_put_signal.
 * wait_signal_enqueue takes the next `count` signals of a rank, 0 to 64. put_signal_enqueue waits
 * while 64 signals to that rank have not been taken. Signals of a captured call are for captured
 * waits, see ctran_put_enqueue(3). Errors: CTRAN_ERR_UNSUPPORTED_OPERATION: the window is not for
 * streams, or the target's memory is none of a GPU that this rank's reaches; CTRAN_ERR_TYPE: a
 * datatype with gaps; CTRAN_ERR_COUNT, CTRAN_ERR_RANK, CTRAN_ERR_RMA_RANGE, CTRAN_ERR_BUFFER;
 * CTRAN_ERR_ARG: a stream of another GPU; that by which the window's stream-ordered work has ended,
 * as when a rank has died. */
CTRAN_API int ctran_put_enqueue(const void *origin_addr, ctran_count_t origin_count,
                                ctran_datatype_t origin_datatype, int target_rank,
                                ctran_aint_t target_disp, ctran_count_t target_count,
                                ctran_datatype_t target_datatype, ctran_win_t win,
                                ctran_stream_t stream);
CTRAN_API int ctran_get_enqueue(void *origin_addr, ctran_count_t origin_count,
                                ctran_datatype_t origin_datatype, int target_rank,
                                ctran_aint_t target_disp, ctran_count_t target_count,
                                ctran_datatype_t target_datatype, ctran_win_t win,
                                ctran_stream_t stream);
CTRAN_API int ctran_put_signal_enqueue(const void *origin_addr, ctran_count_t origin_count,
                                       ctran_datatype_t origin_datatype, int target_rank,
                                       ctran_aint_t target_disp, ctran_count_t target_count,
                                       ctran_datatype_t target_datatype, ctran_win_t win,
                                       ctran_stream_t stream);
CTRAN_API int ctran_wait_signal_enqueue(int source_rank, ctran_count_t count, ctran_win_t win,
                                        ctran_stream_t stream);

#ifdef __cplusplus
}
#endif

#endif
