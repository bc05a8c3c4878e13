package dev.gpuwarden.core.port;

/** A failure of a collective, of its library or of the driver below. The message names function, answer and rank. */
public final class CollectiveException extends Exception {

    private static final long serialVersionUID = 1;

    private final Kind kind;
    private final int code;

    /** The part that failed. */
    public enum Kind {
        /** The driver of the GPU; the code is a CUresult. */
        COMPUTE,
        /** The library of collectives; the code is an ncclResult_t. */
        COLLECTIVES,
        /** Nothing failed, but the deadline passed; the communicator is aborted. */
        TIMEOUT,
        /** {@link AbortSignal#request} was called. */
        ABORTED,
        /** The library has no such function; its version is too old. */
        NOT_SUPPORTED,
        /** A comparison of the GPU missed an error that the host had planted, so that it proves nothing. No call failed. */
        BLIND
    }

    /** @param code the library's return code; 0 where no call failed */
    public CollectiveException(Kind kind, int code, String message) {
        super(message, null, false, false);
        this.kind = kind;
        this.code = code;
    }

    public Kind kind() {
        return kind;
    }

    public int code() {
        return code;
    }

    /** Returns the message, which is never absent. */
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
