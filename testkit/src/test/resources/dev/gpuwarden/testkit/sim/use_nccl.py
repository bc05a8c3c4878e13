"""Sums a buffer on GPUs 0 and 1 with libnccl, as any program does, by the names of the libraries.

use_nccl.py BYTES   prints the microseconds that events show, and the wrong elements of GPU 0 and of GPU 1
"""
import ctypes
import sys

count = int(sys.argv[1]) // 4
size = ctypes.c_size_t(4 * count)
try:
    nccl = ctypes.CDLL("libnccl.so.2")
except OSError:
    sys.exit("no libnccl.so.2")
cuda = ctypes.CDLL("libcuda.so.1")


def call(library, name, *arguments):
    code = getattr(library, name)(*arguments)
    if code:
        sys.exit("%s: %d" % (name, code))


def use(gpu):
    context = ctypes.c_void_p()
    call(cuda, "cuDevicePrimaryCtxRetain", ctypes.byref(context), gpu)
    call(cuda, "cuCtxSetCurrent", context)


def new(name, kind, *arguments):
    made = kind()
    call(cuda, name, ctypes.byref(made), *arguments)
    return made


call(cuda, "cuInit", 0)
ranks = (ctypes.c_void_p * 2)()
call(nccl, "ncclCommInitAll", ranks, 2, None)
memory, sums, streams, events = [], [], [], []
for gpu in (0, 1):
    use(gpu)
    memory.append(new("cuMemAlloc_v2", ctypes.c_uint64, size))
    sums.append(new("cuMemAlloc_v2", ctypes.c_uint64, size))
    streams.append(new("cuStreamCreate", ctypes.c_void_p, 1))
    call(cuda, "cuMemsetD32_v2", memory[gpu], ctypes.c_uint(0x3F800000), ctypes.c_size_t(count))
    call(cuda, "cuCtxSynchronize")
for _ in range(2):
    call(nccl, "ncclGroupStart")
    for gpu in (0, 1):
        sum_, float32 = 0, 7
        call(nccl, "ncclAllReduce", memory[gpu], sums[gpu], ctypes.c_size_t(count), float32, sum_,
             ctypes.c_void_p(ranks[gpu]), streams[gpu])
    call(nccl, "ncclGroupEnd")
    use(0)
    events.append(new("cuEventCreate", ctypes.c_void_p, 0))
    call(cuda, "cuEventRecord", events[-1], streams[0])
milliseconds, wrong = ctypes.c_float(), []
for gpu in (0, 1):
    use(gpu)
    call(cuda, "cuStreamSynchronize", streams[gpu])
    state = ctypes.c_int()
    call(nccl, "ncclCommGetAsyncError", ctypes.c_void_p(ranks[gpu]), ctypes.byref(state))
    if state.value:
        sys.exit("ncclCommGetAsyncError: %d" % state.value)
    seen = (ctypes.c_float * count)()
    call(cuda, "cuMemcpyDtoH_v2", seen, sums[gpu], size)
    wrong.append(sum(1 for value in seen if value != 2))
call(cuda, "cuEventElapsedTime", ctypes.byref(milliseconds), events[0], events[1])
for rank in ranks:
    call(nccl, "ncclCommDestroy", ctypes.c_void_p(rank))
print(round(milliseconds.value * 1000), *wrong)
