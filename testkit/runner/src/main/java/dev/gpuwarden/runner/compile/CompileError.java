package dev.gpuwarden.runner.compile;

/** An edit that does not compile; the message has the compiler's report. */
public final class CompileError extends RuntimeException {

    private static final long serialVersionUID = 1L;

    CompileError(String message) {
        super(message);
    }
}
