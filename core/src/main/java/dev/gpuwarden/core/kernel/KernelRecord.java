package dev.gpuwarden.core.kernel;

import java.time.Instant;

/**
 * One record of a kernel log, from whatever source.
 *
 * @param time when it was written, in this node's wall clock; {@code Instant.EPOCH} where the source does not say
 * @param writer who wrote it: what user space writes can look like anything
 * @param text the message without time and prefix that the source adds, control characters and bad UTF-8 replaced, cut at
 *     {@link #LONGEST} characters
 */
public record KernelRecord(Instant time, Writer writer, String text) {

    /** The kernel's own records end at about 1 KiB (printk.h, CONSOLE_EXT_LOG_MAX is 8192 with escapes). */
    public static final int LONGEST = 8192;

    /** Where a record comes from. */
    public enum Writer {
        KERNEL,
        /** A process with the right to write to the kernel log or as root to the system's log. */
        PRIVILEGED,
        /** Anybody. */
        USER,
        /** The source does not tell, as a plain file. */
        UNTOLD
    }
}
