/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the CUDA driver's binary interface that we use: handles, structs, constants and
 * functions of libcuda.so.1, under the names of the driver, so that NVIDIA's manual of the driver
 * API (CUDA 12.0 and later) explains each. The library does not link to the driver and needs no
 * header of NVIDIA: gpu/driver.c makes a table out of CU_FUNCTIONS and fills the table at run time.
 * The emulated driver in emu/cuda declares its functions from the same list (CU_PROTOTYPE).
 *
 * To use one more function, add its line to CU_FUNCTIONS and its constants here. Values are fixed
 * by the driver's ABI and are never ours to change; tests/house/check_cuda.py holds them against
 * NVIDIA's cuda.h where that is installed. Never include this file together with NVIDIA's cuda.h.
 */
#ifndef CT_GPU_CUDA_H
#define CT_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

/* Handles */

typedef int CUdevice;
typedef unsigned long long
    CUdeviceptr; /* an address; of pinned and managed memory the host's own (UVA) */
typedef struct CUctx_st       *CUcontext;
typedef struct CUstream_st    *CUstream;
typedef struct CUevent_st     *CUevent;
typedef struct CUmod_st       *CUmodule;
typedef struct CUfunc_st      *CUfunction;
typedef struct CUgraph_st     *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;
typedef unsigned long long     CUmemGenericAllocationHandle;
typedef void (*CUhostFn)(void *user_data);

#define CU_STREAM_LEGACY                                                                           \
    ((CUstream)0x1) /* what a NULL stream means: waits for all blocking streams */
#define CU_STREAM_PER_THREAD ((CUstream)0x2) /* the calling thread's default stream */

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

/* Results: name, number, what it means */

#define CU_RESULTS(X)                                                                              \
    X(CUDA_SUCCESS, 0, "no error")                                                                 \
    X(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument")                                             \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                \
    X(CUDA_ERROR_NOT_INITIALIZED, 3, "cuInit was not called")                                      \
    X(CUDA_ERROR_DEINITIALIZED, 4, "the driver is shutting down")                                  \
    X(CUDA_ERROR_STUB_LIBRARY, 34, "libcuda is a stub for linking")                                \
    X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46, "the device is busy or unavailable")                      \
    X(CUDA_ERROR_NO_DEVICE, 100, "no CUDA device")                                                 \
    X(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                    \
    X(CUDA_ERROR_INVALID_IMAGE, 200, "invalid kernel image")                                       \
    X(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid or no current context")                            \
    X(CUDA_ERROR_MAP_FAILED, 205, "mapping failed")                                                \
    X(CUDA_ERROR_UNMAP_FAILED, 206, "unmapping failed")                                            \
    X(CUDA_ERROR_ALREADY_MAPPED, 208, "already mapped")                                            \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image for this device")                        \
    X(CUDA_ERROR_NOT_MAPPED, 211, "not mapped")                                                    \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error")                                \
    X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217, "no peer access between these devices")             \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220, "uncorrectable NVLink error")                          \
    X(CUDA_ERROR_INVALID_SOURCE, 300, "invalid kernel source")                                     \
    X(CUDA_ERROR_FILE_NOT_FOUND, 301, "file not found")                                            \
    X(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, 303, "a shared object did not initialise")             \
    X(CUDA_ERROR_OPERATING_SYSTEM, 304, "a call of the operating system failed")                   \
    X(CUDA_ERROR_INVALID_HANDLE, 400, "invalid handle")                                            \
    X(CUDA_ERROR_ILLEGAL_STATE, 401, "not in the state that the call requires")                    \
    X(CUDA_ERROR_NOT_FOUND, 500, "named symbol not found")                                         \
    X(CUDA_ERROR_NOT_READY, 600, "not finished yet")                                               \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, "a kernel or copy met an illegal address")                  \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "the launch wants more than the device has")        \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702, "a kernel ran too long")                                     \
    X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is enabled already")               \
    X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705, "peer access is not enabled")                       \
    X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708, "the primary context is in use already")             \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, "the context was destroyed")                           \
    X(CUDA_ERROR_ASSERT, 710, "an assertion failed in a kernel")                                   \
    X(CUDA_ERROR_TOO_MANY_PEERS, 711, "no room for another peer")                                  \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "host memory registered already")            \
    X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "host memory not registered")                    \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                                    \
    X(CUDA_ERROR_LAUNCH_FAILED, 719, "a kernel failed")                                            \
    X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "the cooperative launch does not fit at once") \
    X(CUDA_ERROR_NOT_PERMITTED, 800, "not permitted")                                              \
    X(CUDA_ERROR_NOT_SUPPORTED, 801, "not supported")                                              \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802, "the system is not ready (fabric manager?)")               \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, "kernel module and libcuda differ in version")       \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "not allowed while a stream is captured")        \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, "the capture was invalidated before")            \
    X(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902, "would join two captures")                             \
    X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903, "the capture was begun on another stream")         \
    X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904, "a forked stream was not joined")                   \
    X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905, "a captured stream would wait for outside work")   \
    X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906, "would wait for the legacy stream")                 \
    X(CUDA_ERROR_CAPTURED_EVENT, 907, "the event was recorded in a capture")                       \
    X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, "the capture was begun by another thread")      \
    X(CUDA_ERROR_TIMEOUT, 909, "timeout")                                                          \
    X(CUDA_ERROR_EXTERNAL_DEVICE, 911, "a device outside CUDA failed")                             \
    X(CUDA_ERROR_UNKNOWN, 999, "unknown error")

