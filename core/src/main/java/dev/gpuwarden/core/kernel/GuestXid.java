package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An XID of a virtual machine, as the vGPU manager of its host logs it. Its cause is in the guest, so it is no fault of the host's GPU.
 */
public final class GuestXid {

    private static final String MANAGER = "nvidia-vgpu-mgr";
    private static final String LOG = "vmiop_log: ";

    private static final Pattern XID = Pattern.compile(
            "vmiop_log: \\((0x[0-9a-fA-F]{1,8})\\): XID (\\d{1,4}) detected on"
                    + " physical_chid: ?(0x[0-9a-fA-F]{1,8}|\\d{1,9})(?:, guest_chid: ?(0x[0-9a-fA-F]{1,8}|\\d{1,9}))?");

    private static final Pattern PROCESS = Pattern.compile("nvidia-vgpu-mgr\\[(\\d{1,9})\\]");

    private GuestXid() {}

    /** Reads a line; empty for one of another kind, or of another program. The process is the vGPU manager of the one machine. */
    public static Optional<Signal> read(String line) {
        int log = line.indexOf(LOG);
        if (log < 0 || log > 2 * KernelRecord.LONGEST_PREFIX) {
            return Optional.empty();
        }
        LinePrefix prefix = LinePrefix.of(line);
        Matcher xid = XID.matcher(line).region(log, Math.min(line.length(), log + KernelRecord.LONGEST_PREFIX));
        if (!prefix.tag().isEmpty() && !prefix.tag().equals(MANAGER) || !xid.lookingAt()) {
            return Optional.empty();
        }
        int code = Integer.parseInt(xid.group(2));
        Optional<XidCatalog.Entry> entry = XidCatalog.entry(code);
        boolean fault = entry.map(known -> known.resolution().severity() != Severity.INFO)
                .orElse(true);
        Map<String, String> details = xid.group(4) == null
                ? Map.of("vgpu", xid.group(1), "physical_chid", xid.group(3))
                : Map.of("vgpu", xid.group(1), "physical_chid", xid.group(3), "guest_chid", xid.group(4));
        Matcher process = PROCESS.matcher(line.substring(0, log));
        return Optional.of(Signal.of(
                        Kind.GUEST_XID,
                        Integer.toString(code),
                        fault ? Resolution.WATCH : Resolution.NOTHING,
                        "the vGPU manager reports it for a virtual machine: search in the guest; it is no fault of the host's GPU")
                .named(entry.map(XidCatalog.Entry::mnemonic).orElse(""), details)
                .by(process.find() ? Optional.of(process.group(1)) : Optional.empty(), Optional.of(MANAGER)));
    }
}
