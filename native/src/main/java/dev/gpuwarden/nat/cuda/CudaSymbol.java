package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.BoundLibrary;

/**
 * The functions of libcuda.so.1 that are called, with their signatures for libffi. A function with a `_v2` name is called by that name:
 * the plain one is the 32-bit interface from before CUDA 4.0 and corrupts memory silently.
 */
public enum CudaSymbol implements BoundLibrary.Symbol {
    INIT("cuInit", "u"),
    DRIVER_VERSION("cuDriverGetVersion", "p"),
    ERROR_NAME("cuGetErrorName", "up"),
    ERROR_STRING("cuGetErrorString", "up"),
    DEVICE_COUNT("cuDeviceGetCount", "p"),
    DEVICE("cuDeviceGet", "pu"),
    DEVICE_UUID("cuDeviceGetUuid_v2", "pu"),
    DEVICE_ATTRIBUTE("cuDeviceGetAttribute", "puu"),
    DEVICE_NAME("cuDeviceGetName", "puu"),
    DEVICE_PCI("cuDeviceGetPCIBusId", "puu"),
    DEVICE_MEMORY("cuDeviceTotalMem_v2", "pu"),
    CONTEXT_RETAIN("cuDevicePrimaryCtxRetain", "pu"),
    CONTEXT_RELEASE("cuDevicePrimaryCtxRelease_v2", "u"),
    CONTEXT_SET("cuCtxSetCurrent", "p"),
    CONTEXT_CURRENT("cuCtxGetCurrent", "p"),
    CONTEXT_DEVICE("cuCtxGetDevice", "p"),
    MEMORY_INFO("cuMemGetInfo_v2", "pp"),
    MEMORY_ALLOCATE("cuMemAlloc_v2", "pp"),
    MEMORY_FREE("cuMemFree_v2", "p"),
    MEMORY_SET("cuMemsetD8Async", "pupp"),
    HOST_ALLOCATE("cuMemHostAlloc", "ppu"),
    HOST_FREE("cuMemFreeHost", "p"),
    COPY_TO_DEVICE("cuMemcpyHtoDAsync_v2", "pppp"),
    COPY_TO_HOST("cuMemcpyDtoHAsync_v2", "pppp"),
    COPY_TO_PEER("cuMemcpyPeerAsync", "pppppp"),
    CAN_ACCESS_PEER("cuDeviceCanAccessPeer", "puu"),
    ENABLE_PEER("cuCtxEnablePeerAccess", "pu"),
    READ_MEMORY("cuMemcpyDtoH_v2", "ppp"),
    COPY_WITHIN("cuMemcpyDtoDAsync_v2", "pppp"),
    STREAM_CREATE("cuStreamCreate", "pu"),
    STREAM_DESTROY("cuStreamDestroy_v2", "p"),
    STREAM_QUERY("cuStreamQuery", "p"),
    STREAM_SYNCHRONIZE("cuStreamSynchronize", "p"),
    EVENT_CREATE("cuEventCreate", "pu"),
    EVENT_DESTROY("cuEventDestroy_v2", "p"),
    EVENT_RECORD("cuEventRecord", "pp"),
    EVENT_SYNCHRONIZE("cuEventSynchronize", "p"),
    EVENT_ELAPSED("cuEventElapsedTime", "ppp"),
    MODULE_LOAD("cuModuleLoadData", "pp"),
    MODULE_UNLOAD("cuModuleUnload", "p"),
    MODULE_FUNCTION("cuModuleGetFunction", "ppp"),
    LAUNCH("cuLaunchKernel", "puuuuuuuppp"),
    CAPTURE_BEGIN("cuStreamBeginCapture_v2", "pu"),
    CAPTURE_END("cuStreamEndCapture", "pp"),
    GRAPH_INSTANTIATE("cuGraphInstantiateWithFlags", "ppp"),
    GRAPH_LAUNCH("cuGraphLaunch", "pp"),
    GRAPH_DESTROY("cuGraphDestroy", "p"),
    EXECUTABLE_DESTROY("cuGraphExecDestroy", "p");

    private final String symbol;
    private final String signature;

    CudaSymbol(String symbol, String signature) {
        this.symbol = symbol;
        this.signature = signature;
    }

    @Override
    public String symbol() {
        return symbol;
    }

    /** Returns the arguments in the form of {@link dev.gpuwarden.nat.lib.Signature}. */
    public String signature() {
        return signature;
    }
}
