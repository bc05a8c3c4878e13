package dev.gpuwarden.core.kernel;

import java.util.Optional;
import java.util.Set;

/**
 * A line of a log file in its parts: the prefix of syslog, journalctl, dmesg or /dev/kmsg, and the message. A program that writes to
 * syslog chooses its tag, but always has one.
 *
 * @param stamp the time as printed: "14328.198504", "Jun 12 16:30:32", "2025-01-25T10:34:54,859532+00:00"; empty where there is
 *     none. With syslog's and the kernel's time, the first one
 * @param tag the program that syslog names: "kernel", "kubelet"; {@link #USER} where only the facility shows that it was not the
 *     kernel; empty where the line names none, as in dmesg's output
 * @param text the message, without leading space
 */
public record LinePrefix(String stamp, String tag, String text) {

    static final String KERNEL = "kernel";
    static final String USER = "user";

    /** Returns whether the line does not bear the name of a program: then the kernel may have written it. */
    public boolean isKernels() {
        return tag.isEmpty() || tag.equals(KERNEL);
    }

    /** Splits a line. Never fails: an unknown prefix is part of the message. */
    public static LinePrefix of(String line) {
        return new Scanner(line).scan();
    }

    /** Returns whether a program wrote the line of /dev/kmsg: the kernel gives programs another facility than its own. */
    private static boolean byProgram(String line) {
        int priority = new Cursor(line, 0).number();
        return priority < 0 || priority > 7;
    }

    /** A scanner from left to right. A method that finds nothing does not move {@code at}. */
    private static final class Scanner extends LineText {

        /** The position of the fraction's point in {@code 2025-01-25T10:34:54,859532}. */
        private static final int FRACTION = 19;

        /** The names of <a href="https://www.rfc-editor.org/rfc/rfc5424#section-6.2.1">facilities</a> in syslog.conf; also local0 to 7. */
        private static final Set<String> FACILITIES = Set.of(
                "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp");

        private int at;
        private String stamp = "";
        private String tag = "";
        private boolean foreign;

        Scanner(String line) {
            super(line, Math.min(line.length(), KernelRecord.LONGEST_PREFIX));
        }

        LinePrefix scan() {
            at = KernelRecord.kmsgEnd(line);
            if (at > 0) {
                return new LinePrefix("", byProgram(line) ? USER : "", line.substring(at));
            }
            skipSpace();
            priority();
            boolean dmesg = facilityAndLevel();
            Optional<Rfc5424> header = Rfc5424.read(line, at);
            if (header.isPresent()) {
                note(header.get().time());
                tag = header.get().app();
                at = header.get().end();
            } else if (brackets()) {
                // journalctl's short-monotonic prints host and tag behind it.
                skipSpace();
                hostAndTag(true);
            } else if (wallStamp()) {
                // dmesg's own form has a comma before the fraction, and no host.
                if (!dmesg
                        && (stamp.length() <= FRACTION || stamp.charAt(FRACTION) != ',')
                        && !tagInBrackets()
                        && !levelAndTag(at)) {
                    hostAndTag(false);
                    if (tag.isEmpty()) {
                        levelAndTag(spaces(Math.max(at, line.indexOf(' ', at))));
                    }
                }
            } else {
                hostAndTag(true);
            }
            brackets();
            skipSpace();
            boolean claimsKernel = tag.isEmpty() || tag.equals(KERNEL);
            return new LinePrefix(stamp, foreign && claimsKernel ? USER : tag, line.substring(at));
        }

        /** Reads {@code <4>} of the kernel's buffer and of syslog's wire. */
        private void priority() {
            int i = at;
            if (i >= end || line.charAt(i) != '<') {
                return;
            }
            i = digits(i + 1);
            if (i == at + 1 || i > at + 4 || i >= end || line.charAt(i) != '>') {
                return;
            }
            // Facility times eight, plus the level. Only the kernel has facility 0.
            foreign = Integer.parseInt(line, at + 1, i, 10) > 7;
            at = i + 1;
            skipSpace();
        }

        /** Reads {@code kern  :err   : } of dmesg -x. */
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

        /** Returns the end of a short word in lower case, spaces and a colon; -1 for other text. */
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

