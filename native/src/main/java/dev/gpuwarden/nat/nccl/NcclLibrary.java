package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.nat.lib.BoundLibrary;
import dev.gpuwarden.nat.lib.CText;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.Signature;

/** The loaded libnccl.so.2. */
final class NcclLibrary extends BoundLibrary<NcclSymbol> {

    NcclLibrary(SharedLibrary library) {
        super(library, NcclSymbol.values());
    }

    /** Calls a function, and returns its ncclResult_t. */
    int call(NcclSymbol symbol, long... arguments) throws CollectiveException {
        require(symbol);
        return (int) Invocation.once(signature(symbol), address(symbol), arguments);
    }

    /** Returns a function with memory for its arguments, for calls in a row. */
    Invocation prepare(NcclSymbol symbol, NativeMemory memory, int at) throws CollectiveException {
        require(symbol);
        return new Invocation(signature(symbol), address(symbol), memory, at);
    }

    private void require(NcclSymbol symbol) throws CollectiveException {
        if (!has(symbol)) {
            throw new CollectiveException(
                    Kind.NOT_SUPPORTED, 0, path() + " has no " + symbol.symbol() + "; a newer NCCL has it");
        }
    }

    static Signature signature(NcclSymbol symbol) {
        return Signature.of(symbol.signature());
    }

    /** Returns the version as one number. */
    int version() throws CollectiveException {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int result = call(NcclSymbol.VERSION, out.address());
            if (result != NcclResult.SUCCESS) {
                throw failure(NcclSymbol.VERSION, result, 0);
            }
            return out.buffer().getInt(0);
        }
    }

    /**
     * Returns the failure for a result.
     *
     * @param communicator 0 where there is none
     */
    CollectiveException failure(NcclSymbol symbol, int result, long communicator) {
        String last = lastError(communicator);
        return new CollectiveException(
                Kind.COLLECTIVES,
                result,
                symbol.symbol() + " answered " + result + " (" + errorString(result) + "): " + NcclResult.cause(result)
                        + (last.isEmpty() ? "" : ". NCCL: " + last));
    }

    private String errorString(int result) {
        return CText.at(Invocation.once(signature(NcclSymbol.ERROR_STRING), address(NcclSymbol.ERROR_STRING), result));
    }

    private String lastError(long communicator) {
        return has(NcclSymbol.LAST_ERROR)
                ? CText.at(
                        Invocation.once(signature(NcclSymbol.LAST_ERROR), address(NcclSymbol.LAST_ERROR), communicator))
                : "";
    }
}
