package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.model.PciAddress;
import java.util.Optional;

/**
 * Reads messages of the NVIDIA driver, of PCIe and of network cards, with or without what dmesg, syslog and journalctl put
 * before them. A message that a program quotes is none.
 *
 * <p>Nearly all lines say nothing; those cost one look at the beginning of each of their words, and no memory.
 */
public final class KernelLogParser implements LogParser {

    private static final KernelLogParser STANDARD = new KernelLogParser(Optional.empty());

    private final XidReader xids;

    private KernelLogParser(Optional<Integer> driverBranch) {
        xids = new XidReader(driverBranch);
    }

    /** For logs of which nobody knows what driver wrote them. */
    public static KernelLogParser standard() {
        return STANDARD;
    }

    /** @param major of the driver that writes the log, as 550: the layout of NVLink 5 errors changed with 575 */
    public KernelLogParser withDriverBranch(int major) {
        return new KernelLogParser(Optional.of(major));
    }

    @Override
    public Optional<Signal> parse(String text) {
        // Nothing writes a longer prefix, so a message that begins later was quoted.
        int last = Math.min(text.length() - 1, LinePrefix.LONGEST);
        int i = KmsgPrefix.end(text);
        while (i <= last) {
            if (mayBegin(text, i)) {
                Optional<Signal> signal = message(text, i);
                if (signal.isPresent()) {
                    return signal;
                }
            }
            int space = text.indexOf(' ', i);
            if (space < 0) {
                break;
            }
            i = space + 1;
        }
        return Optional.empty();
    }

    /** Whether one of the families may begin here; two characters decide for nearly all words. */
    private static boolean mayBegin(String text, int i) {
        return switch (text.charAt(i)) {
            case 'N' -> text.startsWith("NVRM:", i);
            case 'n' -> text.startsWith("nvidia", i);
            case 'm' -> text.startsWith("mlx5_core ", i);
            case 'p' -> text.startsWith("pci", i);
            case 'G' -> text.startsWith("GPU reset ", i);
            case 'I' -> text.startsWith("INFO: task ", i);
            case 's' -> text.startsWith(SegfaultLine.WORDS, i);
            default -> false;
        };
    }

    /** Whether the kernel's message begins here, or that of the one program that is listened to. */
    private static boolean begins(String text, int i) {
        if (i == 0) {
            return true;
        }
        LinePrefix prefix = LinePrefix.of(text);
        boolean kernels = prefix.tag().isEmpty() || prefix.tag().equals(LinePrefix.KERNEL);
        boolean resetJobs = text.charAt(i) == 'G' && prefix.tag().equals(ResetLine.PROGRAM);
        return text.length() - prefix.text().length() == i && (kernels || resetJobs);
    }

    private Optional<Signal> message(String text, int start) {
        if (text.startsWith(SegfaultLine.WORDS, start)) {
            return SegfaultLine.read(LinePrefix.of(text));
        }
        if (!begins(text, start)) {
            return Optional.empty();
        }
        Cursor cursor = new Cursor(text, start);
        if (cursor.skip("NVRM:")) {
            return driverMessage(cursor, start);
        }
        if (cursor.skip("nvidia-nvswitch")) {
            Optional<Signal> sxid = SxidReader.read(cursor);
            return sxid.isPresent() ? sxid : MessageCatalog.find(text, start);
        }
        if (cursor.skip("GPU reset ")) {
            return ResetLine.read(cursor);
        }
        Optional<Signal> found = MessageCatalog.find(text, start);
        return found.isPresent() && text.startsWith("INFO: task ", start)
                ? Optional.of(HungTask.named(found.get(), new Cursor(text, start + "INFO: task ".length())))
                : found;
    }

    private Optional<Signal> driverMessage(Cursor cursor, int start) {
        int body = cursor.skipSpaces().at;
        Optional<PciAddress> subject = subject(cursor);
        if (cursor.skip("Xid")) {
            Optional<XidLine> line = XidLine.read(cursor);
            if (line.isPresent()) {
                Signal signal = xids.explain(line.get());
                return Optional.of(signal.pci().isEmpty() && subject.isPresent() ? signal.at(subject) : signal);
            }
        }
        cursor.at = body;
        Optional<Signal> fallen = FallenOffBus.read(cursor.text, body);
        if (fallen.isPresent()) {
            return fallen;
        }
        Optional<Signal> named = named(cursor);
        return named.isPresent() ? named : MessageCatalog.find(cursor.text, start);
    }

    /** `GPU 0000:3b:00.0: ` or `GPU0 `, which newer drivers put before the message. */
    private static Optional<PciAddress> subject(Cursor cursor) {
        int start = cursor.at;
        if (cursor.skip("GPU ")) {
            cursor.skipSpaces().skip("PCI:");
            Optional<PciAddress> pci = PrintedAddress.read(cursor);
            if (pci.isPresent() && cursor.skip(":")) {
                cursor.skipSpaces();
                return pci;
            }
        } else if (cursor.skip("GPU") && cursor.number() >= 0) {
            cursor.skip(":");
            cursor.skipSpaces();
            return Optional.empty();
        }
        cursor.at = start;
        return Optional.empty();
    }

    /** `GPU at PCI:0000:9b:00: GPU-509665ad-b600-ac93-3616-d754b23d636d` */
    private static Optional<Signal> named(Cursor cursor) {
        if (!cursor.skip("GPU at ")) {
            return Optional.empty();
        }
        cursor.skipSpaces().skip("PCI:");
        Optional<PciAddress> pci = PrintedAddress.read(cursor);
        if (pci.isEmpty() || !cursor.skip(":")) {
            return Optional.empty();
        }
        Optional<String> uuid = GpuUuid.read(cursor.skipSpaces());
        return uuid.map(id -> Signal.of(
                        Kind.GPU_NAMED,
                        "gpu-named",
                        Resolution.NOTHING,
                        "the driver says which GPU sits at this address")
                .at(pci)
                .ofGpu(id));
    }
}