#define CU_RESULT_ENUM(name, number, text) name = number,
typedef enum cudaError_enum { CU_RESULTS(CU_RESULT_ENUM) } CUresult;
#undef CU_RESULT_ENUM

/* Devices */

typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98,
    CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116,
    CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122,
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
    CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128,
    CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED = 132
} CUdevice_attribute;

typedef enum CUdevice_P2PAttribute_enum {
    CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,
    CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
    CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3
} CUdevice_P2PAttribute;

/* Memory */

typedef enum CUmemorytype_enum {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4
} CUmemorytype;

/* What each yields: CONTEXT a CUcontext, MEMORY_TYPE an unsigned, *_POINTER an address, BUFFER_ID
 * an unsigned long long, IS_* and MAPPED a boolean of an unsigned's width, DEVICE_ORDINAL an int,
 * RANGE_START_ADDR and MAPPING_BASE_ADDR an address, *_SIZE a size_t, ALLOWED_HANDLE_TYPES a
 * uint64_t. */
typedef enum CUpointer_attribute_enum {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
    CU_POINTER_ATTRIBUTE_MAPPED = 13,
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
    CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
    CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,
    CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
    CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20
} CUpointer_attribute;

#define CU_MEMHOSTALLOC_PORTABLE      0x01
#define CU_MEMHOSTALLOC_DEVICEMAP     0x02
#define CU_MEMHOSTALLOC_WRITECOMBINED 0x04
#define CU_MEMHOSTREGISTER_PORTABLE   0x01
#define CU_MEMHOSTREGISTER_DEVICEMAP  0x02
#define CU_MEMHOSTREGISTER_IOMEMORY   0x04
#define CU_MEMHOSTREGISTER_READ_ONLY  0x08

typedef enum CUmemAttach_flags_enum {
    CU_MEM_ATTACH_GLOBAL = 0x1,
    CU_MEM_ATTACH_HOST = 0x2,
    CU_MEM_ATTACH_SINGLE = 0x4
} CUmemAttach_flags;

/* Rows of WidthInBytes, Height of them; a pitch is the distance between rows, at least the width.
 * CU_MEMORYTYPE_UNIFIED: the address is in *Device and says itself of what kind it is. */
typedef struct CUDA_MEMCPY2D_st {
    size_t       srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void  *srcHost;
    CUdeviceptr  srcDevice;
    void        *srcArray; /* of the driver's arrays: NULL */
    size_t       srcPitch;
    size_t       dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void        *dstHost;
    CUdeviceptr  dstDevice;
    void        *dstArray;
    size_t       dstPitch;
    size_t       WidthInBytes, Height;
} CUDA_MEMCPY2D;

/* Memory of another process, the legacy way: a handle means a whole allocation of cuMemAlloc */

#define CU_IPC_HANDLE_SIZE 64
typedef enum CUipcMem_flags_enum { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 0x1 } CUipcMem_flags;

typedef struct CUipcMemHandle_st {
    char reserved[CU_IPC_HANDLE_SIZE];
} CUipcMemHandle;

typedef struct CUipcEventHandle_st {
    char reserved[CU_IPC_HANDLE_SIZE];
} CUipcEventHandle;

/* Virtual memory management: physical memory, address ranges and access apart */

typedef enum CUmemAllocationHandleType_enum {
    CU_MEM_HANDLE_TYPE_NONE = 0,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
    CU_MEM_HANDLE_TYPE_FABRIC = 8,
    CU_MEM_HANDLE_TYPE_MAX = 0x7fffffff
} CUmemAllocationHandleType;

