package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.nat.lib.CText;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.Signature;
import java.util.List;
import java.util.stream.Stream;

/** The loaded library with the address of each function. Immutable and thread-safe. */
public final class CudaLibrary {

    private final SharedLibrary library;
    private final long[] addresses = new long[CudaSymbol.values().length];

    CudaLibrary(SharedLibrary library) {
        this.library = library;
        for (CudaSymbol symbol : CudaSymbol.values()) {
            addresses[symbol.ordinal()] = library.symbol(symbol.symbol());
        }
    }

    String path() {
        return library.path();
    }

    /** Returns the names of functions that this library lacks. */
    List<String> missing() {
        return Stream.of(CudaSymbol.values())
                .filter(symbol -> addresses[symbol.ordinal()] == 0)
                .map(CudaSymbol::symbol)
                .toList();
    }

    /** Calls a function that the library has, and returns its CUresult. */
    public int call(CudaSymbol symbol, long... arguments) {
        return (int) Invocation.once(signature(symbol), addresses[symbol.ordinal()], arguments);
    }

    /** Calls a function, and throws where it returns another result than success. */
    public void require(CudaSymbol symbol, long... arguments) throws CudaException {
        check(symbol, call(symbol, arguments));
    }

    public static void check(CudaSymbol symbol, int result) throws CudaException {
        if (result != CudaResult.SUCCESS) {
            throw new CudaException(symbol, result);
        }
    }

    /** Returns a function with memory for its arguments, for calls in a row. */
    public Invocation prepare(CudaSymbol symbol, NativeMemory memory, int at) {
        return new Invocation(signature(symbol), addresses[symbol.ordinal()], memory, at);
    }

    public static Signature signature(CudaSymbol symbol) {
        return Signature.of(symbol.signature());
    }

    /** Returns a result in words: "2 (CUDA_ERROR_OUT_OF_MEMORY, out of memory)". */
    public String describe(int result) {
        String words = Stream.of(CudaSymbol.ERROR_NAME, CudaSymbol.ERROR_STRING)
                .map(symbol -> text(symbol, result))
                .filter(text -> !text.isEmpty())
                .reduce((name, text) -> name + ", " + text)
                .orElse("");
        return words.isEmpty() ? "code " + result : result + " (" + words + ")";
    }

    private String text(CudaSymbol symbol, int result) {
        if (addresses[symbol.ordinal()] == 0) {
            return "";
        }
        try (NativeMemory out = NativeMemory.allocate(8)) {
            return call(symbol, result, out.address()) == CudaResult.SUCCESS
                    ? CText.at(out.buffer().getLong(0))
                    : "";
        }
    }

    /** Returns the absence for a failed call. */
    <T> Reading<T> absent(CudaException failure) {
        Absence cause = CudaResult.absence(failure.result());
        String answered = failure.symbol().symbol() + " answered " + describe(failure.result());
        return Reading.absent(cause, failure.result(), answered);
    }
}
