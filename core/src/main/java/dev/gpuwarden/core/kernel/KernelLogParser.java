package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.XidCatalog.XidLine;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.TsvResource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A parser for messages of the NVIDIA driver, of PCIe and of network cards, with or without the prefixes of dmesg, syslog and
 * journalctl. It ignores a message that a program quotes.
 *
 * <p>Thread-safe. Nearly all lines have no such message. For them the parser reads the beginning of each word and allocates nothing.
 */
public final class KernelLogParser {

    /** The syslog tag of NVSentinel's job that resets a GPU. Other jobs must use the same tag. */
    public static final String RESET_JOB = "nvsentinel-gpu-reset";

    /** The detail of a reset job's line with the time at which the reset ended, as the job wrote it; most lines have none. */
    public static final String RESET_END = "reset-end";

    private static final KernelLogParser STANDARD = new KernelLogParser(Optional::empty);

    private static final String FALLEN_OFF = "GPU_FALLEN_OFF_BUS";
    private static final String HUNG_TASK = "INFO: task ";
    private static final String SEGFAULT = "segfault at ";

    static final List<String> BEGINNINGS =
            List.of("NVRM:", "nvidia", "mlx5_core ", "pci", "GPU reset ", HUNG_TASK, SEGFAULT);

    /** The longest name of a process, in characters. */
    private static final int LONGEST_PROCESS = 15;

    private static final Signal NCCL_SEGFAULT = Signal.of(
            Kind.MESSAGE,
            "nccl-segfault",
            Resolution.WATCH,
            "a program crashed inside NCCL; search for faults of GPUs and links at that time before blaming the program");

    private final Supplier<Optional<Integer>> driverBranch;

    private KernelLogParser(Supplier<Optional<Integer>> driverBranch) {
        this.driverBranch = driverBranch;
    }

    /** Returns the parser for logs of an unknown driver. */
    public static KernelLogParser standard() {
        return STANDARD;
    }

    /**
     * Returns a parser for the logs of one driver branch. The layout of NVLink 5 errors changed with 575.
     *
     * @param major the major version of the driver, for example 550
     */
    public KernelLogParser withDriverBranch(int major) {
        return withDriverBranch(() -> Optional.of(major));
    }

    /**
     * Returns a parser that looks up the driver branch for each NVLink 5 error.
     *
     * @param major returns the major version; empty where it is unknown
     */
    public KernelLogParser withDriverBranch(Supplier<Optional<Integer>> major) {
        return new KernelLogParser(major);
    }

