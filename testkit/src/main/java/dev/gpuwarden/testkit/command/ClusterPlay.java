package dev.gpuwarden.testkit.command;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** Plays acts and tells of them, until one is not seen in time. */
final class ClusterPlay {

    /** Looks are programs: more of them would keep from work what is looked at. */
    private static final Duration POLL = Duration.ofMillis(500);

    private final Function<String, String> look;
    private final PrintWriter out;
    private final Duration poll;

    /** @param look from a command to what it shows; what it throws shows nothing */
    ClusterPlay(Function<String, String> look, PrintWriter out) {
        this(look, out, POLL);
    }

    ClusterPlay(Function<String, String> look, PrintWriter out, Duration poll) {
        this.look = look;
        this.out = out;
        this.poll = poll;
    }

    /** Whether all of them were seen in time; what comes after one that was not is left out. */
    boolean play(List<ClusterAct> acts) {
        for (ClusterAct act : acts) {
            if (!perform(act)) {
                return false;
            }
        }
        return true;
    }

    private boolean perform(ClusterAct act) {
        say("\n" + act.what());
        try {
            act.doing().run();
        } catch (IllegalStateException e) {
            say("NOT DONE: " + e.getMessage());
            return false;
        }
        if (act.looks().isEmpty()) {
            return true;
        }
        long since = System.nanoTime();
        Map<String, String> shown = new LinkedHashMap<>();
        boolean seen = seen(act, shown);
        while (!seen && System.nanoTime() - since < act.limit().toNanos()) {
            LockSupport.parkNanos(poll.toNanos());
            seen = seen(act, shown);
        }
        double seconds = (System.nanoTime() - since) / 1e9;
        tell(act, shown);
        say(String.format(
                Locale.ROOT,
                "%s %.1f s (limit %.0f s)",
                seen ? "seen after" : "NOT SEEN within",
                seconds,
                act.limit().toMillis() / 1e3));
        return seen;
    }

    /** Looks until something is not there; nothing is asked twice. */
    private boolean seen(ClusterAct act, Map<String, String> shown) {
        shown.clear();
        return act.looks().stream()
                .allMatch(each -> each.sign().seenIn(shown.computeIfAbsent(each.command(), this::show)));
    }

    /** What was judged, and not what is to be seen a moment later. */
    private void tell(ClusterAct act, Map<String, String> shown) {
        Set<String> told = new HashSet<>();
        for (ClusterLook each : act.looks()) {
            String text = shown.computeIfAbsent(each.command(), this::show);
            if (told.add(each.command())) {
                say(each.title() + "\n" + text.stripTrailing());
            }
            if (!each.sign().seenIn(text)) {
                say("expected " + (each.sign().shown() ? "" : "no ")
                        + each.sign().line());
            }
        }
    }

    private String show(String command) {
        try {
            return look.apply(command);
        } catch (IllegalStateException notNow) {
            return "";
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
