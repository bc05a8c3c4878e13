package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.BoundLibrary;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.Signature;
import java.util.stream.IntStream;

/** The loaded cuBLAS (cublas_api.h 11.11 and 12.9). */
final class CublasLibrary extends BoundLibrary<CublasLibrary.Function> {

    /** The functions that are called, with their signatures for libffi. */
    enum Function implements BoundLibrary.Symbol {
        CREATE("cublasCreate_v2", "p"),
        DESTROY("cublasDestroy_v2", "p"),
        SET_STREAM("cublasSetStream_v2", "pp"),
        DGEMM("cublasDgemm_v2", "puuuuuppupuppu"),
        PROPERTY("cublasGetProperty", "up");

        private final String symbol;
        private final String signature;

        Function(String symbol, String signature) {
            this.symbol = symbol;
            this.signature = signature;
        }

        @Override
        public String symbol() {
            return symbol;
        }
    }

    CublasLibrary(SharedLibrary library) {
        super(library, Function.values());
    }

    /** Returns the version, which needs no GPU: {@code 12.9.1}. */
    String version() {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            return IntStream.range(0, 3)
                    .mapToObj(part -> call(Function.PROPERTY, part, out.address()) == 0
                            ? Integer.toString(out.buffer().getInt(0))
                            : "?")
                    .reduce((text, part) -> text + "." + part)
                    .orElseThrow();
        }
    }

    /** Calls a function, and returns its cublasStatus_t. */
    int call(Function function, long... arguments) {
        return (int) Invocation.once(Signature.of(function.signature), address(function), arguments);
    }

    /** Calls a function, and throws where it returns another status than success. */
    void require(Function function, long... arguments) {
        int status = call(function, arguments);
        if (status != 0) {
            throw new CublasException(function.symbol + " of " + path() + " answered " + describe(status));
        }
    }

    /** Returns a status in words (cublas_api.h, cublasStatus_t). */
    private static String describe(int status) {
        return status
                + switch (status) {
                    case 1 -> " (CUBLAS_STATUS_NOT_INITIALIZED: the driver may be older than the library)";
                    case 3 -> " (CUBLAS_STATUS_ALLOC_FAILED)";
                    case 7 -> " (CUBLAS_STATUS_INVALID_VALUE)";
                    case 8 -> " (CUBLAS_STATUS_ARCH_MISMATCH)";
                    case 11 -> " (CUBLAS_STATUS_MAPPING_ERROR)";
                    case 13 -> " (CUBLAS_STATUS_EXECUTION_FAILED)";
                    case 14 -> " (CUBLAS_STATUS_INTERNAL_ERROR)";
                    case 15 -> " (CUBLAS_STATUS_NOT_SUPPORTED)";
                    default -> "";
                };
    }

    /** A call of cuBLAS that failed. */
    static final class CublasException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        CublasException(String message) {
            super(message, null, false, false);
        }
    }
}
