package dev.gpuwarden.nat.cuda;

/** A comparison by a kernel that missed an error which the host had planted. No call has failed. */
public final class BlindComparison extends RuntimeException {

    private static final long serialVersionUID = 1;

    BlindComparison(String message) {
        super(message, null, false, false);
    }

    /** Returns what was missed. */
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
