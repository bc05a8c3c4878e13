package dev.gpuwarden.core.kernel;

/**
 * A line of a log file, taken apart: what syslog, journalctl, dmesg and /dev/kmsg put before a message, and the message. Whoever writes to
 * syslog chooses his tag himself, but cannot get rid of having one.
 *
 * @param stamp the time as it is written there: "14328.198504", "Jun 12 16:30:32", "2025-01-25T10:34:54,859532+00:00"; empty
 *     where there is none. The first one, where syslog's and the kernel's both stand there
 * @param tag the program that syslog names: "kernel", "kubelet"; {@link #USER} where only the facility tells that it was not the
 *     kernel; empty where the line names none, as in dmesg's output
 * @param text the message, without space in front
 */
public record LinePrefix(String stamp, String tag, String text) {

    static final String KERNEL = "kernel";
    static final String USER = "user";

    /** The longest prefix that is looked for: host names have at most 64 characters, stamps about 40. */
    static final int LONGEST = 200;

    /** Never fails: what is not understood is message. */
    public static LinePrefix of(String line) {
        return new Scanner(line).scan();
    }

    /** Reads from the left; every method leaves {@code at} alone when it finds nothing. */
    private static final class Scanner {
        private final String line;
        private final int end;
        private int at;
        private String stamp = "";
        private String tag = "";
        private boolean foreign;

        Scanner(String line) {
            this.line = line;
            this.end = Math.min(line.length(), LONGEST);
        }

        LinePrefix scan() {
            at = KmsgPrefix.end(line);
            if (at > 0) {
                return new LinePrefix("", KmsgPrefix.byProgram(line) ? USER : "", line.substring(at));
            }
            skipSpace();
            boolean priority = priority();
            boolean dmesg = facilityAndLevel();
            if (priority && at + 1 < end && digit(at) && line.charAt(at + 1) == ' ') {
                syslog5424();
            } else if (brackets()) {
                // journalctl's short-monotonic writes host and tag behind it.
                skipSpace();
                hostAndTag(true);
            } else if (wallStamp()) {
                // dmesg's own form has a comma, and no host.
                if (!dmesg && stamp.indexOf(',') < 0) {
                    hostAndTag(false);
                }
            } else {
                hostAndTag(true);
            }
            brackets();
            skipSpace();
            boolean claimsKernel = tag.isEmpty() || tag.equals(KERNEL);
            return new LinePrefix(stamp, foreign && claimsKernel ? USER : tag, line.substring(at));
        }

        /** {@code <4>} of the kernel's buffer and of syslog's wire. */
        private boolean priority() {
            int i = at;
            if (i >= end || line.charAt(i) != '<') {
                return false;
            }
            i = digits(i + 1);
            if (i == at + 1 || i > at + 4 || i >= end || line.charAt(i) != '>') {
                return false;
            }
            // Facility times eight, and the level; the kernel's facility is 0, and nobody else gets it.
            foreign = Integer.parseInt(line, at + 1, i, 10) > 7;
            at = i + 1;
            skipSpace();
            return true;
        }

        /** {@code kern  :err   : } of dmesg -x. */
        private boolean facilityAndLevel() {
            int i = padded(at);
            int j = i < 0 ? -1 : padded(i);
            if (j < 0 || j >= end || line.charAt(j) != ' ') {
                return false;
            }
            foreign = !line.startsWith("kern ", at);
            at = j;
            skipSpace();
            return true;
        }

        /** A short word in lower case, spaces, a colon. Behind the first one no space, or it is a message. */
        private int padded(int from) {
            int i = from;
            while (i < end && (lower(line.charAt(i)) || digit(i))) {
                i++;
            }
            int word = i - from;
            while (i < end && line.charAt(i) == ' ') {
                i++;
            }
            boolean fits = word >= 2 && i - from >= 6 && i - from <= 8;
            return fits && i < end && line.charAt(i) == ':' ? i + 1 : -1;
        }

