package dev.gpuwarden.cli;

/**
 * An error in the user's input or configuration. The message gives subject, expected value and seen value. The exit
 * code is 2.
 */
public final class UserError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UserError(String message) {
        super(message);
    }
}
