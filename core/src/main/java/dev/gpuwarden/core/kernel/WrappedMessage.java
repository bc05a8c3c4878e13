package dev.gpuwarden.core.kernel;

import java.util.List;
import java.util.Optional;

/**
 * A message of the driver that a log may have in several records: one of them names the GPU, another has the words. Needs all records
 * of a log in their order. Not thread-safe.
 */
public final class WrappedMessage {

    /**
     * A message in several lines, by nv.c and nv-pci.c of NVIDIA/open-gpu-kernel-modules.
     *
     * @param head the beginning of its first line
     * @param tail text in the line that makes it whole
     */
    private record Parts(String head, String tail) {

        boolean begins(String text, int driver) {
            return text.startsWith(head, driver) && text.indexOf(tail, driver) < 0;
        }
    }

    private static final List<Parts> MESSAGES = List.of(
            new Parts("NVRM: The NVIDIA GPU ", "fallen off the bus"),
            new Parts("NVRM: This PCI I/O region assigned to your NVIDIA device is invalid", "NVRM: BAR"));

    /** The largest distance of the two records. A message has three lines, with those of other processors between them. */
    private static final int FARTHEST = 6;

    private static final int LONGEST_HEAD = 256;

    private Optional<Parts> open = Optional.empty();
    private String head = "";
    private boolean headNames;
    private int age;
    private long headNumber;
    private long first;

    /** Returns the record's text, behind the text of the earlier records that belong to it. */
    public String join(String text) {
        return join(text, 0);
    }

    /**
     * Returns the same text.
     *
     * @param number of the record, for {@link #first}
     */
    public String join(String text, long number) {
        first = number;
        if (open.isPresent() && ++age > FARTHEST) {
            open = Optional.empty();
        }
        int driver = text.indexOf("NVRM:");
        if (driver < 0) {
            return text;
        }
        for (Parts parts : MESSAGES) {
            if (parts.begins(text, driver)) {
                open = Optional.of(parts);
                headNumber = number;
                head = text.substring(0, Math.min(text.length(), LONGEST_HEAD));
                headNames = PrintedAddress.first(text, driver).isPresent();
                age = 0;
                return text;
            }
        }
        // A line that names another GPU than its head does is no part of that message.
        if (open.isPresent()
                && text.indexOf(open.get().tail(), driver) >= 0
                && headNames == PrintedAddress.first(text, driver).isEmpty()) {
            first = headNumber;
            open = Optional.empty();
            return head + " " + text.substring(driver);
        }
        return text;
    }

    /** Returns the number of the record in which the message of the last record began. */
    public long first() {
        return first;
    }
}
