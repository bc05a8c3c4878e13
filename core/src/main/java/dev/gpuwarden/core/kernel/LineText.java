package dev.gpuwarden.core.kernel;

/** The beginning of a line, with readers for times. A reader takes the position of a time and returns the position behind it. */
abstract class LineText {

    final String line;
    /** The end of the part that is read. */
    final int end;

    LineText(String line, int end) {
        this.line = line;
        this.end = end;
    }

    /** Returns the end of a wall-clock time, in any of the forms that programs print; -1 where there is none. */
    final int wallClock(int from) {
        int to = iso(from);
        to = to < 0 ? monthAndDay(from) : to;
        to = to < 0 ? weekdayAndDate(from) : to;
        return to < 0 ? unixSeconds(from) : to;
    }

    /** Returns the end of {@code 2025-01-25T10:34:54.859532+00:00}; -1 for other text. */
    final int iso(int from) {
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

    /** Returns the end of {@code Jun 12 16:30:32}, in any language; -1 for other text. A year may follow. */
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

    /** Returns the end of {@code Wed 2024-07-31 23:14:18 UTC}, journalctl's short-full; -1 for other text. */
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

    /** Returns the end of {@code 1722467658.859532}, journalctl's short-unix; -1 for other text. */
    private int unixSeconds(int from) {
        int dot = digits(from);
        boolean seconds = dot - from >= 9 && dot < end && line.charAt(dot) == '.' && digits(dot + 1) - dot == 7;
        return seconds ? digits(dot + 1) : -1;
    }

    final boolean clockWithin(int from, int to) {
        for (int i = from; i + 8 <= to; i++) {
            if (clock(i)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the text has a time such as {@code 23:14:18} here. */
    final boolean clock(int from) {
        return from + 8 <= end
                && digits(from) - from == 2
                && line.charAt(from + 2) == ':'
                && digits(from + 3) - from == 5
                && line.charAt(from + 5) == ':'
                && digits(from + 6) - from == 8;
    }

    final int digits(int from) {
        int i = from;
        while (i < end && digit(i)) {
            i++;
        }
        return i;
    }

    final int letters(int from) {
        int i = from;
        while (i < end && (Character.isLetter(line.charAt(i)) || i > from && line.charAt(i) == '.')) {
            i++;
        }
        return i;
    }

    final int spaces(int from) {
        int i = from;
        while (i < end && line.charAt(i) == ' ') {
            i++;
        }
        return i;
    }

    final boolean digit(int i) {
        char c = line.charAt(i);
        return c >= '0' && c <= '9';
    }
}
