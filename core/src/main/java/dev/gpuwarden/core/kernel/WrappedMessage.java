package dev.gpuwarden.core.kernel;

/**
 * A message of the driver that a log may have in several records: the first record names the GPU, the last one has the words that it
 * fell off the bus. Needs all records of a log in their order. Not thread-safe.
 */
public final class WrappedMessage {

    private static final String HEAD = "NVRM: The NVIDIA GPU ";
    private static final String TAIL = "fallen off the bus";

    /** The largest distance of the two records. The message has three lines, with those of other processors between them. */
    private static final int FARTHEST = 6;

    private static final int LONGEST_HEAD = 256;

    private String head = "";
    private int age;
    private int reached;

    /** Returns the record's text, behind the text of the earlier records that belong to it. */
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

    /** Returns the number of records between the last record and the one in which its message began. */
    public int reachedBack() {
        return reached;
    }
}
