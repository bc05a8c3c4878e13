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
        if (to >= 0) {
            return zone(to);
        }
        to = monthAndDay(from);
        to = to < 0 ? weekdayAndDate(from) : to;
        to = to < 0 ? numericDate(from) : to;
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

    /** Returns the end of {@code Jun 12 16:30:32}, in any language; -1 for other text. A year may stand before or behind the clock. */
    private int monthAndDay(int from) {
        int day = day(from);
        if (day < 0 || day >= end || " ,".indexOf(line.charAt(day)) < 0) {
            return -1;
        }
        int clock = Math.max(day, year(day)) + 1;
        if (!clock(clock)) {
            return -1;
        }
        int to = fraction(clock + 8);
        return Math.max(to, year(to));
    }

    /** Returns the end of {@code Jun 12}; -1 for other text. In Chinese, Japanese and Korean the month is a number and a letter. */
    private int day(int from) {
        int word = digits(from);
        int month = letters(word);
        if (month == word || word - from > 2 || month - from > 10) {
            return -1;
        }
        // Vietnamese months are letters and a number. dmesg prints a day of two digits directly behind the month.
        int number = digits(month);
        int i = spaces(number);
        int to = digits(i);
        boolean hour = number > month && to < end && line.charAt(to) == ':';
        if (i > number && to > i && to - i <= 2 && !hour) {
            return to;
        }
        return number > month && number - month <= 2 ? number : -1;
    }

    /** Returns the end of a space and a year; -1 for other text. */
    private int year(int from) {
        int i = from < end && line.charAt(from) == ',' ? from + 1 : from;
        boolean number = i < end && line.charAt(i) == ' ' && digits(i + 1) - i == 5;
        return number && (i + 5 == end || line.charAt(i + 5) == ' ') ? i + 5 : -1;
    }

    /** Returns the end of {@code Jun 12 16:30}, dmesg's form of each new minute; -1 for other text. */
    final int minute(int from) {
        int day = day(from);
        boolean clock = day > 0
                && day + 6 <= end
                && line.charAt(day) == ' '
                && digits(day + 1) - day == 3
                && line.charAt(day + 3) == ':'
                && digits(day + 4) - day == 6;
        return clock ? day + 6 : -1;
    }

    /** Returns the end of {@code Wed 2024-07-31 23:14:18 UTC}, journalctl's short-full, or of date's form; -1 for other text. */
    private int weekdayAndDate(int from) {
        int i = letters(from);
        if (i == from || i >= end || line.charAt(i) != ' ') {
            return -1;
        }
        int to = iso(i + 1);
        if (to < 0) {
            return monthAndDay(spaces(i));
        }
        if (to >= end || line.charAt(to) != ' ') {
            return -1;
        }
        int zone = letters(to + 1);
        return zone == to + 1 ? zone(to) : zone;
    }

    /** Returns the end of {@code  +0530}, a time zone without letters; {@code from} where none is there. */
    private int zone(int from) {
        boolean sign = from + 2 < end && line.charAt(from) == ' ' && "+-".indexOf(line.charAt(from + 1)) >= 0;
        int hours = sign ? digits(from + 2) : from;
        if (!sign || hours - from < 4 || hours - from > 6) {
            return from;
        }
        return hours < end && line.charAt(hours) == ':' ? digits(hours + 1) : hours;
    }

    /** Returns the end of {@code 06/12/2024 16:30:32}, {@code 6/12/2024, 4:30:32 PM} and the like; -1 for other text. */
    private int numericDate(int from) {
        int i = from;
        char separator = '\0';
        for (int part = 0; part < 3; part++) {
            int to = digits(i);
            if (to == i || to - i > 4 || to >= end) {
                return -1;
            }
            char behind = line.charAt(to);
            boolean fits = part == 0
                    ? "/.-".indexOf(behind) >= 0
                    : part == 1 ? behind == separator : ", T".indexOf(behind) >= 0;
            if (!fits) {
                return -1;
            }
            separator = part == 0 ? behind : separator;
            i = part == 2 ? to : to + 1;
        }
        i = line.charAt(i) == ',' ? i + 1 : i;
        if (i >= end || " T".indexOf(line.charAt(i)) < 0) {
            return -1;
        }
        int hour = i + 1;
        int clock = digits(hour) - hour == 1 ? hour - 1 : hour;
        if (!clockFrom(clock, digits(hour))) {
            return -1;
        }
        int to = fraction(clock + 8);
        boolean half = to + 2 < end
                && line.charAt(to) == ' '
                && "AP".indexOf(line.charAt(to + 1)) >= 0
                && line.charAt(to + 2) == 'M';
        return half ? to + 3 : zone(to);
    }

    private int fraction(int from) {
        boolean point = from < end && line.charAt(from) == '.';
        return point ? digits(from + 1) : from;
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
        return digits(from) - from == 2 && clockFrom(from, from + 2);
    }

    /** @param minutes the position behind the hour, of a clock that would begin here with two digits */
    private boolean clockFrom(int from, int minutes) {
        return from + 8 <= end
                && minutes == from + 2
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
        while (i < end && inWord(line.charAt(i), i == from)) {
            i++;
        }
        return i;
    }

    /** Returns whether the character is a letter, or continues a word: a full stop, or a vowel sign of Thai and Hindi. */
    private static boolean inWord(char c, boolean first) {
        if (c < 0x80) {
            int small = c | 0x20;
            return small >= 'a' && small <= 'z' || c == '.' && !first;
        }
        int type = Character.getType(c);
        boolean mark = type == Character.NON_SPACING_MARK || type == Character.COMBINING_SPACING_MARK;
        return Character.isLetter(c) || mark && !first;
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
