package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.script.ChildRun;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of containers as their engine lists them. An unknown container makes a thread of its own list the engine's
 * containers again, at most every ten seconds; until then it has no name. Thread-safe.
 */
public final class EngineNames implements ContainerNames {

    private static final System.Logger LOG = System.getLogger(EngineNames.class.getName());

    private static final Set<String> ENGINES = Set.of("docker", "podman");
    private static final long PAUSE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int MOST_CONTAINERS = 4096;
    private static final Pattern ROW = Pattern.compile("([0-9a-f]{64}) ([A-Za-z0-9][A-Za-z0-9_.-]{0,254})");
    private static final Map<String, String> ENVIRONMENT =
            Map.of("PATH", "/usr/local/bin:/usr/bin:/bin", "LC_ALL", "C", "HOME", "/root");

    private final Map<String, String> namesById = new BoundedMap<>(MOST_CONTAINERS, false);
    private final Map<String, Long> listedAtNanos = new HashMap<>();

    @Override
    public synchronized Optional<String> name(Owner.Container container) {
        String name = namesById.get(container.containerId());
        if (name == null && ENGINES.contains(container.runtime())) {
            listLater(container.runtime());
        }
        return Optional.ofNullable(name);
    }

    private void listLater(String engine) {
        long now = System.nanoTime();
        Long before = listedAtNanos.get(engine);
        if (before == null || now - before >= PAUSE_NANOS) {
            listedAtNanos.put(engine, now);
            Threads.daemon("gpuwarden-containers", Threads.SMALL_STACK_BYTES, () -> list(engine))
                    .start();
        }
    }

    private void list(String engine) {
        try {
            ChildRun run = ChildRun.of(
                    List.of(engine, "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}}"),
                    Path.of("/"),
                    ENVIRONMENT,
                    TIMEOUT);
            if (run.end() instanceof ChildRun.End.Exited exited && exited.code() == 0) {
                run.out().lines().forEach(this::add);
            } else {
                LOG.log(
                        Level.WARNING,
                        "containers have no names: " + engine + " ps: " + run.end() + " "
                                + run.err().strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void add(String line) {
        Matcher row = ROW.matcher(line.strip());
        if (row.matches()) {
            namesById.put(row.group(1), row.group(2));
        }
    }
}
