package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.port.Refusal;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A log of the last answers that contradict themselves, with a count of all. Thread-safe. */
public final class RefusalLog {

    private static final int KEPT = 64;

    private final Deque<Refusal> recent = new ArrayDeque<>();
    private final Map<NvmlSymbol, Long> counts = new EnumMap<>(NvmlSymbol.class);

    public synchronized void add(NvmlSymbol function, String subject, String seen) {
        long count = counts.merge(function, 1L, Long::sum);
        if (recent.size() == KEPT) {
            recent.removeFirst();
        }
        recent.addLast(new Refusal(function.symbol(), subject, seen, count));
    }

    public synchronized List<Refusal> recent() {
        return List.copyOf(recent);
    }
}
