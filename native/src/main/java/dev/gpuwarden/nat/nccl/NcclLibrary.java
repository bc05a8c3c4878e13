package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.nat.lib.CText;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.Signature;
import java.util.List;
import java.util.stream.Stream;

/** The loaded library with the address of each function. Immutable and thread-safe. */
final class NcclLibrary {

    private final SharedLibrary library;
    private final long[] addresses = new long[NcclSymbol.values().length];

    NcclLibrary(SharedLibrary library) {
        this.library = library;
        for (NcclSymbol symbol : NcclSymbol.values()) {
            addresses[symbol.ordinal()] = library.symbol(symbol.symbol());
        }
    }

    String path() {
        return library.path();
    }

    /** Returns the names of required functions that this library lacks. */
    List<String> missing() {
        return Stream.of(NcclSymbol.values())
                .filter(symbol -> symbol.isRequired() && !has(symbol))
                .map(NcclSymbol::symbol)
                .toList();
    }

    boolean has(NcclSymbol symbol) {
        return addresses[symbol.ordinal()] != 0;
    }

    /** Calls a function, and returns its ncclResult_t. */
    int call(NcclSymbol symbol, long... arguments) throws CollectiveException {
        require(symbol);
        return (int) Invocation.once(signature(symbol), addresses[symbol.ordinal()], arguments);
    }

    /** Returns a function with memory for its arguments, for calls in a row. */
    Invocation prepare(NcclSymbol symbol, NativeMemory memory, int at) throws CollectiveException {
        require(symbol);
        return new Invocation(signature(symbol), addresses[symbol.ordinal()], memory, at);
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
        return CText.at(Invocation.once(
                signature(NcclSymbol.ERROR_STRING), addresses[NcclSymbol.ERROR_STRING.ordinal()], result));
    }

    private String lastError(long communicator) {
        return has(NcclSymbol.LAST_ERROR)
                ? CText.at(Invocation.once(
                        signature(NcclSymbol.LAST_ERROR), addresses[NcclSymbol.LAST_ERROR.ordinal()], communicator))
                : "";
    }
}