        /** {@code [  123.456]}, {@code [Wed Jul 31 23:14:18 2024]}, {@code [    T1]}, one or more of them. */
        private boolean brackets() {
            boolean any = false;
            while (true) {
                int i = at;
                while (i < end && line.charAt(i) == ' ') {
                    i++;
                }
                int close = i < end && line.charAt(i) == '[' ? line.indexOf(']', i) : -1;
                if (close < 0 || close >= end || !stampLike(i + 1, close)) {
                    return any;
                }
                note(line.substring(i + 1, close).trim());
                at = close + 1;
                any = true;
            }
        }

        private boolean stampLike(int from, int to) {
            int i = from;
            while (i < to && line.charAt(i) == ' ') {
                i++;
            }
            if (i == to) {
                return false;
            }
            char first = line.charAt(i);
            if ((first == 'T' || first == 'C') && i + 1 < to && digits(i + 1) == to) {
                return true;
            }
            if (line.substring(i, to).equals("...")) {
                return true;
            }
            if (digit(i)) {
                int dot = digits(i);
                boolean seconds = dot < to && line.charAt(dot) == '.' && since(digits(dot + 1), to);
                return seconds || iso(i) == to;
            }
            // dmesg --reltime writes a date, then the seconds since the line before.
            boolean relative = first == '+' && digits(i + 1) > i + 1 && since(i + 1, to);
            boolean minute = letters(i) - i == 3 && digits(i + 3) - i == 5 && to - i == 11 && line.charAt(i + 8) == ':';
            return relative
                    || minute
                    || since(i, to)
                    || to - i <= 32 && Character.isLetter(first) && clockWithin(i, to);
        }

        /** Nothing more, or the seconds since the line before, in angle brackets as dmesg --show-delta has them. */
        private boolean since(int from, int to) {
            for (int i = from; i < to; i++) {
                if (!digit(i) && " .<>".indexOf(line.charAt(i)) < 0) {
                    return false;
                }
            }
            return true;
        }

        /** ISO time, syslog's month and day, journalctl's seconds since 1970. */
        private boolean wallStamp() {
            int to = iso(at);
            if (to < 0) {
                to = monthAndDay(at);
            }
            if (to < 0) {
                to = weekdayAndDate(at);
            }
            if (to < 0) {
                int dot = digits(at);
                boolean unix = dot - at >= 9 && dot < end && line.charAt(dot) == '.' && digits(dot + 1) - dot == 7;
                to = unix ? digits(dot + 1) : -1;
            }
            if (to < 0 || to < end && line.charAt(to) != ' ') {
                return false;
            }
            note(line.substring(at, to));
            at = to;
            skipSpace();
            return true;
        }

        /** {@code 2025-01-25T10:34:54.859532+00:00}; returns where it ends, or -1. */
        private int iso(int from) {
            boolean date = digits(from) - from == 4
                    && from + 10 < end
                    && line.charAt(from + 4) == '-'
                    && line.charAt(from + 7) == '-'
                    && (line.charAt(from + 10) == 'T' || line.charAt(from + 10) == ' ');
            if (!date || !clock(from + 11)) {
                return -1;
            }
            int i = from + 19;
            if (i < end && (line.charAt(i) == '.' || line.charAt(i) == ',')) {
                i = digits(i + 1);
            }
            if (i < end && line.charAt(i) == 'Z') {
                return i + 1;
            }
            if (i < end && (line.charAt(i) == '+' || line.charAt(i) == '-')) {
                int j = digits(i + 1);
                i = j < end && line.charAt(j) == ':' ? digits(j + 1) : j;
            }
            return i;
        }

        /** {@code Jun 12 16:30:32}, in any language, with or without a year behind it. */
        private int monthAndDay(int from) {
            int i = letters(from);
            if (i == from || i - from > 10 || i >= end || line.charAt(i) != ' ') {
                return -1;
            }
            i = spaces(i);
            int day = digits(i);
            if (day == i || day - i > 2 || day >= end || line.charAt(day) != ' ' || !clock(day + 1)) {
                return -1;
            }
            int fraction = day + 9;
            return fraction < end && line.charAt(fraction) == '.' ? digits(fraction + 1) : fraction;
        }

