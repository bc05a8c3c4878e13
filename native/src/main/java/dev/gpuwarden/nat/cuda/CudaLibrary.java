package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.nat.lib.BoundLibrary;
import dev.gpuwarden.nat.lib.CText;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.Signature;
import java.util.stream.Stream;

/** The loaded libcuda.so.1. */
public final class CudaLibrary extends BoundLibrary<CudaSymbol> {

    CudaLibrary(SharedLibrary library) {
        super(library, CudaSymbol.values());
    }

    /** Calls a function that the library has, and returns its CUresult. */
    public int call(CudaSymbol symbol, long... arguments) {
        return (int) Invocation.once(signature(symbol), address(symbol), arguments);
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
        return new Invocation(signature(symbol), address(symbol), memory, at);
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
        if (!has(symbol)) {
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
