package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.XidMention;
import dev.gpuwarden.core.util.Text;
import java.time.Clock;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The records about an XID that no known form fits. An operator must learn of them, since each may be a fault. One record of each form
 * is news. Not thread-safe.
 */
final class UnreadLines {

    /** The bound of remembered forms: users can write lines. */
    private static final int MOST_FORMS = 16;

    /** The longest quotation in the daemon's log and in the check, in characters. */
    private static final int LONGEST = 200;

    private final KernelLogStats.Counters counters;
    private final Clock clock;
    private final Set<String> forms = new HashSet<>();
    private Optional<String> news = Optional.empty();

    UnreadLines(KernelLogStats.Counters counters, Clock clock) {
        this.counters = counters;
        this.clock = clock;
    }

    /** Takes a record that has no known message. */
    void add(KernelRecord record) {
        if (!mayBeTheDrivers(record) || XidMention.of(record.text()) == XidMention.NONE) {
            return;
        }
        String text = Text.head(record.text(), LONGEST);
        counters.unread(text, clock.instant());
        if (forms.size() < MOST_FORMS && forms.add(form(text))) {
            news = Optional.of(text);
        }
    }

    /** A source that proves the kernel has no prefix, so a message of the driver begins with its name: NVRM or nvidia. */
    private static boolean mayBeTheDrivers(KernelRecord record) {
        return record.writer() == Writer.UNTOLD
                || record.writer() == Writer.KERNEL && record.text().regionMatches(true, 0, "nv", 0, 2);
    }

    /** Returns a record of a form that was not seen before, once. */
    Optional<String> news() {
        Optional<String> latest = news;
        news = Optional.empty();
        return latest;
    }

    /** Returns the text with one letter for each word and one digit for each number. */
    private static String form(String text) {
        StringBuilder form = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            char kind = Character.isDigit(c) ? '0' : Character.isLetter(c) ? 'a' : c;
            if (form.length() == 0 || form.charAt(form.length() - 1) != kind) {
                form.append(kind);
            }
        }
        return form.toString();
    }
}
