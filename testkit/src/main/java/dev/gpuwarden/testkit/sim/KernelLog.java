package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.scenario.Rows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * The node's /dev/kmsg: a regular file of records as the device delivers them. Records are appended as a whole; to drop old ones, the
 * file is replaced. Processes may write at the same time: a lock orders them.
 */
final class KernelLog {

    /** One lock per file and JVM: file locks hold between processes only. */
    private static final Map<Path, Object> LOCKS = new ConcurrentHashMap<>();

    /**
     * @param next number of the next record
     * @param micros time of the last record
     * @param stormScale thousandths
     */
    private record State(long next, long micros, long stormScale) {
        static final int BYTES = 3 * Long.BYTES;
    }

    /** A record and its time since boot. */
    record Timed(long micros, KernelLine line) {}

    private final Path file;
    private final Path state;
    private final ProcFiles proc;
    private final Clock clock;
    private final Object lock;

    KernelLog(NodeFolder folder, ProcFiles proc, Clock clock) {
        this.file = folder.kernelLog;
        this.state = folder.kernelLogState;
        this.proc = proc;
        this.clock = clock;
        this.lock = LOCKS.computeIfAbsent(state.toAbsolutePath().normalize(), p -> new Object());
    }

    /** Replaces the log: numbers start from 0, and these records are the first. */
    void boot(List<Timed> records) {
        long micros = records.isEmpty() ? 0 : records.get(records.size() - 1).micros();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < records.size(); i++) {
            text.append(records.get(i).line().record(i, records.get(i).micros()));
        }
        change(StandardOpenOption.CREATE, before -> {
            Tree.replace(file, text.toString());
            return new State(records.size(), micros, before.stormScale());
        });
    }

    /** Appends records of the same time in one write. */
    void append(List<KernelLine> lines) {
        if (lines.isEmpty()) {
            return;
        }
        change(StandardOpenOption.WRITE, before -> {
            Instant now = clock.instant();
            long micros = Math.max(
                    before.micros(), Duration.between(proc.booted(), now).toNanos() / 1000);
            long next = before.next();
            StringBuilder text = new StringBuilder();
            for (KernelLine line : lines) {
                text.append(line.record(next++, micros));
            }
            Unchecked.run(() -> Files.writeString(file, text, StandardCharsets.US_ASCII, StandardOpenOption.APPEND));
            return new State(next, micros, before.stormScale());
        });
    }

    /** Drops the oldest records, as a full ring does; keeps the newest one. */
    void drop(long count) {
        change(StandardOpenOption.WRITE, before -> {
            String text = Tree.read(file);
            int from = 0;
            for (long left = count; left > 0; left--) {
                int next = nextRecord(text, from);
                if (next == text.length()) {
                    break;
                }
                from = next;
            }
            Tree.replace(file, text.substring(from));
            return before;
        });
    }

    /** Rotates the file as logrotate does: it gets another name, and a new file continues the numbers. */
    void rotate() {
        change(StandardOpenOption.WRITE, before -> {
            Path former = file.resolveSibling(file.getFileName() + ".1");
            Tree.delete(former);
            Tree.move(file, former);
            Tree.write(file, "");
            return before;
        });
    }

    private static int nextRecord(String text, int from) {
        int at = from;
        do {
            int end = text.indexOf('\n', at);
            at = end < 0 ? text.length() : end + 1;
        } while (at < text.length() && text.charAt(at) == ' ');
        return at;
    }

    /** Skips this many numbers, as records that came and went without a reader. */
    void skip(long count) {
        change(
                StandardOpenOption.WRITE,
                before -> new State(before.next() + count, before.micros(), before.stormScale()));
    }

    void scaleStorms(long thousandths) {
        change(StandardOpenOption.WRITE, before -> new State(before.next(), before.micros(), thousandths));
    }

    /** Returns the factor of the storms' line counts, in thousandths. */
    long stormScale() {
        long[] scale = new long[1];
        change(StandardOpenOption.WRITE, before -> {
            scale[0] = before.stormScale();
            return before;
        });
        return scale[0];
    }

    private void change(StandardOpenOption mode, UnaryOperator<State> change) {
        synchronized (lock) {
            try (FileChannel channel =
                            FileChannel.open(state, StandardOpenOption.READ, StandardOpenOption.WRITE, mode);
                    FileLock turn = channel.lock()) {
                ByteBuffer bytes = ByteBuffer.allocate(State.BYTES);
                State before = channel.read(bytes, 0) == State.BYTES
                        ? new State(bytes.getLong(0), bytes.getLong(8), bytes.getLong(16))
                        : new State(0, 0, 1000);
                State after = change.apply(before);
                bytes.clear();
                bytes.putLong(after.next()).putLong(after.micros()).putLong(after.stormScale());
                channel.write(bytes.flip(), 0);
                assert turn.isValid();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The lines of a boot in the kernel log: kernel, devices, driver. */
    static final class BootLog {

        private static final String HEAD = "kernel/boot.tsv";
        /** Time between lines of the same kind. */
        private static final long APART_MICROS = 37;

        private final SimTable table;
        private final NicFiles nics;
        private final List<KernelLog.Timed> lines = new ArrayList<>();

        private BootLog(SimTable table, NicFiles nics) {
            this.table = table;
            this.nics = nics;
        }

        static List<KernelLog.Timed> of(SimTable table, NicFiles nics) {
            BootLog log = new BootLog(table, nics);
            Rows.of(HEAD, 4).forEach(log::row);
            log.lines.sort(Comparator.comparingLong(KernelLog.Timed::micros));
            return log.lines;
        }

        private void row(String[] cells) {
            long micros = Math.round(Double.parseDouble(cells[0]) * 1e6);
            int priority = Integer.parseInt(cells[1]);
            boolean loaded = table.number("header.init_result") != NOT_LOADED;
            switch (cells[2]) {
                case "gpu" -> gpus(micros, priority, cells[3], false);
                case "driver" -> {
                    if (loaded) {
                        add(
                                micros,
                                priority,
                                Rows.fill(cells[3], Map.of("version", table.text("header.driver_version"))));
                    }
                }
                case "driver-gpu" -> {
                    if (loaded) {
                        gpus(micros, priority, cells[3], true);
                    }
                }
                case "nic" -> {
                    for (NicFiles.Device nic : nics.present()) {
                        add(micros, priority, Rows.fill(cells[3], nics.names(nic)));
                    }
                }
                default -> add(micros, priority, cells[3]);
            }
        }

        /** NVML_ERROR_DRIVER_NOT_LOADED */
        private static final long NOT_LOADED = 9;

        private void add(long micros, int priority, String text) {
            lines.add(new KernelLog.Timed(micros, new KernelLine(priority, text, List.of())));
        }

        private void gpus(long micros, int priority, String text, boolean listedOnly) {
            for (int i = 0; i < table.number("header.gpu_count"); i++) {
                String row = TableWriter.gpu(i);
                if (!listedOnly
                        || table.number(row + ".state") != table.layout().constant("STATE_HIDDEN")) {
                    add(micros + i * APART_MICROS, priority, Rows.fill(text, names(row)));
                }
            }
        }

        private Map<String, String> names(String row) {
            String address = PciFiles.address(table, row).toString();
            long id = table.number(row + ".pci_device_id");
            return Map.of(
                    "address", address,
                    "pci", address.substring(0, address.length() - 2),
                    "vendor", hex(id & 0xffff, 4),
                    "device", hex(id >> 16 & 0xffff, 4),
                    "class",
                            "0x"
                                    + hex(
                                            table.number(row + ".pci_base_class") << 16
                                                    | table.number(row + ".pci_sub_class") << 8,
                                            6),
                    "drm", "0x" + hex(table.number(row + ".board_id"), 8),
                    "minor", Long.toString(table.number(row + ".minor")),
                    "uuid", table.text(row + ".uuid"),
                    "serial", table.text(row + ".serial"));
        }

        private static String hex(long number, int digits) {
            return String.format(Locale.ROOT, "%0" + digits + "x", number);
        }
    }
}