    /** Returns the message of a record or line; empty for one without a known message. Never throws. */
    public Optional<Signal> parse(String text) {
        // No program writes a longer prefix, so a message that begins later is a quotation.
        int last = Math.min(text.length() - 1, KernelRecord.LONGEST_PREFIX);
        int i = KernelRecord.kmsgEnd(text);
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

    /** Returns whether the text has the beginning of a message anywhere, also in a quotation or behind an unknown prefix. */
    public static boolean mayHaveMessage(String text) {
        return XidMention.of(text) != XidMention.NONE || BEGINNINGS.stream().anyMatch(text::contains);
    }

    /**
     * Returns whether one of {@link #BEGINNINGS} is here. One or two characters decide for nearly all words. A loop over them triples
     * the time of a line.
     */
    static boolean mayBegin(String text, int i) {
        return switch (text.charAt(i)) {
            case 'N' -> text.startsWith("NVRM:", i);
            case 'n' -> text.startsWith("nvidia", i);
            case 'm' -> text.startsWith("mlx5_core ", i);
            case 'p' -> text.startsWith("pci", i);
            case 'G' -> text.startsWith("GPU reset ", i);
            case 'I' -> text.startsWith(HUNG_TASK, i);
            case 's' -> text.startsWith(SEGFAULT, i);
            default -> false;
        };
    }

    /** Returns whether a message of the kernel begins here, or one of a reset job. */
    private static boolean begins(String text, int i) {
        if (i == 0) {
            return true;
        }
        LinePrefix prefix = LinePrefix.of(text);
        boolean resetJobs = text.charAt(i) == 'G' && prefix.tag().equals(RESET_JOB);
        return text.length() - prefix.text().length() == i && (prefix.isKernels() || resetJobs);
    }

    private Optional<Signal> message(String text, int start) {
        if (text.startsWith(SEGFAULT, start)) {
            return segfault(LinePrefix.of(text));
        }
        if (!begins(text, start)) {
            return Optional.empty();
        }
        Cursor cursor = new Cursor(text, start);
        if (cursor.skip("NVRM:")) {
            return driverMessage(cursor, start);
        }
        if (cursor.skip("nvidia-nvswitch")) {
            Optional<Signal> sxid = SxidCatalog.SxidReader.read(cursor);
            return sxid.isPresent() ? sxid : MessageCatalog.find(text, start);
        }
        if (cursor.skip("GPU reset ")) {
            return reset(cursor);
        }
        Optional<Signal> found = MessageCatalog.find(text, start);
        return found.isPresent() && text.startsWith(HUNG_TASK, start)
                ? Optional.of(hungTask(found.get(), text, start + HUNG_TASK.length()))
                : found;
    }

    private Optional<Signal> driverMessage(Cursor cursor, int start) {
        int body = cursor.skipSpaces().at;
        Optional<PciAddress> subject = subject(cursor);
        if (cursor.skip("Xid")) {
            Optional<XidLine> line = XidLine.read(cursor);
            if (line.isPresent()) {
                Signal signal = line.get().explain(driverBranch);
                return Optional.of(signal.pci().isEmpty() && subject.isPresent() ? signal.at(subject) : signal);
            }
        }
        cursor.at = body;
        Optional<Signal> fallen = fallenOffBus(cursor.text, body);
        if (fallen.isPresent()) {
            return fallen;
        }
        Optional<Signal> named = named(cursor);
        return named.isPresent() ? named : MessageCatalog.find(cursor.text, start);
    }

    /** Reads `GPU 0000:3b:00.0: ` or `GPU0 `, which newer drivers print before the message. */
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

    /** Reads `GPU at PCI:0000:9b:00: GPU-509665ad-b600-ac93-3616-d754b23d636d`. */
    private static Optional<Signal> named(Cursor cursor) {
        if (!cursor.skip("GPU at ")) {
            return Optional.empty();
        }
        cursor.skipSpaces().skip("PCI:");
        Optional<PciAddress> pci = PrintedAddress.read(cursor);
        if (pci.isEmpty() || !cursor.skip(":")) {
            return Optional.empty();
        }
        Optional<String> uuid = cursor.skipSpaces().gpuUuid();
        return uuid.map(id -> Signal.of(
                        Kind.GPU_NAMED,
                        "gpu-named",
                        Resolution.NOTHING,
                        "the driver reports which GPU has this address")
                .at(pci)
                .ofGpu(id));
    }

    /**
     * Reads the driver's words that a GPU fell off the bus, without the XID 79 that usually comes with them: `GPU 0000:01:00.0: GPU
     * has fallen off the bus.`, or three lines of which the first names the GPU, in one record or in three.
     */
    private static Optional<Signal> fallenOffBus(String text, int body) {
        if (text.indexOf("fallen off the bus", body) < 0) {
            return Optional.empty();
        }
        String why = "the driver reports it without an Xid; as Xid 79: " + XidCatalog.SOURCE + ": RESTART_BM";
        return Optional.of(Signal.of(Kind.FALLEN_OFF_BUS, FALLEN_OFF, Resolution.REBOOT, why)
                .at(PrintedAddress.first(text, body))
                .named("GPU has fallen off the bus", Map.of()));
    }

    /** Adds the process of `INFO: task nvidia-smi:12345 blocked for more than 120 seconds.` */
    private static Signal hungTask(Signal signal, String text, int name) {
        // A name may contain colons; the number follows the last one before " blocked".
        int end = text.indexOf(" blocked", name);
        int colon = end < 0 ? -1 : text.lastIndexOf(':', end);
        return colon <= name
                ? signal
                : signal.by(Optional.of(text.substring(colon + 1, end)), Optional.of(text.substring(name, colon)));
    }

    /** Reads `pt_main_thread[2536443]: segfault at 7f797fe00000 ip … error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]`. */
    private static Optional<Signal> segfault(LinePrefix line) {
        String text = line.text();
        int at = text.indexOf("]: " + SEGFAULT);
        int open = at < 0 ? -1 : text.lastIndexOf('[', at);
        // The name may contain any character.
        if (!line.isKernels() || open <= 0 || open > LONGEST_PROCESS + 1 || text.indexOf(" in libnccl.so", at) < 0) {
            return Optional.empty();
        }
        Cursor pid = new Cursor(text, open + 1);
        return pid.number() < 0 || pid.at != at
                ? Optional.empty()
                : Optional.of(NCCL_SEGFAULT.by(
                        Optional.of(text.substring(open + 1, at)), Optional.of(text.substring(0, open))));
    }

    /** Reads the line of a job behind "GPU reset ". Jobs are programs, so it is no message of the kernel. */
    private static Optional<Signal> reset(Cursor cursor) {
        if (cursor.skip("occurred:")) {
            return cursor.skipSpaces().gpuUuid().map(uuid -> reset(uuid, true, cursor));
        }
        if (!cursor.skip("executed:")) {
            return Optional.empty();
        }
        Optional<String> uuid = cursor.skipSpaces().gpuUuid();
        if (uuid.isEmpty() || !cursor.skip(",") || !cursor.skipSpaces().skip("success:")) {
            return Optional.empty();
        }
        boolean success = cursor.skipSpaces().skip("true");
        return success || cursor.skip("false") ? Optional.of(reset(uuid.get(), success, cursor)) : Optional.empty();
    }

    /** @param cursor behind the line of NVSentinel's job; ` at` and the time of the reset's end may follow */
    private static Signal reset(String uuid, boolean success, Cursor cursor) {
        Signal signal = success
                ? Signal.of(Kind.GPU_RESET, "reset", Resolution.NOTHING, "a job reports that it reset this GPU")
                : Signal.of(
                        Kind.GPU_RESET,
                        "reset-failed",
                        Resolution.of("RESTART_VM"),
                        "a job reports that it could not reset this GPU");
        String end = cursor.skip(" at ") ? cursor.until(' ') : "";
        return (end.isEmpty() ? signal : signal.named("", Map.of(RESET_END, end))).ofGpu(uuid);
    }

    /** The catalogue of messages without a number, by the texts in them. Loaded on first use. */
    private static final class MessageCatalog {

        private enum Place {
            FIRST,
            LAST,
            NONE
        }

        private record Row(
                String family, List<String> texts, String code, Resolution resolution, Place place, String why) {

            static Row of(String[] c) {
                return new Row(
                        c[0],
                        List.of(c[1].split("\\|", -1)),
                        c[2],
                        Resolution.of(c[3], c[4]),
                        Place.valueOf(c[5].toUpperCase(Locale.ROOT)),
                        c[6]);
            }

            boolean fits(String text, int start) {
                if (!text.startsWith(family, start)) {
                    return false;
                }
                int from = start + family.length();
                for (String part : texts) {
                    int found = text.indexOf(part, from);
                    if (found < 0) {
                        return false;
                    }
                    from = found + part.length();
                }
                return true;
            }

            Signal signal(String text, int start) {
                Optional<PciAddress> pci = switch (place) {
                    case FIRST -> PrintedAddress.first(text, start + family.length());
                    case LAST -> PrintedAddress.last(text, start + family.length());
                    case NONE -> Optional.empty();
                };
                return Signal.of(Kind.MESSAGE, code, resolution, why).at(pci);
            }
        }

        private MessageCatalog() {}

        private static final class Loaded {
            static final List<Row> ROWS =
                    List.copyOf(TsvResource.read(KernelLogParser.class, "messages.tsv", 7, Row::of));
        }

        /**
         * Returns the signal of the first row that fits; empty where none does.
         *
         * @param start the position of the message in the text
         */
        static Optional<Signal> find(String text, int start) {
            for (Row row : Loaded.ROWS) {
                if (row.fits(text, start)) {
                    return Optional.of(row.signal(text, start));
                }
            }
            return Optional.empty();
        }
    }
}
