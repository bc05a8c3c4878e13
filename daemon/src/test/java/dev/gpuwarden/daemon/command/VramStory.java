package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.trace.Trace;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The starvation of 2026-06-02 on a Tesla T4 with its published amounts: a model of llama-swap fails to load every 8 s. */
final class VramStory {

    static final Trace.Header HEADER = new Trace.Header("k8s-node1", Instant.parse("2026-06-02T10:00:00Z"), 0);

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000;

    private VramStory() {}

    /** Returns a minute, with one observation a second. */
    static List<GpuObservation> minute() {
        List<GpuObservation> all = new ArrayList<>();
        for (int second = 0; second < 60; second++) {
            boolean loads = second % 8 < 3;
            List<Tenant> tenants = List.of(
                    tenant("immich-ml", 3000, 10726, 1),
                    tenant("llama-swap", 5000, loads ? 300 : 0, 100 + second / 8),
                    tenant("frigate", 2000, 1700, 2),
                    tenant("immich-server", 1800, 145, 3));
            long used = tenants.stream()
                    .mapToLong(tenant -> tenant.used().asOptional().orElseThrow())
                    .sum();
            all.add(new GpuObservation(
                    "GPU-t4",
                    second * SECOND,
                    second + 1,
                    Reading.of(new GpuBytes(15360 * MIB, 0, used, 15360 * MIB - used)),
                    Reading.of(tenants),
                    second * SECOND));
        }
        return all;
    }

    private static Tenant tenant(String name, long budget, long used, int pid) {
        return new Tenant(
                "pod:" + name,
                name,
                "media/" + name,
                Reading.of(budget * MIB),
                Reading.of(used * MIB),
                used == 0 ? Set.of() : Set.of(new ProcessKey(pid, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    static Path trace(Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            Trace.Writer writer = new Trace.Writer(out, HEADER);
            for (GpuObservation seen : minute()) {
                writer.write(seen);
            }
        }
        return file;
    }
}
