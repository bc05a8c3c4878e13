package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.kernel.GuestXid;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.LineEnvelope;
import dev.gpuwarden.core.kernel.LinePrefix;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.WrappedMessage;
import dev.gpuwarden.core.kernel.XidMention;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.BoundedMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** A decoder of the lines of one log in order, with state from earlier lines. A user names the log, so any known form is read. */
final class XidDecoder {

    /** A node has 16 GPUs; a log of a fleet in one file has more. */
    private static final int MOST_GPUS = 4096;

    /** The largest number of envelopes around a line. */
    private static final int MOST_ENVELOPES = 4;

    /** The escape sequences that dmesg --color writes around times and names of subsystems. */
    private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]{0,16}m");

    private final KernelLogParser parser;
    private final WrappedMessage wrapped = new WrappedMessage();
    private final LogRecords records = new LogRecords();
    private final Map<PciAddress, String> uuids = new BoundedMap<>(MOST_GPUS, false);
    private final Map<XidMention, Unread> unread = new EnumMap<>(XidMention.class);
    private final Map<XidMention, Unread> quoted = new EnumMap<>(XidMention.class);
    private long lines;
    private boolean byProgram;
    /** The line in which the message of the last record began. */
    private long first;

    XidDecoder(KernelLogParser parser) {
        this.parser = parser;
    }

    /** Lines with the same words of the driver that are no message. */
    record Unread(XidMention mention, long count, long first) {

        Unread and(Unread more) {
            return new Unread(mention, count + more.count, first);
        }
    }

    /** Returns the number of lines read. */
    long lines() {
        return lines;
    }

    /** Returns the lines that the driver can have written, in a form that is not read. */
    Collection<Unread> unread() {
        return unread.values();
    }

    /** Returns the lines in which another program quotes the driver. */
    Collection<Unread> quoted() {
        return quoted.values();
    }

    /** Returns the messages that end with this line. */
    List<Finding> decode(String line) {
        lines++;
        String text = line.substring(noise(line));
        String plain = (text.indexOf('\u001b') < 0 ? text : COLOUR.matcher(text).replaceAll("")).replace('\t', ' ');
        return found(records.read(plain, lines));
    }

    /** Returns the end of what is no text: a byte order mark, the line end of a serial console, and the zeros that a crash leaves. */
    private static int noise(String line) {
        int i = 0;
        while (i < line.length() && "\ufeff\r\0".indexOf(line.charAt(i)) >= 0) {
            i++;
        }
        return i;
    }

    /** Returns the messages that the end of the log cuts. */
    List<Finding> end() {
        return found(records.end());
    }

    private List<Finding> found(List<LogRecords.Entry> entries) {
        List<Finding> found = new ArrayList<>(1);
        for (LogRecords.Entry entry : entries) {
            byProgram = false;
            Optional<Signal> signal = signal(entry);
            XidMention mention = signal.isPresent() ? XidMention.second(entry.text()) : XidMention.of(entry.text());
            if (mention != XidMention.NONE) {
                (byProgram ? quoted : unread).merge(mention, new Unread(mention, 1, entry.line()), Unread::and);
            }
            signal.ifPresent(known -> found.add(new Finding(first, withUuid(known))));
        }
        return found;
    }

    private Optional<Signal> signal(LogRecords.Entry entry) {
        return switch (entry.origin()) {
            case KERNEL -> parser.parse(joined(entry));
            case LINE -> line(joined(entry), entry.line());
            case PROGRAM -> {
                byProgram = true;
                first = entry.line();
                yield GuestXid.read(entry.text());
            }
        };
    }

    private String joined(LogRecords.Entry entry) {
        String text = wrapped.join(entry.text(), entry.line());
        first = wrapped.first();
        return text;
    }

    /** Reads a line behind its prefix, and behind what tools put before that. */
    private Optional<Signal> line(String line, long number) {
        String text = line;
        for (int i = 0; i <= MOST_ENVELOPES; i++) {
            Optional<Signal> signal = parser.parse(text).or(guest(text));
            if (signal.isPresent() || !KernelLogParser.mayHaveMessage(text)) {
                return signal;
            }
            if (JsonRecords.isOne(text)) {
                return onlyOne(JsonRecords.read(text, number)).flatMap(this::signal);
            }
            Optional<String> inner = i < MOST_ENVELOPES ? LineEnvelope.open(text) : Optional.empty();
            if (inner.isEmpty()) {
                return behindPrefix(LinePrefix.of(text));
            }
            text = inner.get();
        }
        return Optional.empty();
    }

    /** Returns the one record that may have a message; empty for several, so that the line counts as not read. */
    private static Optional<LogRecords.Entry> onlyOne(List<LogRecords.Entry> entries) {
        List<LogRecords.Entry> possible = entries.stream()
                .filter(entry -> KernelLogParser.mayHaveMessage(entry.text()))
                .toList();
        return possible.size() == 1 ? Optional.of(possible.get(0)) : Optional.empty();
    }

    private static Supplier<Optional<Signal>> guest(String text) {
        return () -> GuestXid.read(text);
    }

    private Optional<Signal> behindPrefix(LinePrefix prefix) {
        byProgram = !prefix.isKernels();
        return byProgram ? Optional.empty() : parser.parse(prefix.text());
    }

    private Signal withUuid(Signal signal) {
        if (signal.pci().isEmpty()) {
            return signal;
        }
        if (signal.kind() == Kind.GPU_NAMED) {
            uuids.put(signal.pci().get(), signal.gpuUuid().orElse(""));
        }
        String uuid = uuids.get(signal.pci().get());
        return uuid == null || signal.gpuUuid().isPresent() ? signal : signal.ofGpu(uuid);
    }

    /**
     * The decoded message of a log line.
     *
     * @param line number of the message's first line, from 1
     * @param signal decoded message, with the UUID of its GPU, if an earlier line had it
     */
    record Finding(long line, Signal signal) {

        static String address(PciAddress pci) {
            return Entity.pci(pci).value();
        }

        /** Returns the tree for JSON, without absent values. */
        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("line", line);
            tree.put("signal", signal.kind().label());
            if (signal.kind() != Kind.FALLEN_OFF_BUS) {
                tree.put("code", signal.family());
            }
            if (!signal.family().equals(signal.code())) {
                tree.put("sub_code", signal.code());
            }
            signal.pci().ifPresent(pci -> tree.put("pci", address(pci)));
            signal.gpuUuid().ifPresent(uuid -> tree.put("gpu_uuid", uuid));
            signal.pid().ifPresent(pid -> tree.put("pid", pid));
            signal.process().ifPresent(process -> tree.put("process", process));
            if (!signal.name().isEmpty()) {
                tree.put("name", signal.name());
            }
            tree.put("severity", signal.severity().label());
            tree.put("action", signal.action().label());
            tree.put("why", signal.why());
            if (!signal.details().isEmpty()) {
                tree.put("details", new TreeMap<>(signal.details()));
            }
            return tree;
        }
    }
}
