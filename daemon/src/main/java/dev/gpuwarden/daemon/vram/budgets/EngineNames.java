package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.vram.engine.ContainerEngine;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.LongSupplier;

/**
 * Names of containers by their engine, which is asked for one container at a time: what is too large or wrong about one costs
 * no other one its name. A thread of each engine asks for a container without a name, at most every ten seconds. Thread-safe.
 */
public final class EngineNames implements ContainerNames {

    private static final System.Logger LOG = System.getLogger(EngineNames.class.getName());

    private static final long PAUSE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int MOST_CONTAINERS = 4096;
    private static final int MOST_WAITING = 64;

    private final LongSupplier nanoTime;
    private final Map<String, Asked> engines = new HashMap<>();
    private final Map<String, Known> known = new BoundedMap<>(MOST_CONTAINERS, true);

    /** The last answer about a container; absent ones are asked for again. */
    private record Known(Reading<String> name, long atNanos) {}

    /** An engine, and the containers to ask it for; its thread runs while there are any. */
    private static final class Asked {
        private final ContainerEngine engine;
        private final Queue<String> waiting = new ArrayDeque<>();
        private boolean running;

        Asked(ContainerEngine engine) {
            this.engine = engine;
        }
    }

    public EngineNames(List<ContainerEngine> engines) {
        this(engines, System::nanoTime);
    }

    EngineNames(List<ContainerEngine> engines, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        engines.forEach(engine -> this.engines.put(engine.runtime(), new Asked(engine)));
    }

    @Override
    public synchronized Reading<String> name(Owner.Container container) {
        Asked engine = engines.get(container.runtime());
        if (engine == null) {
            return Reading.absent(
                    Absence.NOT_SUPPORTED, 0, "no engine of " + container.runtime() + " is asked for names");
        }
        String key = key(container.runtime(), container.containerId());
        Known before = known.get(key);
        boolean isDue = before == null
                || before.name().asOptional().isEmpty() && nanoTime.getAsLong() - before.atNanos() >= PAUSE_NANOS;
        if (isDue && !engine.waiting.contains(container.containerId()) && engine.waiting.size() < MOST_WAITING) {
            engine.waiting.add(container.containerId());
            if (!engine.running) {
                engine.running = true;
                Threads.daemon("gpuwarden-containers", Threads.SMALL_STACK_BYTES, () -> ask(engine))
                        .start();
            }
        }
        return before == null
                ? Reading.absent(Absence.PENDING, 0, "its engine is being asked for its name")
                : before.name();
    }

    /** Returns the key of a container. Any user can give the ID of another engine's container to the own cgroup. */
    private static String key(String runtime, String id) {
        return runtime + ":" + id;
    }

    private void ask(Asked engine) {
        for (Optional<String> next = next(engine); next.isPresent(); next = next(engine)) {
            String id = next.get();
            Reading<String> name;
            try {
                name = engine.engine
                        .name(id)
                        .map(Reading::of)
                        .orElseGet(() -> Reading.absent(Absence.NO_DATA, 0, "its engine has no such container"));
            } catch (IOException | RuntimeException e) {
                name = Reading.absent(Absence.FAILED, 0, "its name is unknown: " + e.getMessage());
            }
            add(engine, id, name);
        }
    }

    private synchronized Optional<String> next(Asked engine) {
        Optional<String> next = Optional.ofNullable(engine.waiting.peek());
        engine.running = next.isPresent();
        return next;
    }

    private synchronized void add(Asked engine, String id, Reading<String> name) {
        // An entry stays in the queue while its engine is asked, so that it is asked for once.
        engine.waiting.remove();
        boolean isNews = name instanceof Reading.Absent<String> none
                && none.cause() == Absence.FAILED
                && known.values().stream().noneMatch(each -> each.name().equals(name));
        known.put(key(engine.engine.runtime(), id), new Known(name, nanoTime.getAsLong()));
        if (isNews) {
            LOG.log(
                    Level.WARNING,
                    "container " + id + " has no budget by name: " + ((Reading.Absent<String>) name).detail());
        }
    }
}
