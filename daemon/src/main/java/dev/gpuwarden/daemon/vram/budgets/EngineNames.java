package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.vram.engine.ContainerEngine;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Names of containers as their engine lists them. An unknown container makes a thread of its own list the engine's
 * containers again, at most every ten seconds; until then it has no name. Thread-safe.
 */
public final class EngineNames implements ContainerNames {

    private static final System.Logger LOG = System.getLogger(EngineNames.class.getName());

    private static final long PAUSE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int MOST_CONTAINERS = 4096;

    private final List<ContainerEngine> engines;
    private final Map<String, String> namesById = new BoundedMap<>(MOST_CONTAINERS, false);
    private final Map<String, Long> listedAtNanos = new HashMap<>();
    private final Map<String, String> problems = new HashMap<>();

    public EngineNames(List<ContainerEngine> engines) {
        this.engines = List.copyOf(engines);
    }

    @Override
    public synchronized Optional<String> name(Owner.Container container) {
        String name = namesById.get(key(container.runtime(), container.containerId()));
        if (name == null) {
            engines.stream()
                    .filter(engine -> engine.runtime().equals(container.runtime()))
                    .forEach(this::listLater);
        }
        return Optional.ofNullable(name);
    }

    /** Returns the key of a container. Any user can give the ID of another engine's container to the own cgroup. */
    private static String key(String runtime, String id) {
        return runtime + ":" + id;
    }

    private void listLater(ContainerEngine engine) {
        long now = System.nanoTime();
        Long before = listedAtNanos.get(engine.runtime());
        if (before == null || now - before >= PAUSE_NANOS) {
            listedAtNanos.put(engine.runtime(), now);
            Threads.daemon("gpuwarden-containers", Threads.SMALL_STACK_BYTES, () -> list(engine))
                    .start();
        }
    }

    private void list(ContainerEngine engine) {
        try {
            Map<String, String> names = engine.names();
            synchronized (this) {
                names.forEach((id, name) -> namesById.put(key(engine.runtime(), id), name));
                problems.remove(engine.runtime());
            }
        } catch (IOException e) {
            report(engine, String.valueOf(e.getMessage()));
        }
    }

    private synchronized void report(ContainerEngine engine, String problem) {
        if (!problem.equals(problems.put(engine.runtime(), problem))) {
            LOG.log(Level.WARNING, "containers have no names, only IDs: " + problem);
        }
    }
}
