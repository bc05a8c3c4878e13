package dev.gpuwarden.daemon.vram.reserve;

import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.daemon.vram.reserve.Applicants.Named;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.reservation.Grants;
import dev.gpuwarden.watchdog.reservation.Room;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The open requests for GPU memory of a node. The watchdog's thread gives it each observation, and gets it back with the
 * reservations of that GPU. A request ends by its owner, or with its time. Thread-safe.
 */
public final class ReservationDesk {

    private static final System.Logger LOG = System.getLogger(ReservationDesk.class.getName());

    private final Applicants applicants;
    private final WatchdogRules rules;
    private final Clock clock;
    private final RateLimit lines =
            new RateLimit(30, Duration.ofSeconds(10).toNanos(), CallerShares.MOST, System::nanoTime);
    private final Map<Long, Ticket> tickets = new TreeMap<>();
    private final Map<String, Card> cards = new LinkedHashMap<>();
    /** Number of the last reading of each GPU. */
    private final Map<String, Long> readings = new HashMap<>();
    /** The last list of each GPU's tenants that could be read. */
    private final Map<String, Listed> listed = new HashMap<>();

    private long numbers;
    private volatile Runnable whenOpened = () -> {};

    private record Listed(long atNanos, List<Tenant> tenants) {}

    public ReservationDesk(Applicants applicants, WatchdogRules rules, Clock clock) {
        this.applicants = applicants;
        this.rules = rules;
        this.clock = clock;
    }

    /** @param whenOpened runs with each request that opens; must not block */
    public void whenOpened(Runnable whenOpened) {
        this.whenOpened = whenOpened;
    }

    /**
     * Opens a request. Reads /proc for the caller's tenant.
     *
     * @param listener gets each state, from this call on and later on the watchdog's thread; must not block
     * @return ends the request, and gives back what was granted
     * @throws Refusal if it can never be granted
     */
    public Runnable open(Request request, Consumer<Progress> listener) {
        MemoryUse process = applicants.process(request.caller());
        if (request.tenant().isPresent()) {
            Applicants.permit(request.caller(), process.owner());
        }
        CallerShares shares = CallerShares.of(request.caller(), process.owner(), CallerShares.MOST_OF_TENANT);
        synchronized (this) {
            Map<String, Named> tenants = tenants(request, process, possible(request));
            shares.require(
                    "requests",
                    tickets.values().stream().map(each -> each.shares).toList());
            Ticket ticket = new Ticket(
                    ++numbers,
                    request,
                    CallerShares.tenant(request.caller(), process.owner()),
                    shares,
                    request.tenant().isPresent() ? Optional.empty() : Optional.of(process),
                    tenants,
                    listener,
                    System.nanoTime(),
                    clock.instant());
            tickets.put(ticket.number, ticket);
            ticket.tell(System.nanoTime());
            whenOpened.run();
            return () -> close(ticket);
        }
    }

    private synchronized void close(Ticket ticket) {
        tickets.remove(ticket.number);
    }

    /** Returns the GPUs that could serve the request on an empty card. */
    private List<Card> possible(Request request) {
        List<Card> named = cards.values().stream()
                .filter(card -> request.gpu().map(card::isNamed).orElse(true))
                .toList();
        if (cards.isEmpty()) {
            throw new Refusal(Refusal.Cause.NOT_READY, "the watchdog has read no GPU yet; try again in some seconds");
        }
        if (named.isEmpty()) {
            throw new Refusal(
                    Refusal.Cause.NOT_FOUND, "no GPU is " + request.gpu().orElse("") + "; 'gpuwarden scan' lists them");
        }
        List<Card> whole = named.stream().filter(card -> !card.isPartitioned()).toList();
        if (whole.isEmpty()) {
            throw new Refusal(Refusal.Cause.IMPOSSIBLE, "GPUs with MIG are not watched, so they have no reservations");
        }
        List<Card> large = whole.stream()
                .filter(card -> card.totalBytes() == 0 || request.bytes() <= mostBytes(card))
                .toList();
        if (large.isEmpty()) {
            long most = whole.stream().mapToLong(this::mostBytes).max().orElse(0);
            throw new Refusal(
                    Refusal.Cause.TOO_LARGE,
                    Mib.text(request.bytes()) + " are more than an empty card has for tenants without its floor: "
                            + Mib.text(most));
        }
        return large;
    }

    private long mostBytes(Card card) {
        return card.mostBytes() - rules.pressure().floorOf(card.totalBytes());
    }

    private Map<String, Named> tenants(Request request, MemoryUse process, List<Card> possible) {
        Map<String, Named> tenants = new HashMap<>();
        for (Card card : possible) {
            request.tenant()
                    .map(name -> Applicants.among(card.tenants(), name))
                    .orElseGet(() -> applicants.own(card.identity(), process))
                    .ifPresent(tenant -> tenants.put(card.selector(), tenant));
        }
        if (tenants.isEmpty() && request.tenant().isPresent()) {
            throw new Refusal(
                    Refusal.Cause.NOT_FOUND,
                    "no tenant, or more than one, is " + request.tenant().get()
                            + "; 'gpuwarden vram top -o json' lists their IDs");
        }
        if (tenants.isEmpty() && process.owner() instanceof Owner.Unknown unknown) {
            throw Refusal.withoutTenant(request.caller(), unknown);
        }
        return tenants;
    }

