package dev.gpuwarden.runner;

/** The caller asked for what is not there; the message says what was expected. Exit code 2. */
final class UsageError extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UsageError(String message) {
        super(message);
    }
}
