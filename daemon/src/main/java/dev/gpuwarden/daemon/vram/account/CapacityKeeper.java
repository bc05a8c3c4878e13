package dev.gpuwarden.daemon.vram.account;

import dev.gpuwarden.api.vram.CapacityPlan;
import dev.gpuwarden.api.vram.CapacityRules;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.kube.KubeWatch;
import dev.gpuwarden.daemon.kube.NodeApi;
import dev.gpuwarden.watchdog.budget.Quantity;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Keeps the amount of VRAM in this node's Node: it writes after each change of the amount, and after each change of the Node that
 * has another value. One thread writes. Thread-safe.
 */
final class CapacityKeeper implements KubeWatch.Listener, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(CapacityKeeper.class.getName());

    /** Writes in a row that another writer can provoke. Then it may provoke one in a minute. */
    static final int BURST = 10;

    private static final Duration EACH = Duration.ofMinutes(1);
    private static final Duration FOREVER = Duration.ofDays(365);
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30), 0.5);

    private final NodeApi api;
    private final CapacityRules rules;
    private final NodeEvents events;
    private final boolean follows;
    private final RateLimit limit = new RateLimit(BURST, EACH.toNanos(), 1, System::nanoTime);
    private final Optional<KubeWatch> watch;
    private final LoopThread thread = new LoopThread("gpuwarden-vram-capacity", Threads.SMALL_STACK_BYTES, this::turn);

    /** Guarded by this, like the next two. */
    private Optional<Map<?, ?>> node = Optional.empty();

    private Optional<OptionalLong> wanted = Optional.empty();
    private long newest;

    /** The Node that has the resource from here. Used by the thread alone, like the rest. */
    private String writtenUid = "";

    private Optional<OptionalLong> checked = Optional.empty();
    private int failures;
    private String logged = "";

    /** @param follows false to remove an earlier amount, and do nothing else */
    CapacityKeeper(NodeApi api, String resource, NodeEvents events, boolean follows, Duration silence) {
        this.api = api;
        this.rules = new CapacityRules(resource, false, CapacityKeeper::number);
        this.events = events;
        this.follows = follows;
        this.watch = follows ? Optional.of(api.watchNode(this, silence)) : Optional.empty();
        thread.start();
    }

    private static OptionalLong number(String text) {
        try {
            return OptionalLong.of(Quantity.parse(text).wholeNumber());
        } catch (IllegalArgumentException e) {
            return OptionalLong.empty();
        }
    }

    /** Sets the amount. Does not block. */
    synchronized void set(OptionalLong mib) {
        if (!wanted.equals(Optional.of(mib))) {
            wanted = Optional.of(mib);
            thread.wake();
        }
    }

    // ---- the Node ----

    @Override
    public void listed(List<Map<?, ?>> objects) {
        objects.stream().findFirst().ifPresentOrElse(this::changed, () -> keep(Optional.empty(), newest()));
    }

    @Override
    public void changed(Map<?, ?> object) {
        keep(Optional.of(object), version(object));
    }

    @Override
    public void removed(Map<?, ?> object) {
        keep(Optional.empty(), version(object));
    }

    /** Keeps a state of the Node, unless a newer one is here: a watch and the answers to writes overtake each other. */
    private synchronized void keep(Optional<Map<?, ?>> now, long version) {
        if (version >= newest) {
            newest = version;
            node = now;
            thread.wake();
        }
    }

    private synchronized long newest() {
        return newest;
    }

    /** Returns the version as a number. The API server's versions are numbers, and grow. */
    private long version(Map<?, ?> object) {
        String text = JsonTrees.text(JsonTrees.object(object, "metadata"), "resourceVersion");
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : newest();
    }

    private synchronized Optional<Map<?, ?>> seen() {
        return node;
    }

    private synchronized Optional<OptionalLong> amount() {
        return wanted;
    }

    // ---- its thread ----

    private long turn() throws InterruptedException {
        try {
            if (!follows) {
                set(OptionalLong.empty());
                changed(api.node());
            }
            Duration wait = reconcile();
            failures = 0;
            return !follows && wait.equals(FOREVER) ? LoopThread.ENDED : wait.toNanos();
        } catch (IOException | RuntimeException e) {
            failures++;
            log(Level.WARNING, rules.resource() + " of the Node cannot be kept, with retries: " + text(e));
            // A change is no reason to try sooner.
            thread.pause(RETRY.pause(failures).toNanos());
            return 0;
        }
    }

    private Duration reconcile() throws IOException, InterruptedException {
        Optional<Map<?, ?>> there = seen();
        Optional<OptionalLong> mib = amount();
        if (there.isEmpty() || mib.isEmpty() || api.isDryRun() && mib.equals(checked)) {
            return FOREVER;
        }
        String uid = JsonTrees.text(JsonTrees.object(there.get(), "metadata"), "uid");
        CapacityPlan plan = CapacityPlan.of(there.get(), rules, mib.get(), uid.equals(writtenUid));
        if (plan instanceof CapacityPlan.Unchanged unchanged) {
            writtenUid = mib.get().isPresent() ? uid : "";
            log(follows ? Level.INFO : Level.DEBUG, unchanged.text());
            api.capacityIsRight();
            return FOREVER;
        }
        if (plan instanceof CapacityPlan.Refused refused) {
            refuse(refused.text());
            return FOREVER;
        }
        if (!limit.has(api)) {
            refuse("another writer changes " + rules.resource() + " of the Node again and again; next try in "
                    + EACH.toSeconds() + " s");
            return EACH;
        }
        if (plan instanceof CapacityPlan.Remove remove) {
            for (Map<String, Object> body : remove.bodies()) {
                apply(body);
            }
            writtenUid = "";
            logged = "";
            log(Level.INFO, "the Node has no " + rules.resource() + " of gpuwarden any more");
        } else {
            apply(((CapacityPlan.Write) plan).body());
            writtenUid = uid;
            logged = "";
            log(Level.INFO, "the Node has " + rules.resource() + " " + mib.get().orElse(0));
        }
        // A write that failed was provoked by no other writer.
        var unused = limit.take(api);
        checked = mib;
        return FOREVER;
    }

    private static String text(Exception cause) {
        return cause instanceof IOException ? String.valueOf(cause.getMessage()) : cause.toString();
    }

    private void apply(Map<String, Object> body) throws IOException, InterruptedException {
        changed(api.applyStatus(CapacityPlan.MANAGER, body));
    }

    private void refuse(String text) {
        if (log(Level.WARNING, rules.resource() + " is not advertised: " + text)) {
            events.warn("VramNotAdvertised", text);
        }
    }

    /** Logs a text that differs from the one before. */
    private boolean log(Level level, String text) {
        if (text.equals(logged)) {
            return false;
        }
        logged = text;
        LOG.log(level, (api.isDryRun() ? "dry run: " : "") + text);
        return true;
    }

    @Override
    public void close() {
        thread.end();
        watch.ifPresent(KubeWatch::close);
        // The amount stays in the Node.
        thread.interrupt(Duration.ofSeconds(2));
    }
}
