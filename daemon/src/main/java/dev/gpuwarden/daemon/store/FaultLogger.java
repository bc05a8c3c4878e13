package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.util.Text;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A log of the faults that other programs and the kernel log report: one line when a fault is raised and one when it
 * is cleared, none for repetitions. Reporters are not trusted: a minute has at most {@value #MOST} lines about fatal
 * faults and as many about others, of which one agent or kind of reporter gets at most {@value #MOST_OF_AGENT} each. The first line of a
 * later minute gives the number of suppressed lines. Called by the store's thread only.
 */
public final class FaultLogger implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FaultLogger.class.getName());

    static final int MOST = 60;
    static final int MOST_OF_AGENT = 30;
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int LONGEST_MESSAGE = 300;

    private final Supplier<PartNames> names;
    private final BiConsumer<Level, String> log;
    private final LongSupplier nanoTime;
    private final EventReader.Subscription subscription;
    private long minuteBegan;
    private long leftOut;

    /** Lines of this minute. */
    private final Map<Share, Integer> lines = new HashMap<>();

    /** @param agent empty for all agents together */
    private record Share(String agent, boolean fatal) {}

    /** @param names returns the current names of the node's parts */
    public FaultLogger(EventReader book, Supplier<PartNames> names) {
        this(book, names, LOG::log, System::nanoTime);
    }

    FaultLogger(EventReader book, Supplier<PartNames> names, BiConsumer<Level, String> log, LongSupplier nanoTime) {
        this.names = names;
        this.log = log;
        this.nanoTime = nanoTime;
        this.minuteBegan = nanoTime.getAsLong();
        this.subscription = book.listen(this::received);
    }

    private void received(EventChange change) {
        Effect effect = change.change().effect();
        HealthEvent event = change.stored().event();
        if (effect == Effect.REPEATED || event.agent().equals(FindingEvents.AGENT)) {
            // Checks log what they find, with its remedy.
            return;
        }
        if (nanoTime.getAsLong() - minuteBegan >= MINUTE_NANOS) {
            minuteBegan = nanoTime.getAsLong();
            lines.clear();
            if (leftOut > 0) {
                log.accept(
                        Level.WARNING,
                        leftOut + " faults that came or went were not logged, limits " + MOST + " a minute and "
                                + MOST_OF_AGENT + " of one agent; 'gpuwarden events' has them");
                leftOut = 0;
            }
        }
        Share all = new Share("", event.fatal());
        Share agent = new Share(Reporter.shareOf(event), event.fatal());
        if (lines.getOrDefault(all, 0) >= MOST || lines.getOrDefault(agent, 0) >= MOST_OF_AGENT) {
            leftOut++;
            return;
        }
        lines.merge(all, 1, Integer::sum);
        lines.merge(agent, 1, Integer::sum);
        Level level = effect == Effect.CLEARED ? Level.INFO : event.fatal() ? Level.ERROR : Level.WARNING;
        log.accept(level, line(effect, event));
    }

    private String line(Effect effect, HealthEvent event) {
        String what = switch (effect) {
            case RAISED -> event.fatal() ? "fatal fault " : "fault ";
            case CHANGED -> "fault changed: ";
            case CLEARED, REPEATED -> "fault over: ";
        };
        String codes = String.join(", ", event.errorCodes());
        String entities = event.entities().isEmpty() ? "" : names.get().of(event.entities());
        String message = event.message();
        return what + event.checkName() + (codes.isEmpty() ? "" : " " + codes)
                + (entities.isEmpty() ? "" : " of " + entities) + ", from " + event.agent()
                + Reporter.nameOf(event).map(name -> " (" + name + ")").orElse("") + ": "
                + Text.truncate(message, LONGEST_MESSAGE);
    }

    @Override
    public void close() {
        subscription.close();
    }
}
