package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.LinePrefix;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.Locale;

/** A parser of lines of a file, in the form of /dev/kmsg or of syslog, journalctl and dmesg. Not thread-safe. */
final class LineParser {

    private static final DateTimeFormatter ISO = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .appendLiteral('T')
            .append(DateTimeFormatter.ISO_LOCAL_TIME)
            .appendPattern("[XXX][XX][X]")
            .toFormatter(Locale.ROOT);

    private final Boot boot;
    private final ZoneId zone;
    private final LineTrust trust;
    private boolean foreign;
    private long lastSequence = -1;
    private boolean kmsg;

    LineParser(Boot boot, ZoneId zone, LineTrust trust) {
        this.boot = boot;
        this.zone = zone;
        this.trust = trust;
    }

    /** Returns whether no line can prove its writer. */
    boolean provesNothing() {
        return trust == LineTrust.NONE;
    }

    /** A supplier of the position behind a record. */
    interface Behind {
        /** @param sequence the record's sequence number; -1 where records have none */
        LogSource.Cursor at(long sequence);
    }

    /** Skips records up to this sequence number: an earlier process read them. */
    void resume(long sequence) {
        lastSequence = sequence;
    }

    /** Sends the line's record to the sink. Skips empty lines, properties of the record before, and records that were read before. */
    void parse(byte[] bytes, int from, int to, Behind behind, LogSource.Sink sink) {
        int end = to > from && bytes[to - 1] == '\r' ? to - 1 : to;
        if (end == from || kmsg && bytes[from] == ' ') {
            return;
        }
        kmsg = KmsgSource.parse(bytes, from, end, (writer, sequence, micros, text) -> {
                    if (isNew(sequence, text, sink)) {
                        boolean proven = trust == LineTrust.KERNEL_TAG || trust == LineTrust.RECORDS && !foreign;
                        sink.record(new KernelRecord(boot.at(micros), writer, text, proven), behind.at(sequence));
                    }
                    return sequence;
                })
                .isPresent();
        if (!kmsg) {
            // A user may begin a line like a record within a message to the system's logger. The lines around it show
            // that.
            foreign = true;
            sink.record(ofSyslog(KernelRecord.clean(bytes, from, end)), behind.at(lastSequence));
        }
    }

    /** Returns whether the record is new. A file that stands for the kernel's ring may be replaced by its newest records. */
    private boolean isNew(long sequence, String text, LogSource.Sink sink) {
        boolean first = sequence == 0 && text.startsWith(Boot.FIRST_WORDS);
        if (!first && sequence <= lastSequence) {
            return false;
        }
        if (!first && lastSequence >= 0 && sequence > lastSequence + 1) {
            long lost = sequence - lastSequence - 1;
            sink.gap(lost, lost + " records are missing in the file");
        }
        lastSequence = sequence;
        return true;
    }

    /** Starts another file, whose first line belongs to no known record. */
    void newFile() {
        kmsg = false;
    }

    private KernelRecord ofSyslog(String line) {
        LinePrefix prefix = LinePrefix.of(line);
        // A file does not record whether the kernel wrote a line, but other programs' lines have their names as tags.
        boolean kernel = prefix.isKernels() || prefix.tag().equals(KernelLogParser.RESET_JOB);
        boolean proven = trust == LineTrust.KERNEL_TAG && prefix.tag().equals("kernel");
        return new KernelRecord(
                time(prefix.stamp(), boot, zone), kernel ? Writer.UNTOLD : Writer.USER, prefix.text(), proven);
    }

    /** Returns the time of a stamp; EPOCH for an unknown form. Seconds since boot count from this boot. */
    static Instant time(String stamp, Boot boot, ZoneId zone) {
        if (stamp.isEmpty()) {
            return Instant.EPOCH;
        }
        try {
            if (stamp.length() > 10 && stamp.charAt(4) == '-') {
                return iso(stamp.replace(',', '.').replace(' ', 'T'), zone);
            }
            int dot = stamp.indexOf('.');
            if (dot > 0 && stamp.length() == dot + 7 && stamp.indexOf(' ') < 0) {
                long micros =
                        Long.parseLong(stamp.substring(0, dot)) * 1_000_000 + Long.parseLong(stamp.substring(dot + 1));
                return dot >= 9 ? Instant.EPOCH.plusNanos(micros * 1000) : boot.at(micros);
            }
            return syslog(stamp, boot.now(), zone);
        } catch (DateTimeException | NumberFormatException | ArithmeticException e) {
            return Instant.EPOCH;
        }
    }

    private static Instant iso(String stamp, ZoneId zone) {
        var parsed = ISO.parseBest(stamp, OffsetDateTime::from, LocalDateTime::from);
        return parsed instanceof OffsetDateTime exact
                ? exact.toInstant()
                : ((LocalDateTime) parsed).atZone(zone).toInstant();
    }

    /** Formats that are made on first use. */
    private static final class Forms {
        static final DateTimeFormatter MONTH_AND_DAY = new DateTimeFormatterBuilder()
                .parseCaseInsensitive()
                .appendPattern("MMM d HH:mm:ss")
                .optionalStart()
                .appendFraction(ChronoField.NANO_OF_SECOND, 1, 9, true)
                .optionalEnd()
                .parseDefaulting(ChronoField.YEAR, 2000)
                .toFormatter(Locale.ROOT);
        static final DateTimeFormatter CTIME = DateTimeFormatter.ofPattern("EEE MMM d HH:mm:ss yyyy", Locale.ROOT);
    }

    /** Returns the time of a stamp without a year: the newest that does not lie ahead. */
    private static Instant syslog(String stamp, Instant now, ZoneId zone) {
        String single = stamp.replaceAll(" +", " ");
        if (single.length() > 5 && single.charAt(3) == ' ' && Character.isLetter(single.charAt(4))) {
            return LocalDateTime.parse(single, Forms.CTIME).atZone(zone).toInstant();
        }
        // 2000 was a leap year, so that every day parses.
        LocalDateTime parsed = LocalDateTime.parse(single, Forms.MONTH_AND_DAY);
        int year = now.atZone(zone).getYear();
        Instant thisYear = parsed.withYear(year).atZone(zone).toInstant();
        return thisYear.isAfter(now.plusSeconds(86_400))
                ? parsed.withYear(year - 1).atZone(zone).toInstant()
                : thisYear;
    }
}
