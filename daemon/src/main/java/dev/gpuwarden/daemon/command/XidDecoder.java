package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.WrappedMessage;
import dev.gpuwarden.core.model.PciAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** A decoder of the lines of one log in order, with state from earlier lines. */
final class XidDecoder {

    /** A node has 16 GPUs; a log of a fleet in one file has more. */
    private static final int MOST_GPUS = 4096;

    /** The escape sequences that dmesg --color writes around times and names of subsystems. */
    private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]{0,16}m");

    private final KernelLogParser parser;
    private final WrappedMessage wrapped = new WrappedMessage();
    private final Map<PciAddress, String> uuids = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<PciAddress, String> eldest) {
            return size() > MOST_GPUS;
        }
    };
    private long lines;

    XidDecoder(KernelLogParser parser) {
        this.parser = parser;
    }

    /** Returns the number of lines read. */
    long lines() {
        return lines;
    }

    Optional<XidFinding> decode(String line) {
        lines++;
        if (lines == 1 && line.startsWith("\ufeff")) {
            line = line.substring(1);
        }
        String plain = (line.indexOf('\u001b') < 0 ? line : COLOUR.matcher(line).replaceAll("")).replace('\t', ' ');
        Optional<Signal> found =
                XidJournal.looksLikeEntry(plain) ? XidJournal.message(plain).flatMap(this::signal) : signal(plain);
        return found.map(signal -> new XidFinding(lines - wrapped.reachedBack(), withUuid(signal)));
    }

    private Optional<Signal> signal(String message) {
        return parser.parse(wrapped.join(message));
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
}
