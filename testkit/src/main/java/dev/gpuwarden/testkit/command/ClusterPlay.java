package dev.gpuwarden.testkit.command;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Plays acts and tells of them, until one is not seen in time. */
final class ClusterPlay {

    private static final Duration POLL = Duration.ofMillis(100);

    private final Function<List<String>, String> kubectl;
    private final PrintWriter out;

    /** @param kubectl from its arguments to what it prints; what it throws shows nothing */
    ClusterPlay(Function<List<String>, String> kubectl, PrintWriter out) {
        this.kubectl = kubectl;
        this.out = out;
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
        act.doing().run();
        if (act.looks().isEmpty()) {
            return true;
        }
        long since = System.nanoTime();
        boolean seen = seen(act);
        while (!seen && System.nanoTime() - since < act.limit().toNanos()) {
            LockSupport.parkNanos(POLL.toNanos());
            seen = seen(act);
        }
        double seconds = (System.nanoTime() - since) / 1e9;
        for (List<String> arguments :
                act.looks().stream().map(DemoLook::arguments).collect(Collectors.toCollection(LinkedHashSet::new))) {
            say("$ kubectl " + String.join(" ", arguments));
            out.print(look(arguments));
        }
        say(String.format(
                Locale.ROOT,
                "%s %.1f s (limit %.0f s)",
                seen ? "seen after" : "NOT SEEN within",
                seconds,
                act.limit().toMillis() / 1e3));
        return seen;
    }

    private boolean seen(ClusterAct act) {
        return act.looks().stream().allMatch(look -> look.sign().seenIn(look(look.arguments())));
    }

    private String look(List<String> arguments) {
        try {
            return kubectl.apply(arguments);
        } catch (IllegalStateException notNow) {
            return "";
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