typedef enum CUmemAllocationType_enum {
    CU_MEM_ALLOCATION_TYPE_INVALID = 0,
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_ALLOCATION_TYPE_MAX = 0x7fffffff
} CUmemAllocationType;

typedef enum CUmemLocationType_enum {
    CU_MEM_LOCATION_TYPE_INVALID = 0,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_LOCATION_TYPE_HOST = 2,
    CU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
    CU_MEM_LOCATION_TYPE_MAX = 0x7fffffff
} CUmemLocationType;

typedef enum CUmemAccess_flags_enum {
    CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
    CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    CU_MEM_ACCESS_FLAGS_PROT_MAX = 0x7fffffff
} CUmemAccess_flags;

typedef enum CUmemAllocationGranularity_flags_enum {
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} CUmemAllocationGranularity_flags;

typedef struct CUmemLocation_st {
    CUmemLocationType type;
    int               id;
} CUmemLocation;

typedef struct CUmemAllocationProp_st {
    CUmemAllocationType       type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation             location;
    void                     *win32HandleMetaData; /* NULL */
    struct {
        unsigned char  compressionType;
        unsigned char  gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char  reserved[4];
    } allocFlags;
} CUmemAllocationProp;

typedef struct CUmemAccessDesc_st {
    CUmemLocation     location;
    CUmemAccess_flags flags;
} CUmemAccessDesc;

typedef enum CUmemRangeHandleType_enum {
    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
    CU_MEM_RANGE_HANDLE_TYPE_MAX = 0x7fffffff
} CUmemRangeHandleType;

/* Streams, events */

#define CU_STREAM_DEFAULT        0x0u
#define CU_STREAM_NON_BLOCKING   0x1u
#define CU_EVENT_DEFAULT         0x0u
#define CU_EVENT_BLOCKING_SYNC   0x1u
#define CU_EVENT_DISABLE_TIMING  0x2u
#define CU_EVENT_INTERPROCESS    0x4u
#define CU_EVENT_WAIT_DEFAULT    0x0u
#define CU_EVENT_WAIT_EXTERNAL   0x1u /* in a capture: the event is outside the graph */
#define CU_EVENT_RECORD_DEFAULT  0x0u
#define CU_EVENT_RECORD_EXTERNAL 0x1u

/* Stream memory operations. A wait ends when (int)(*addr - value) >= 0, *addr == value, *addr &
 * value, ~(*addr | value) is not 0; FLUSH then makes earlier remote writes visible to what follows.
 * A write waits for all before it in the stream to be visible, unless it says NO_MEMORY_BARRIER. */
#define CU_STREAM_WAIT_VALUE_GEQ                0x0u
#define CU_STREAM_WAIT_VALUE_EQ                 0x1u
#define CU_STREAM_WAIT_VALUE_AND                0x2u
#define CU_STREAM_WAIT_VALUE_NOR                0x3u
#define CU_STREAM_WAIT_VALUE_FLUSH              (1u << 30)
#define CU_STREAM_WRITE_VALUE_DEFAULT           0x0u
#define CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER 0x1u
#define CU_STREAM_MEMORY_BARRIER_TYPE_SYS       0x0u
#define CU_STREAM_MEMORY_BARRIER_TYPE_GPU       0x1u

typedef enum CUstreamBatchMemOpType_enum {
    CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
    CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
    CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
    CU_STREAM_MEM_OP_BARRIER = 6
} CUstreamBatchMemOpType;

typedef union CUstreamBatchMemOpParams_union {
    CUstreamBatchMemOpType operation;
    struct CUstreamMemOpWaitValueParams_st {
        CUstreamBatchMemOpType operation;
        CUdeviceptr            address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr  alias; /* the driver's own: 0 */
    } waitValue;
    struct CUstreamMemOpWriteValueParams_st {
        CUstreamBatchMemOpType operation;
        CUdeviceptr            address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr  alias; /* the driver's own: 0 */
    } writeValue;
    struct CUstreamMemOpFlushRemoteWritesParams_st {
        CUstreamBatchMemOpType operation;
        unsigned int           flags;
    } flushRemoteWrites;
    struct CUstreamMemOpMemoryBarrierParams_st {
        CUstreamBatchMemOpType operation;
        unsigned int           flags;
    } memoryBarrier;
    cuuint64_t pad[6];
} CUstreamBatchMemOpParams;

