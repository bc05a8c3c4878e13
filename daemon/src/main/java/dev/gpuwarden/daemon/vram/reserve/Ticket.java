package dev.gpuwarden.daemon.vram.reserve;

import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.daemon.vram.reserve.Applicants.Named;
import dev.gpuwarden.daemon.vram.reserve.Progress.State;
import dev.gpuwarden.watchdog.observation.Reservation;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One open request of a {@link ReservationDesk}. Not thread-safe: the desk's lock protects it. */
final class Ticket {

    /** The text of a request that waits changes with each reading. */
    private static final long TELL_NANOS = 1_000_000_000L;

    /** The first decision about a request comes within a second while its GPU is read. */
    private static final long FIRST_DECISION_NANOS = 5_000_000_000L;

    private static final int MOST_REASONS = 2;

    final long number;
    final Request request;
    final String caller;
    final CallerShares shares;
    final Optional<MemoryUse> process;
    private final Map<String, Named> tenants;
    private final Consumer<Progress> listener;
    private final Map<String, String> reasons = new LinkedHashMap<>();

    private State state = State.WAITING;
    private Optional<Card> card = Optional.empty();
    private long unusedBytes;
    private long sinceNanos;
    private Instant until;
    private @Nullable Progress told;
    private long toldAtNanos;

    /**
     * @param caller identity of the caller's own tenant
     * @param shares of the caller
     * @param process the caller, if the request is for its own tenant
     * @param tenants the tenant on each GPU that may serve it, by UUID
     */
    Ticket(
            long number,
            Request request,
            String caller,
            CallerShares shares,
            Optional<MemoryUse> process,
            Map<String, Named> tenants,
            Consumer<Progress> listener,
            long nowNanos,
            Instant now) {
        this.number = number;
        this.request = request;
        this.caller = caller;
        this.shares = shares;
        this.process = process;
        this.tenants = Map.copyOf(tenants);
        this.listener = listener;
        this.unusedBytes = request.bytes();
        this.sinceNanos = nowNanos;
        this.until = now.plus(request.longestWait());
    }

    boolean isWaiting() {
        return state == State.WAITING;
    }

    /** Returns whether this GPU may serve it, or does. */
    boolean isFor(String gpu) {
        return card.map(has -> has.selector().equals(gpu)).orElseGet(() -> tenants.containsKey(gpu));
    }

    /** Returns it as the watchdog sees it on this GPU. */
    Reservation on(String gpu) {
        Named tenant = tenants.get(gpu);
        return new Reservation(
                number,
                tenant == null ? "" : tenant.id(),
                request.bytes(),
                unusedBytes,
                sinceNanos,
                state == State.GRANTED,
                request.borrows(),
                tenants.size() > 1);
    }

    void granted(Card by, long nanos, Instant now) {
        state = State.GRANTED;
        card = Optional.of(by);
        sinceNanos = nanos;
        until = now.plus(request.longestHold());
        reasons.clear();
    }

    void used(long left) {
        unusedBytes = left;
    }

    void waits(Card on, String why) {
        reasons.put(on.identity().label(), why);
    }

    /** Returns whether its time is over. A request that does not wait at all is decided once. */
    boolean isOver(long nowNanos) {
        long most = (isWaiting() ? request.longestWait() : request.longestHold()).toNanos();
        boolean undecided = isWaiting() && reasons.isEmpty();
        return nowNanos - sinceNanos >= (undecided ? Math.max(most, FIRST_DECISION_NANOS) : most);
    }

    void expire() {
        state = State.EXPIRED;
    }

    String tenantName() {
        return card.map(Card::selector)
                .map(tenants::get)
                .or(() -> tenants.values().stream().findFirst())
                .map(Named::name)
                .orElse("");
    }

    /** Passes on a new state immediately, and a new text at most once a second. */
    void tell(long nowNanos) {
        Progress now = new Progress(state, text(), tenantName(), card.map(Card::identity), unusedBytes, until);
        Progress before = told;
        boolean changed = before == null || before.state() != now.state();
        if (changed || !now.equals(before) && nowNanos - toldAtNanos >= TELL_NANOS) {
            told = now;
            toldAtNanos = nowNanos;
            listener.accept(now);
        }
    }

    private String text() {
        String all = reasons.entrySet().stream()
                .limit(MOST_REASONS)
                .map(each -> each.getKey() + ": " + each.getValue())
                .collect(Collectors.joining(" / "));
        return reasons.size() <= MOST_REASONS ? all : all + " / " + (reasons.size() - MOST_REASONS) + " more GPUs";
    }
}
