"""Uses libcuda and NVML as any program does, by the names of the libraries.

use_cuda.py hold BYTES   takes memory of GPU 0, prints "held" and sleeps
use_cuda.py copy BYTES   likewise, then copies until an error, and prints its code
use_cuda.py read         prints NVML's memory in use of GPU 0 and the processes there with their bytes
"""
import ctypes
import sys
import time


def call(library, name, *arguments):
    code = getattr(library, name)(*arguments)
    if code:
        sys.exit("%s: %d" % (name, code))


def take(size):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    call(cuda, "cuInit", 0)
    call(cuda, "cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call(cuda, "cuCtxSetCurrent", context)
    call(cuda, "cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    print("held", flush=True)
    return cuda, address


def copy(size):
    cuda, address = take(size)
    source = (ctypes.c_char * size)()
    code = 0
    while not code:
        code = cuda.cuMemcpyHtoD_v2(address, source, ctypes.c_size_t(size))
    print(code, flush=True)


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_uint64), ("gi", ctypes.c_uint), ("ci", ctypes.c_uint)]


def read():
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    device, memory = ctypes.c_void_p(), (ctypes.c_uint64 * 3)()
    count, processes = ctypes.c_uint(16), (Process * 16)()
    call(nvml, "nvmlInit_v2")
    call(nvml, "nvmlDeviceGetHandleByIndex_v2", 0, ctypes.byref(device))
    call(nvml, "nvmlDeviceGetMemoryInfo", device, memory)
    call(nvml, "nvmlDeviceGetComputeRunningProcesses_v2", device, ctypes.byref(count), processes)
    print(memory[2], *("%d:%d" % (p.pid, p.bytes) for p in processes[: count.value]))


if sys.argv[1] == "hold":
    kept = take(int(sys.argv[2]))
    time.sleep(600)
elif sys.argv[1] == "copy":
    copy(int(sys.argv[2]))
else:
    read()
