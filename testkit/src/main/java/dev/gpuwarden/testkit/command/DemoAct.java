package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Something that happens on the demo's node, and how the program must show it.
 *
 * @param at the step of the scenario's timeline
 * @param ticks how often the daemon looks at what this is about; it has two of them
 * @param metric a line of the exposition
 * @param shown whether the line must be there, or be gone
 * @param row a line of scan's table
 */
record DemoAct(Duration at, String what, Duration ticks, Pattern metric, boolean shown, Pattern row) {

    /** How often the demo's daemon samples every GPU. */
    static final Duration FAST = Duration.ofSeconds(1);
    /** How often it lists processes. */
    static final Duration PROCESSES = Duration.ofSeconds(2);

    /** How often it starts the driver library anew to look for GPUs that came back: nobody else would see them. */
    static final Duration RECOVERY = Duration.ofSeconds(1);

    /** How long it waits for a call before it calls the GPU hung. */
    static final Duration DEADLINE = Duration.ofMillis(500);

    private static final String STATE = "gpuwarden_gpu_state\\{gpu=\"%d\",state=\"%s\".*\\} 1(\\.0)?";
    private static final String HOG =
            "gpu_pod_memory_used_bytes\\{gpu=\"2\",namespace=\"default\",pod=\"memory-hog\".*\\} 8\\.37.*E10";

    /** The acts of the scenario `demo`, in order. */
    static final List<DemoAct> ALL = List.of(
            state("0", 7, "answering", "eight GPUs, two pods, nothing wrong"),
            state("8s", 3, "lost", "GPU 3 falls off the bus (XID 79)"),
            state("22s500ms", 3, "answering", "GPU 3 is back").every(RECOVERY.plus(FAST)),
            state("32s", 5, "hung", "every call about GPU 5 blocks").every(FAST.plus(DEADLINE)),
            state("42s", 5, "answering", "GPU 5 answers again"),
            hog("50s", true, "a pod takes all memory of GPU 2", "78.0 / "),
            hog("60s", false, "the pod is gone", "0.0 / "));

    private static DemoAct state(String at, int gpu, String state, String what) {
        return new DemoAct(
                Durations.parse(at),
                what,
                FAST,
                Pattern.compile(String.format(Locale.ROOT, STATE, gpu, state)),
                true,
                Pattern.compile("(?m)^" + gpu + " .*\\b" + state + "\\b"));
    }

    private DemoAct every(Duration other) {
        return new DemoAct(at, what, other, metric, shown, row);
    }

    private static DemoAct hog(String at, boolean shown, String what, String memory) {
        return new DemoAct(
                Durations.parse(at),
                what,
                PROCESSES,
                Pattern.compile(HOG),
                shown,
                Pattern.compile("(?m)^2 .* " + Pattern.quote(memory)));
    }

    /** Whether an exposition shows it. One that could not be had shows nothing, not even that something is gone. */
    boolean seenIn(String exposition) {
        return !exposition.isEmpty() && metric.matcher(exposition).find() == shown;
    }

    /** How long the daemon may take. */
    Duration limit() {
        return ticks.multipliedBy(2);
    }
}
