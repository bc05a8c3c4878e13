package dev.gpuwarden.daemon.kernlog;

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
import java.util.Optional;

/** Makes records from the lines of a file: of /dev/kmsg's form, or as syslog, journalctl and dmesg write them. */
final class LineParser {

    /** Tag of the reset job of NVSentinel, which root writes. */
    static final String RESET_TAG = "nvsentinel-gpu-reset";

    private static final DateTimeFormatter ISO = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .appendLiteral('T')
            .append(DateTimeFormatter.ISO_LOCAL_TIME)
            .appendPattern("[XXX][XX][X]")
            .toFormatter(Locale.ROOT);

    private final BootClock clock;
    private final ZoneId zone;
    private long lastSequence = -1;
    private boolean kmsg;

    LineParser(BootClock clock, ZoneId zone) {
        this.clock = clock;
        this.zone = zone;
    }

    /** Where reading goes on behind a record with this number; -1 where records have none. */
    interface Behind {
        LogSource.Cursor at(long sequence);
    }

    /** Records up to this number were read before. */
    void goOn(long sequence) {
        lastSequence = sequence;
    }

    /** Tells the line; nothing for an empty one, for lines that belong to the record before, and for what was read before. */
    void tell(byte[] bytes, int from, int to, Behind behind, LogSource.Sink sink) {
        int end = to > from && bytes[to - 1] == '\r' ? to - 1 : to;
        if (end == from || kmsg && bytes[from] == ' ') {
            return;
        }
        Optional<KmsgRecord> record = KmsgRecord.parse(bytes, from, end);
        kmsg = record.isPresent();
        if (record.isEmpty()) {
            sink.record(ofSyslog(RecordText.of(bytes, from, end)), behind.at(lastSequence));
        } else if (isNew(record.get(), sink)) {
            KmsgRecord known = record.get();
            sink.record(
                    new KernelRecord(clock.at(known.micros()), known.writer(), known.text()),
                    behind.at(known.sequence()));
        }
    }

    /** A file that stands for the kernel's ring may be replaced by one that holds the newest records only. */
    private boolean isNew(KmsgRecord record, LogSource.Sink sink) {
        long sequence = record.sequence();
        boolean boot = sequence == 0 && record.text().startsWith(BootStart.FIRST_WORDS);
        if (!boot && sequence <= lastSequence) {
            return false;
        }
        if (!boot && lastSequence >= 0 && sequence > lastSequence + 1) {
            long lost = sequence - lastSequence - 1;
            sink.gap(lost, lost + " records are missing in the file");
        }
        lastSequence = sequence;
        return true;
    }

    /** Another file: what its first line may belong to is not known. */
    void elsewhere() {
        kmsg = false;
    }

    private KernelRecord ofSyslog(String line) {
        LinePrefix prefix = LinePrefix.of(line);
        // A file does not tell whether the kernel wrote; but what another program wrote bears its name.
        boolean kernel = prefix.tag().isEmpty()
                || prefix.tag().equals("kernel")
                || prefix.tag().equals(RESET_TAG);
        return new KernelRecord(time(prefix.stamp(), clock, zone), kernel ? Writer.UNTOLD : Writer.USER, prefix.text());
    }

    /** EPOCH for what is not understood. Seconds since boot count from this boot: older ones are not read. */
    static Instant time(String stamp, BootClock clock, ZoneId zone) {
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
                return dot >= 9 ? Instant.EPOCH.plusNanos(micros * 1000) : clock.at(micros);
            }
            return syslog(stamp, clock.now(), zone);
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

    /** Made when a file has such lines at all. */
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

    /** The year is not told: the newest that does not lie ahead. */
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