/* Graphs: work is captured from streams, not composed by hand */

typedef enum CUstreamCaptureStatus_enum {
    CU_STREAM_CAPTURE_STATUS_NONE = 0,
    CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2
} CUstreamCaptureStatus;

typedef enum CUstreamCaptureMode_enum {
    CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2
} CUstreamCaptureMode;

#define CU_STREAM_ADD_CAPTURE_DEPENDENCIES              0x0u
#define CU_STREAM_SET_CAPTURE_DEPENDENCIES              0x1u
#define CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH 1u
#define CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD              2u
#define CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY   8u

typedef struct CUuserObject_st *CUuserObject; /* what a graph owns: freed by its destroy function */
#define CU_USER_OBJECT_NO_DESTRUCTOR_SYNC 1u
#define CU_GRAPH_USER_OBJECT_MOVE         1u

/* Modules and kernels */

typedef enum CUfunction_attribute_enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
} CUfunction_attribute;

typedef enum CUlaunchAttributeID_enum {
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
} CUlaunchAttributeID;

typedef union CUlaunchAttributeValue_union {
    char pad[64];
    int  programmaticStreamSerializationAllowed;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
    CUlaunchAttributeID    id;
    char                   pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
    unsigned           gridDimX, gridDimY, gridDimZ;
    unsigned           blockDimX, blockDimY, blockDimZ;
    unsigned           sharedMemBytes;
    CUstream           hStream;
    CUlaunchAttribute *attrs;
    unsigned           numAttrs;
} CUlaunchConfig;

typedef enum CUdriverProcAddressQueryResult_enum {
    CU_GET_PROC_ADDRESS_SUCCESS = 0,
    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
    CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} CUdriverProcAddressQueryResult;

/*
 * The functions: X(name in our table, symbol in libcuda.so.1, arguments); each returns a CUresult.
 * A symbol's version suffix belongs to its signature. NULL streams mean the legacy default stream
 * (the symbols without _ptsz). All are there since CUDA 12.0.
 */
