package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.nat.lib.BoundLibrary;

/** The functions of libnccl.so.2 that are called (nccl.h 2.28), with their signatures for libffi. */
enum NcclSymbol implements BoundLibrary.Symbol {
    VERSION("ncclGetVersion", "p", true),
    UNIQUE_ID("ncclGetUniqueId", "p", true),
    ERROR_STRING("ncclGetErrorString", "u", true),
    LAST_ERROR("ncclGetLastError", "p", false),
    INIT("ncclCommInitRankConfig", "pusup", true),
    ASYNC_ERROR("ncclCommGetAsyncError", "pp", true),
    FINALIZE("ncclCommFinalize", "p", true),
    DESTROY("ncclCommDestroy", "p", true),
    ABORT("ncclCommAbort", "p", true),
    GROUP_START("ncclGroupStart", "", true),
    GROUP_END("ncclGroupEnd", "", true),
    ALL_REDUCE("ncclAllReduce", "pppuupp", true),
    ALL_GATHER("ncclAllGather", "pppupp", true),
    REDUCE_SCATTER("ncclReduceScatter", "pppuupp", true),
    BROADCAST("ncclBroadcast", "pppuupp", true),
    REDUCE("ncclReduce", "pppuuupp", true),
    SEND("ncclSend", "ppuupp", true),
    RECEIVE("ncclRecv", "ppuupp", true),
    MEMORY_ALLOCATE("ncclMemAlloc", "pp", false),
    MEMORY_FREE("ncclMemFree", "p", false),
    REGISTER("ncclCommRegister", "pppp", false),
    DEREGISTER("ncclCommDeregister", "pp", false),
    WINDOW_REGISTER("ncclCommWindowRegister", "ppppu", false),
    WINDOW_DEREGISTER("ncclCommWindowDeregister", "pp", false),
    SCALED_SUM("ncclRedOpCreatePreMulSum", "ppuup", false),
    RELEASE_OPERATOR("ncclRedOpDestroy", "up", false);

    private final String symbol;
    private final String signature;
    private final boolean required;

    NcclSymbol(String symbol, String signature, boolean required) {
        this.symbol = symbol;
        this.signature = signature;
        this.required = required;
    }

    @Override
    public String symbol() {
        return symbol;
    }

    /** Returns the arguments in the form of {@link dev.gpuwarden.nat.lib.Signature}. */
    String signature() {
        return signature;
    }

    @Override
    public boolean isRequired() {
        return required;
    }
}
