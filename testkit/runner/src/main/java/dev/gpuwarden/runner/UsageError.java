package dev.gpuwarden.runner;

/** A wrong argument; the message has the expected ones. Exit code 2. */
final class UsageError extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UsageError(String message) {
        super(message);
    }
}
