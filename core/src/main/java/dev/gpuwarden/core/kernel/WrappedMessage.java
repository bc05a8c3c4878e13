package dev.gpuwarden.core.kernel;

/**
 * Puts together what the driver prints as one message and a log may hold as several records: the first one names the GPU, the
 * last one says that it fell off the bus. To be given all records of a log in their order. Not thread-safe.
 */
public final class WrappedMessage {

    private static final String HEAD = "NVRM: The NVIDIA GPU ";
    private static final String TAIL = "fallen off the bus";

    /** The message has three lines; those of other processors come between. */
    private static final int FARTHEST = 6;

    private static final int LONGEST_HEAD = 256;

    private String head = "";
    private int age;
    private int reached;

    /** The record's text, with what belongs to it from earlier ones in front. */
    public String join(String text) {
        reached = 0;
        if (!head.isEmpty() && ++age > FARTHEST) {
            head = "";
        }
        int driver = text.indexOf("NVRM:");
        if (driver < 0) {
            return text;
        }
        boolean tail = text.indexOf(TAIL, driver) >= 0;
        if (!tail && text.startsWith(HEAD, driver)) {
            head = text.substring(0, Math.min(text.length(), LONGEST_HEAD));
            age = 0;
        } else if (tail && !head.isEmpty() && PrintedAddress.first(text, driver).isEmpty()) {
            String whole = head + " " + text.substring(driver);
            reached = age;
            head = "";
            return whole;
        }
        return text;
    }

    /** How many records before the last one its message began. */
    public int reachedBack() {
        return reached;
    }
}
