package dev.gpuwarden.daemon.kernlog;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The check of the kernel log itself: lines that were not read may contain a fault. */
@AutoService(HealthCheck.class)
public final class KernelLogCheck implements HealthCheck {

    /**
     * The time for which a gap, or a record that was not read, makes the node undecided. It may hide a fault, but within an hour a
     * fault is logged again or fails another check. Without this limit, one flood of the log would keep the node undecided.
     */
    static final Duration GAP_COUNTS = Duration.ofHours(1);

    @Override
    public CheckInfo info() {
        return CheckInfo.of("kernel-log", "NODE", "The kernel log can be read, and none of it was lost lately.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return List.of(judge(context.source(KernelLogStatus.class), context.now()));
    }

    static Finding judge(Reading<KernelLogStatus> log, Instant now) {
        if (log instanceof Reading.Absent<?> absent) {
            // Switched off, or a command without a monitor: the daemon reports the faults of the log.
            String code = absent.cause() == Absence.NOT_SUPPORTED ? "kernel-log-off" : "kernel-log-not-followed";
            return Finding.skipped(code, Subject.NODE, "the kernel log is not followed: " + absent.text());
        }
        KernelLogStatus status = log.asOptional().orElseThrow();
        if (status.unreadable().isPresent()) {
            return Finding.unknown(
                    "kernel-log-unreadable",
                    Subject.NODE,
                    "the kernel log cannot be read: " + status.unreadable().get(),
                    "run as root, or choose another source with --kernel-log.source");
        }
        if (status.source().equals(DriverSource.NAME)) {
            return Finding.skipped(
                    "kernel-log-off", Subject.NODE, "no kernel log is read; XIDs come from the driver's events");
        }
        Optional<KernelLogStatus.Gap> gap =
                status.lastGap().filter(last -> last.seen().plus(GAP_COUNTS).isAfter(now));
        if (gap.isPresent()) {
            return Finding.unknown(
                    "kernel-log-gap",
                    Subject.NODE,
                    "part of the kernel log was lost at " + gap.get().seen() + ": "
                            + gap.get().why(),
                    "a larger ring holds more: boot with log_buf_len=4M");
        }
        Optional<KernelLogStatus.Unread> unread =
                status.lastUnread().filter(last -> last.seen().plus(GAP_COUNTS).isAfter(now));
        if (unread.isPresent()) {
            return Finding.unknown(
                    "kernel-log-unread",
                    Subject.NODE,
                    status.unread() + (status.unread() == 1 ? " record" : " records")
                            + " about an XID in a form that is not read, the last at "
                            + unread.get().seen() + ": " + unread.get().text(),
                    "examine the GPU that it names; "
                            + (isKernels(status.source())
                                    ? "`gpuwarden xid decode` explains its number"
                                    : "read /dev/kmsg or the journal instead of a file"));
        }
        return Finding.pass(
                "kernel-log",
                Subject.NODE,
                status.source() + " is read without a gap, " + status.records() + " records since " + status.since());
    }

    /** Returns whether the source is the kernel's own device or the journal: a file or pipe may have changed the lines. */
    private static boolean isKernels(String source) {
        return source.equals(SourceSelector.KMSG.toString()) || source.startsWith(JournalSource.KIND);
    }
}
