package dev.gpuwarden.runner.compile;

/** What was edited does not compile; the message has what the compiler reports. */
public final class CompileError extends RuntimeException {

    private static final long serialVersionUID = 1L;

    CompileError(String message) {
        super(message);
    }
}