        /** Reads {@code [  123.456]}, {@code [Wed Jul 31 23:14:18 2024]}, {@code [    T1]}, one or more of them. */
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
                return seconds || iso(i) == to || minute(i) == to;
            }
            // dmesg --reltime prints a date, then the seconds since the line before.
            boolean relative = first == '+' && digits(i + 1) > i + 1 && since(i + 1, to);
            return relative
                    || minute(i) == to
                    || since(i, to)
                    || to - i <= 32 && Character.isLetter(first) && clockWithin(i, to);
        }

        /** Returns whether nothing follows, or the seconds since the line before, in angle brackets as in dmesg --show-delta. */
        private boolean since(int from, int to) {
            for (int i = from; i < to; i++) {
                if (!digit(i) && " .<>".indexOf(line.charAt(i)) < 0) {
                    return false;
                }
            }
            return true;
        }

        private boolean wallStamp() {
            int to = wallClock(at);
            if (to < 0 || to < end && line.charAt(to) != ' ') {
                return false;
            }
            note(line.substring(at, to));
            at = to;
            skipSpace();
            return true;
        }

        /** Reads {@code [kernel] }, metalog's tag. */
        private boolean tagInBrackets() {
            int close = at < end && line.charAt(at) == '[' ? line.indexOf(']', at) : -1;
            if (close < 0 || close >= end || stampLike(at + 1, close)) {
                return false;
            }
            for (int i = at + 1; i < close; i++) {
                if (!Cursor.isWord(line.charAt(i)) && line.charAt(i) != '-') {
                    return false;
                }
            }
            tag = line.substring(at + 1, close);
            at = close + 1;
            return true;
        }

        /** Reads {@code kern.err kernel: }, which BusyBox prints behind the host, and OpenWrt without it. */
        private boolean levelAndTag(int from) {
            int to = level(from);
            if (to < 0) {
                return false;
            }
            foreign = !line.startsWith("kern.", from);
            if (!tagAt(to, false)) {
                at = to;
            }
            return true;
        }

        /** Returns the position behind {@code kern.err }; -1 for other text. */
        private int level(int from) {
            int dot = from;
            while (dot < end && (lower(line.charAt(dot)) || digit(dot))) {
                dot++;
            }
            if (dot >= end || line.charAt(dot) != '.') {
                return -1;
            }
            int to = dot + 1;
            while (to < end && lower(line.charAt(to))) {
                to++;
            }
            if (to >= end || line.charAt(to) != ' ' || to - dot < 4) {
                return -1;
            }
            String facility = line.substring(from, dot);
            boolean known = FACILITIES.contains(facility) || facility.length() == 6 && facility.startsWith("local");
            return known ? spaces(to) : -1;
        }

        /**
         * Reads {@code host kernel: }, and {@code kernel: } alone. It accepts other programs' tags only behind a stamp of syslog,
         * because messages have colons too.
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
            while (i < end && !endsName(line.charAt(i))) {
                i++;
            }
            int to = i;
            if (i < end && line.charAt(i) == '[') {
                i = digits(i + 1);
                i = i < end && line.charAt(i) == ']' ? i + 1 : -1;
            }
            boolean colon = i > 0 && to > from && i < end && line.charAt(i) == ':';
            String name = line.substring(from, to);
            // syslogd's messages to terminals have no space between the tag and the kernel's text.
            boolean ends = i + 1 >= line.length() || line.charAt(i + 1) == ' ' || name.equals(KERNEL);
            if (!colon || !ends) {
                return false;
            }
            // A line of dmesg without host has the driver's own name in place of a tag.
            if (kernelOnly ? !name.equals(KERNEL) : from == at && !name.equals(KERNEL)) {
                return false;
            }
            // syslog-ng takes the driver's name for a tag where its source of the kernel's log has no program-override.
            boolean drivers = name.equals("NVRM");
            tag = drivers ? "" : name;
            at = drivers ? from : i + 1;
            return true;
        }

        private static boolean endsName(char c) {
            return c == ' ' || c == ':' || c == '[';
        }

        private void note(String time) {
            boolean processor = !time.isEmpty() && "TC.".indexOf(time.charAt(0)) >= 0 && time.indexOf(' ') < 0;
            if (stamp.isEmpty() && !processor) {
                stamp = time;
            }
        }

        private void skipSpace() {
            while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
                at++;
            }
        }

        private static boolean lower(char c) {
            return c >= 'a' && c <= 'z';
        }
    }
}
