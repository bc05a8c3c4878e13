package dev.gpuwarden.cli;

/** The user's input or configuration is wrong; the message says subject, expected and seen. Ends with exit code 2. */
public final class UserError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UserError(String message) {
        super(message);
    }
}