/* clang-format off */
#define CU_FUNCTIONS(X)                                                                            \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                      \
    X(cuGetErrorName, cuGetErrorName, (CUresult error, const char **text))                         \
    X(cuGetErrorString, cuGetErrorString, (CUresult error, const char **text))                     \
    X(cuGetProcAddress, cuGetProcAddress_v2,                                                       \
      (const char *symbol, void **function, int version, cuuint64_t flags,                         \
       CUdriverProcAddressQueryResult *status))                                                    \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                            \
    X(cuDeviceGet, cuDeviceGet, (CUdevice *device, int ordinal))                                   \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute,                                                  \
      (int *value, CUdevice_attribute attribute, CUdevice device))                                 \
    X(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device))                        \
    X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *text, int len, CUdevice device))            \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int len, CUdevice device))                    \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))                     \
    X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))    \
    X(cuDeviceGetP2PAttribute, cuDeviceGetP2PAttribute,                                            \
      (int *value, CUdevice_P2PAttribute attribute, CUdevice source, CUdevice destination))        \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *ctx, CUdevice device))       \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                  \
    X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState,                                      \
      (CUdevice device, unsigned *flags, int *active))                                             \
    X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext *ctx))                                          \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext ctx))                                           \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext ctx))                                      \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext *ctx))                                       \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                                  \
    X(cuCtxGetDevice, cuCtxGetDevice, (CUdevice *device))                                          \
    X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, (int *least, int *greatest))       \
    X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))              \
    X(cuCtxDisablePeerAccess, cuCtxDisablePeerAccess, (CUcontext peer))                            \
    X(cuMemGetInfo, cuMemGetInfo_v2, (size_t *available, size_t *total))                           \
    X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr *ptr, size_t bytes))                                 \
    X(cuMemFree, cuMemFree_v2, (CUdeviceptr ptr))                                                  \
    X(cuMemAllocManaged, cuMemAllocManaged, (CUdeviceptr *ptr, size_t bytes, unsigned flags))      \
    X(cuMemAllocAsync, cuMemAllocAsync, (CUdeviceptr *ptr, size_t bytes, CUstream stream))         \
    X(cuMemFreeAsync, cuMemFreeAsync, (CUdeviceptr ptr, CUstream stream))                          \
    X(cuMemHostAlloc, cuMemHostAlloc, (void **ptr, size_t bytes, unsigned flags))                  \
    X(cuMemFreeHost, cuMemFreeHost, (void *ptr))                                                   \
    X(cuMemHostRegister, cuMemHostRegister_v2, (void *ptr, size_t bytes, unsigned flags))          \
    X(cuMemHostUnregister, cuMemHostUnregister, (void *ptr))                                       \
    X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2,                                     \
      (CUdeviceptr *ptr, void *host, unsigned flags))                                              \
    X(cuMemGetAddressRange, cuMemGetAddressRange_v2,                                               \
      (CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr))                                         \
    X(cuMemGetHandleForAddressRange, cuMemGetHandleForAddressRange,                                \
      (void *handle, CUdeviceptr ptr, size_t bytes, CUmemRangeHandleType type,                     \
       unsigned long long flags))                                                                  \
    X(cuMemcpy, cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                        \
    X(cuMemcpyAsync, cuMemcpyAsync,                                                                \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))             \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))                   \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                           \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                     \
      (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                 \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                     \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
    X(cuMemcpyPeerAsync, cuMemcpyPeerAsync,                                                        \
      (CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t bytes,       \
       CUstream stream))                                                                           \
    X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))           \
    X(cuMemsetD8, cuMemsetD8_v2, (CUdeviceptr ptr, unsigned char value, size_t bytes))             \
    X(cuMemsetD8Async, cuMemsetD8Async,                                                            \
      (CUdeviceptr ptr, unsigned char value, size_t bytes, CUstream stream))                       \
    X(cuMemsetD32Async, cuMemsetD32Async,                                                          \
      (CUdeviceptr ptr, unsigned value, size_t words, CUstream stream))                            \
    X(cuPointerGetAttribute, cuPointerGetAttribute,                                                \
      (void *value, CUpointer_attribute attribute, CUdeviceptr ptr))                               \
    X(cuPointerGetAttributes, cuPointerGetAttributes,                                              \
      (unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr ptr))           \
    X(cuPointerSetAttribute, cuPointerSetAttribute,                                                \
      (const void *value, CUpointer_attribute attribute, CUdeviceptr ptr))                         \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle, (CUipcMemHandle *handle, CUdeviceptr ptr))             \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2,                                                   \
      (CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags))                                   \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, (CUdeviceptr ptr))                                 \
    X(cuIpcGetEventHandle, cuIpcGetEventHandle, (CUipcEventHandle *handle, CUevent event))         \
    X(cuIpcOpenEventHandle, cuIpcOpenEventHandle, (CUevent *event, CUipcEventHandle handle))       \
    X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity,                                \
      (size_t *granularity, const CUmemAllocationProp *prop,                                       \
       CUmemAllocationGranularity_flags option))                                                   \
    X(cuMemCreate, cuMemCreate,                                                                    \
      (CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,        \
       unsigned long long flags))                                                                  \
    X(cuMemRelease, cuMemRelease, (CUmemGenericAllocationHandle handle))                           \
    X(cuMemAddressReserve, cuMemAddressReserve,                                                    \
      (CUdeviceptr *ptr, size_t bytes, size_t alignment, CUdeviceptr hint,                         \
       unsigned long long flags))                                                                  \
    X(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr ptr, size_t bytes))                         \
    X(cuMemMap, cuMemMap,                                                                          \
      (CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,          \
       unsigned long long flags))                                                                  \
    X(cuMemUnmap, cuMemUnmap, (CUdeviceptr ptr, size_t bytes))                                     \
    X(cuMemSetAccess, cuMemSetAccess,                                                              \
      (CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *access, size_t count))                \
    X(cuMemGetAccess, cuMemGetAccess,                                                              \
      (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr))                 \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle,                                  \
      (void *shared, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,          \
       unsigned long long flags))                                                                  \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle,                              \
      (CUmemGenericAllocationHandle *handle, void *shared, CUmemAllocationHandleType type))        \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle,                                    \
      (CUmemGenericAllocationHandle *handle, void *ptr))                                           \
    X(cuMemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle,              \
      (CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle))                            \
    X(cuStreamCreate, cuStreamCreate, (CUstream *stream, unsigned flags))                          \
    X(cuStreamCreateWithPriority, cuStreamCreateWithPriority,                                      \
      (CUstream *stream, unsigned flags, int priority))                                            \
    X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                      \
    X(cuStreamQuery, cuStreamQuery, (CUstream stream))                                             \
    X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                                 \
    X(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))      \
    X(cuStreamGetCtx, cuStreamGetCtx, (CUstream stream, CUcontext *ctx))                           \
    X(cuStreamGetFlags, cuStreamGetFlags, (CUstream stream, unsigned *flags))                      \
    X(cuStreamGetPriority, cuStreamGetPriority, (CUstream stream, int *priority))                  \
    X(cuStreamGetId, cuStreamGetId, (CUstream stream, unsigned long long *id))                     \
    X(cuStreamWaitValue32, cuStreamWaitValue32_v2,                                                 \
      (CUstream stream, CUdeviceptr ptr, cuuint32_t value, unsigned flags))                        \
    X(cuStreamWaitValue64, cuStreamWaitValue64_v2,                                                 \
      (CUstream stream, CUdeviceptr ptr, cuuint64_t value, unsigned flags))                        \
    X(cuStreamWriteValue32, cuStreamWriteValue32_v2,                                               \
      (CUstream stream, CUdeviceptr ptr, cuuint32_t value, unsigned flags))                        \
    X(cuStreamWriteValue64, cuStreamWriteValue64_v2,                                               \
      (CUstream stream, CUdeviceptr ptr, cuuint64_t value, unsigned flags))                        \
    X(cuStreamBatchMemOp, cuStreamBatchMemOp_v2,                                                   \
      (CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops, unsigned flags))            \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))  \
    X(cuStreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph *graph))                   \
    X(cuStreamIsCapturing, cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status))  \
    X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2,                                           \
      (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,             \
       const CUgraphNode **dependencies, size_t *count))                                           \
    X(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies,                        \
      (CUstream stream, CUgraphNode *dependencies, size_t count, unsigned flags))                  \
    X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,                        \
      (CUstreamCaptureMode *mode))                                                                 \
    X(cuEventCreate, cuEventCreate, (CUevent *event, unsigned flags))                              \
    X(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                          \
    X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                              \
    X(cuEventRecordWithFlags, cuEventRecordWithFlags,                                              \
      (CUevent event, CUstream stream, unsigned flags))                                            \
    X(cuEventQuery, cuEventQuery, (CUevent event))                                                 \
    X(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                     \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *ms, CUevent start, CUevent end))             \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
      (CUgraphExec *exec, CUgraph graph, unsigned long long flags))                                \
    X(cuGraphUpload, cuGraphUpload, (CUgraphExec exec, CUstream stream))                           \
    X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))                           \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec exec))                                  \
    X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))                                             \
    X(cuGraphGetNodes, cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count))        \
    X(cuUserObjectCreate, cuUserObjectCreate,                                                      \
      (CUuserObject *object, void *ptr, CUhostFn destroy, unsigned refs, unsigned flags))          \
    X(cuUserObjectRelease, cuUserObjectRelease, (CUuserObject object, unsigned count))             \
    X(cuGraphRetainUserObject, cuGraphRetainUserObject,                                            \
      (CUgraph graph, CUuserObject object, unsigned count, unsigned flags))                        \
    X(cuModuleLoad, cuModuleLoad, (CUmodule *module, const char *file))                            \
    X(cuModuleLoadData, cuModuleLoadData, (CUmodule *module, const void *image))                   \
    X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                           \
    X(cuModuleGetFunction, cuModuleGetFunction,                                                    \
      (CUfunction *function, CUmodule module, const char *name))                                   \
    X(cuModuleGetGlobal, cuModuleGetGlobal_v2,                                                     \
      (CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name))                        \
    X(cuFuncGetAttribute, cuFuncGetAttribute,                                                      \
      (int *value, CUfunction_attribute attribute, CUfunction function))                           \
    X(cuFuncSetAttribute, cuFuncSetAttribute,                                                      \
      (CUfunction function, CUfunction_attribute attribute, int value))                            \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,    \
      (int *blocks, CUfunction function, int block_size, size_t shared_bytes))                     \
    X(cuLaunchKernel, cuLaunchKernel,                                                              \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **args,    \
       void **extra))                                                                              \
    X(cuLaunchKernelEx, cuLaunchKernelEx,                                                          \
      (const CUlaunchConfig *config, CUfunction function, void **args, void **extra))              \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,                                        \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **args))   \
    X(cuLaunchHostFunc, cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *user_data))
/* clang-format on */

/* A function's declaration as the driver's library exports it; for those who define them */
#define CU_PROTOTYPE(name, symbol, args) CUresult symbol args;

/* The functions as members of a table, under the names without versions */
#define CU_MEMBER(name, symbol, args) CUresult(*name) args;
struct cuda_table {
    CU_FUNCTIONS(CU_MEMBER)
};
#undef CU_MEMBER

#endif
