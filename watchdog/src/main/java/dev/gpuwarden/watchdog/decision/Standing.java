package dev.gpuwarden.watchdog.decision;

/**
 * The answer to the question if the reason for a recycle still holds when it is about to be carried out.
 *
 * @param text why it does not hold, or why that is unknown; empty where it holds
 */
public record Standing(State state, String text) {

    /** The reason holds: this tenant is over its budget, under the pressure that the rules demand. */
    public static final Standing NEEDED = new Standing(State.NEEDED, "");

    /** The answer in one word. */
    public enum State {
        NEEDED,
        OVER,
        UNKNOWN
    }

    /** Returns that the reason is over. */
    public static Standing over(String why) {
        return new Standing(State.OVER, why);
    }

    /** Returns that the present state is missing, old or false. */
    public static Standing unknown(String why) {
        return new Standing(State.UNKNOWN, why);
    }
}
