package dev.gpuwarden.daemon.vram.notice;

import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.daemon.vram.notice.Notice.State;
import dev.gpuwarden.daemon.vram.reserve.Applicants;
import dev.gpuwarden.daemon.vram.reserve.CallerShares;
import dev.gpuwarden.daemon.vram.reserve.Refusal;
import dev.gpuwarden.daemon.vram.reserve.Request;
import dev.gpuwarden.daemon.vram.trace.DecisionLog;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * Notices to the tenants of a node. The watchdog's thread gives it each decision. A tenant is notified once in each time of
 * pressure: by its signal, and by the calls of its processes. Thread-safe.
 */
public final class NoticeBoard {

    /** Open calls of one process, which needs one and may connect again before its old call has ended. */
    public static final int MOST_OF_PROCESS = 4;

    /** Open calls of one tenant: each process of a job may watch. */
    public static final int MOST_OF_TENANT = CallerShares.MOST_OF_USER;

    private static final System.Logger LOG = System.getLogger(NoticeBoard.class.getName());

    private static final int BURST = 3;
    private static final Duration PAUSE = Duration.ofMinutes(10);
    private static final int MOST_TENANTS = 1024;

    private final RecycleRules rules;
    private final boolean armed;
    private final Applicants applicants;
    private final NoticeSignals signals;
    private final Optional<DecisionLog> records;
    private final Clock clock;
    private final RateLimit limit = new RateLimit(BURST, PAUSE.toNanos(), MOST_TENANTS, System::nanoTime);
    private final List<Watcher> watchers = new CopyOnWriteArrayList<>();
    private final Map<String, Gpu> gpus = new LinkedHashMap<>();
    /**
     * @param armed whether decisions are carried out
     * @param records gets each announcement; empty where events are in memory alone
     */
    public NoticeBoard(
            RecycleRules rules,
            boolean armed,
            Applicants applicants,
            NoticeSignals signals,
            Optional<DecisionLog> records,
            Clock clock) {
        this.rules = rules;
        this.armed = armed;
        this.applicants = applicants;
        this.signals = signals;
        this.records = records;
        this.clock = clock;
    }

    /** The tenants of one GPU that are over their budgets, and those that were notified in this time of pressure. */
    private record Gpu(GpuIdentity identity, Map<String, Notice> active, Set<String> notified) {}

    /** One watching process, and its last notice of each GPU. */
    private final class Watcher {
        private final MemoryUse process;
        private final CallerShares shares;
        private final Consumer<Notice> listener;
        private final Map<String, Optional<Applicants.Named>> tenants = new HashMap<>();
        private final Map<String, Notice> last = new HashMap<>();

        Watcher(MemoryUse process, CallerShares shares, Consumer<Notice> listener) {
            this.process = process;
            this.shares = shares;
            this.listener = listener;
        }

        void update(Gpu gpu) {
            String selector = gpu.identity().selector();
            tenants.computeIfAbsent(selector, key -> applicants.own(gpu.identity(), process))
                    .ifPresent(tenant -> pass(selector, gpu, tenant));
        }

        private void pass(String selector, Gpu gpu, Applicants.Named tenant) {
            Notice before = last.get(selector);
            Notice now = gpu.active().get(tenant.id());
            if (now == null) {
                now = before != null && before.state() == State.NONE
                        ? before
                        : new Notice(State.NONE, gpu.identity(), tenant.name(), 0, 0, "", clock.instant());
            }
            if (!now.equals(before)) {
                last.put(selector, now);
                listener.accept(now);
            }
        }
    }

    /**
     * Watches the notices of a caller's tenant until the handle is closed. Reads /proc.
     *
     * @param listener gets the first state of each GPU soon, and then each change, on the watchdog's thread; must not block
     * @throws Refusal if the caller has no tenant, or one of its shares is used up
     */
    public Runnable watch(Request.Caller caller, Consumer<Notice> listener) {
        MemoryUse process = applicants.process(caller);
        synchronized (this) {
            boolean owned = gpus.values().stream()
                    .anyMatch(gpu -> applicants.own(gpu.identity(), process).isPresent());
            if (!owned && process.owner() instanceof Owner.Unknown unknown) {
                throw Refusal.withoutTenant(caller, unknown);
            }
            CallerShares shares = CallerShares.of(caller, process.owner(), MOST_OF_TENANT)
                    .and("process " + process.process().pid(), MOST_OF_PROCESS);
            shares.require(
                    "watchers", watchers.stream().map(each -> each.shares).toList());
            Watcher watcher = new Watcher(process, shares, listener);
            watchers.add(watcher);
            return () -> watchers.remove(watcher);
        }
    }

    /** Notifies the tenants over their budgets, before a decision is carried out. Sends signals, and does not wait for their effect. */
    public synchronized void decided(GpuIdentity identity, Decision decision) {
        Gpu gpu = gpus.computeIfAbsent(
                identity.selector(), key -> new Gpu(identity, new LinkedHashMap<>(), new HashSet<>()));
        if (decision.verdict() == Verdict.CALM) {
            gpu.active().clear();
            gpu.notified().clear();
        } else if (!decision.ranking().isEmpty() && decision.verdict() != Verdict.RECOVERING) {
            List<Tenant> over = decision.over(rules);
            gpu.active().keySet().retainAll(over.stream().map(Tenant::id).toList());
            over.forEach(tenant -> over(gpu, decision, tenant));
        }
        watchers.forEach(watcher -> watcher.update(gpu));
    }

    private void over(Gpu gpu, Decision decision, Tenant tenant) {
        boolean chosen = decision.recycled().filter(tenant::equals).isPresent();
        State state = !chosen ? State.OVER_BUDGET : armed ? State.WILL_BE_RECYCLED : State.WOULD_BE_RECYCLED;
        Notice before = gpu.active().get(tenant.id());
        if (before == null || chosen && before.state() != state) {
            gpu.active()
                    .put(
                            tenant.id(),
                            new Notice(
                                    state,
                                    gpu.identity(),
                                    tenant.name(),
                                    tenant.used().asOptional().orElse(0L),
                                    tenant.budget().asOptional().orElse(0L),
                                    decision.reason(),
                                    clock.instant()));
        }
        if (gpu.notified().add(tenant.id()) && limit.take(tenant.id())) {
            announce(gpu.identity(), decision, tenant);
        }
    }

    private void announce(GpuIdentity gpu, Decision decision, Tenant tenant) {
        NoticeSignals.Sent sent = signals.send(gpu.selector(), tenant);
        LOG.log(
                sent.accepted() ? Level.INFO : Level.WARNING,
                gpu.label() + ": " + tenant.name() + " is " + (tenant.overBytes() >> 20)
                        + " MiB over its budget while memory is short; notified: " + sent.text());
        records.ifPresent(log -> log.notified(decision, tenant, sent.accepted(), sent.text()));
    }
}
