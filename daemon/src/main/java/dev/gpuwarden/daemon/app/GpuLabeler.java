package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A rewriter that replaces GPU UUIDs in a text by labels such as "GPU 3 (0000:5b:00.0)". Labels are remembered, because
 * a GPU that fell off the bus is the one of interest. Thread-safe.
 */
final class GpuLabeler implements UnaryOperator<String> {

    private static final Pattern UUID = Pattern.compile("GPU-[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}");

    /**
     * The least time between snapshots for unknown UUIDs. Any text may name a GPU that is not here, and a snapshot
     * copies all readings.
     */
    private static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The age at which known labels are read again. A driver that is opened again may number the GPUs differently. */
    private static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Supplier<NodeSnapshot> node;
    private final LongSupplier nanoTime;
    private final Map<String, String> names = new ConcurrentHashMap<>();
    private final AtomicLong askedAt;

    GpuLabeler(Supplier<NodeSnapshot> node, LongSupplier nanoTime) {
        this.node = node;
        this.nanoTime = nanoTime;
        this.askedAt = new AtomicLong(nanoTime.getAsLong() - OLD_NANOS);
    }

    @Override
    public String apply(String text) {
        return UUID.matcher(text).replaceAll(found -> Matcher.quoteReplacement(name(found.group())));
    }

    private String name(String uuid) {
        String key = Identifiers.gpu(uuid);
        ask(names.containsKey(key) ? OLD_NANOS : ASK_AGAIN_NANOS);
        return names.getOrDefault(key, uuid);
    }

    private void ask(long age) {
        long now = nanoTime.getAsLong();
        long asked = askedAt.get();
        if (now - asked < age || !askedAt.compareAndSet(asked, now)) {
            return;
        }
        for (GpuSnapshot gpu : node.get().gpus()) {
            gpu.identity()
                    .uuid()
                    .asOptional()
                    .ifPresent(uuid ->
                            names.put(Identifiers.gpu(uuid), gpu.identity().label()));
        }
    }
}