        /** {@code Wed 2024-07-31 23:14:18 UTC} of journalctl's short-full. */
        private int weekdayAndDate(int from) {
            int i = letters(from);
            if (i == from || i >= end || line.charAt(i) != ' ') {
                return -1;
            }
            int to = iso(i + 1);
            if (to < 0 || to >= end || line.charAt(to) != ' ') {
                return -1;
            }
            int zone = letters(to + 1);
            return zone == to + 1 ? to : zone;
        }

        /**
         * {@code host kernel: }, and {@code kernel: } alone; other programs' tags only where a stamp showed that the line is
         * syslog's, for messages have colons too.
         */
        private void hostAndTag(boolean kernelOnly) {
            if (tagAt(at, kernelOnly)) {
                return;
            }
            int space = line.indexOf(' ', at);
            if (space > at && space < end && line.charAt(space - 1) != ':') {
                tagAt(spaces(space), kernelOnly);
            }
        }

        private boolean tagAt(int from, boolean kernelOnly) {
            int i = from;
            while (i < end && " :[".indexOf(line.charAt(i)) < 0) {
                i++;
            }
            int to = i;
            if (i < end && line.charAt(i) == '[') {
                i = digits(i + 1);
                i = i < end && line.charAt(i) == ']' ? i + 1 : -1;
            }
            boolean colon = i > 0 && to > from && i < end && line.charAt(i) == ':';
            String name = line.substring(from, to);
            // syslogd's messages to terminals have no space between the tag and the kernel's time.
            boolean ends = i + 1 >= line.length()
                    || line.charAt(i + 1) == ' '
                    || name.equals(KERNEL) && line.charAt(i + 1) == '[';
            if (!colon || !ends) {
                return false;
            }
            // A line of dmesg without host: the driver's own name stands where a tag would.
            if (kernelOnly ? !name.equals(KERNEL) : from == at && !name.equals(KERNEL)) {
                return false;
            }
            tag = name;
            at = i + 1;
            return true;
        }

        /** {@code 1 2024-07-31T23:14:18Z host kernel - - - text} (RFC 5424). */
        private void syslog5424() {
            int[] starts = new int[7];
            int i = at;
            for (int field = 0; field < starts.length; field++) {
                starts[field] = i;
                int space = line.indexOf(' ', i);
                if (space < 0 || space >= end || field == 6 && line.charAt(i) == '[') {
                    return;
                }
                i = space + 1;
            }
            note(line.substring(starts[1], starts[2] - 1));
            tag = line.substring(starts[3], starts[4] - 1);
            at = i;
        }

        private void note(String time) {
            if (stamp.isEmpty() && !time.isEmpty() && "TC.".indexOf(time.charAt(0)) < 0) {
                stamp = time;
            }
        }

        private boolean clockWithin(int from, int to) {
            for (int i = from; i + 8 <= to; i++) {
                if (clock(i)) {
                    return true;
                }
            }
            return false;
        }

        /** {@code 23:14:18} */
        private boolean clock(int from) {
            return from + 8 <= end
                    && digits(from) - from == 2
                    && line.charAt(from + 2) == ':'
                    && digits(from + 3) - from == 5
                    && line.charAt(from + 5) == ':'
                    && digits(from + 6) - from == 8;
        }

        private int digits(int from) {
            int i = from;
            while (i < end && digit(i)) {
                i++;
            }
            return i;
        }

        private int letters(int from) {
            int i = from;
            while (i < end && (Character.isLetter(line.charAt(i)) || i > from && line.charAt(i) == '.')) {
                i++;
            }
            return i;
        }

        private int spaces(int from) {
            int i = from;
            while (i < end && line.charAt(i) == ' ') {
                i++;
            }
            return i;
        }

        private void skipSpace() {
            while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
                at++;
            }
        }

        private boolean digit(int i) {
            char c = line.charAt(i);
            return c >= '0' && c <= '9';
        }

        private static boolean lower(char c) {
            return c >= 'a' && c <= 'z';
        }
    }
}