    /** Returns whether requests wait for memory of this GPU, so that its processes should be listed often. */
    public synchronized boolean isWanted(String gpu) {
        return tickets.values().stream().anyMatch(each -> each.isWaiting() && each.isFor(gpu));
    }

    /** Returns whether a request for memory of this GPU is open, so that each of its readings counts. */
    public synchronized boolean isOpen(String gpu) {
        return tickets.values().stream().anyMatch(each -> each.isFor(gpu));
    }

    /** Ends requests whose time is over, and forgets GPUs that the node no longer has. */
    public synchronized void tick(Collection<String> gpus) {
        cards.keySet().retainAll(gpus);
        readings.keySet().retainAll(gpus);
        listed.keySet().retainAll(gpus);
        long now = System.nanoTime();
        for (Ticket each : List.copyOf(tickets.values())) {
            if (each.isOver(now)) {
                each.expire();
                tickets.remove(each.number);
                each.tell(now);
            }
        }
    }

    /** Grants what has room by this observation, and returns it with the GPU's reservations. */
    public synchronized GpuObservation observe(GpuIdentity gpu, GpuObservation seen) {
        Card card = new Card(gpu, seen);
        cards.put(card.selector(), card);
        List<Ticket> here = tickets.values().stream()
                .filter(each -> each.isFor(card.selector()))
                .toList();
        List<Reservation> asked =
                here.stream().map(each -> each.on(card.selector())).toList();
        List<Reservation> left = afterUse(card, here, asked);
        Optional<String> doubt = doubt(seen);
        Room room = new Room(
                seen.memory().asOptional().map(GpuBytes::free).orElse(0L),
                rules.pressure().floorOf(card.totalBytes()),
                card.tenants(),
                left);
        List<Reservation> after = doubt.isPresent() ? left : Grants.granted(room, seen.atNanos());
        readings.put(card.selector(), seen.sequence());
        for (int i = 0; i < here.size(); i++) {
            Reservation now = after.get(i);
            here.get(i).used(now.unusedBytes());
            if (now.granted() && !asked.get(i).granted()) {
                granted(here.get(i), card, seen);
            } else if (!now.granted()) {
                here.get(i).waits(card, doubt.orElseGet(() -> why(room, now)));
            }
            here.get(i).tell(System.nanoTime());
        }
        return seen.with(after);
    }

    /** Returns the reservations after the allocations since the list of tenants before, if there is a new one. */
    private List<Reservation> afterUse(Card card, List<Ticket> here, List<Reservation> asked) {
        Listed before = listed.get(card.selector());
        boolean isNew = before == null || before.atNanos() != card.seen().tenantsAtNanos();
        if (!isNew || card.seen().tenants().asOptional().isEmpty()) {
            return asked;
        }
        listed.put(card.selector(), new Listed(card.seen().tenantsAtNanos(), card.tenants()));
        // The budget of a tenant that waits counts for as long as it waits.
        here.forEach(each -> each.process.ifPresent(process -> applicants.own(card.identity(), process)));
        return before == null ? asked : Grants.afterUse(asked, before.tenants(), card.tenants());
    }

    /** Returns why nothing can be granted by this observation. */
    private Optional<String> doubt(GpuObservation seen) {
        Optional<String> memory = seen.memory() instanceof Reading.Absent<GpuBytes> none
                ? Optional.of("its memory is unknown: " + none.text())
                : seen.memory().asOptional().flatMap(GpuBytes::doubt);
        if (memory.isPresent()) {
            return memory;
        }
        if (seen.tenants() instanceof Reading.Absent<List<Tenant>> none) {
            return Optional.of("its tenants are unknown: " + none.text());
        }
        if (seen.sequence() <= readings.getOrDefault(seen.gpu(), Long.MIN_VALUE)) {
            return Optional.of("its memory was not read again");
        }
        long age = seen.atNanos() - seen.tenantsAtNanos();
        return age > rules.recycle().newestWithin().toNanos()
                ? Optional.of("its processes are being listed")
                : Optional.empty();
    }

    private static String why(Room room, Reservation waiting) {
        return room.text(waiting)
                + (room.has(waiting) ? "; an earlier request, or one within a budget, comes first" : "");
    }

    private void granted(Ticket ticket, Card card, GpuObservation seen) {
        ticket.granted(card, seen.atNanos(), clock.instant());
        if (lines.take(ticket.caller)) {
            LOG.log(
                    Level.INFO,
                    card.identity().label() + ": " + Mib.text(ticket.request.bytes()) + " reserved for "
                            + ticket.tenantName());
        }
    }
}
