package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A step of the demo on its node, and the outputs that must show it.
 *
 * @param at the step of the scenario's timeline
 * @param ticks interval of the daemon's sampling; the daemon has two of them
 * @param metrics lines of the exposition
 * @param page lines of the page's JSON
 * @param checks of commands
 */
record NodeDemoStep(
        Duration at,
        String title,
        Duration ticks,
        List<ExpectedLine> metrics,
        List<ExpectedLine> page,
        List<Check> checks) {

    /** Interval at which the demo's daemon samples every GPU. */
    static final Duration FAST = Duration.ofSeconds(1);
    /** Interval at which it lists processes. */
    static final Duration PROCESSES = Duration.ofSeconds(2);

    /** Interval at which it starts the driver library again to find GPUs that came back. */
    static final Duration RECOVERY = Duration.ofSeconds(1);

    /** Limit of a call, after which it reports the GPU as hung. */
    static final Duration DEADLINE = Duration.ofMillis(500);

    /** Time without new events after which a fault without a recommended action ends. */
    static final Duration QUIET = Duration.ofSeconds(4);

    /** The same time for the fast demo; longer than a second, the interval of repeated events. */
    static final Duration SHORT_QUIET = Duration.ofSeconds(2);

    private static final String STATE = "^gpuwarden_gpu_state\\{gpu=\"%d\",state=\"%s\".*\\} 1(\\.0)?$";
    private static final String HOG =
            "^gpu_pod_memory_used_bytes\\{gpu=\"2\",namespace=\"default\",pod=\"memory-hog\".*\\} 8\\.37.*E10$";
    private static final String XIDS = "SysLogsXIDError";

    /** The steps of the scenario `demo`, in order. */
    static final List<NodeDemoStep> ALL = List.of(
            state("0", 7, "answering", "eight GPUs, two pods, nothing wrong"),
            state("8s", 3, "lost", "GPU 3 falls off the bus (XID 79)")
                    .raises(XIDS, "79", 3, "0000:5b:00", "restart-bm", true),
            state("22s500ms", 3, "answering", "GPU 3 is back, and reset")
                    .every(RECOVERY.plus(FAST))
                    .clears(XIDS, "79", 3, "0000:5b:00"),
            state("32s", 5, "hung", "every call about GPU 5 blocks").every(FAST.plus(DEADLINE)),
            state("42s", 5, "answering", "GPU 5 answers again"),
            hog("50s", true, "a pod takes all memory of GPU 2", "78.0 / "),
            hog("60s", false, "the pod is gone", "0.0 / "),
            step("66s", "a row of GPU 5's memory fails, and there is no other in its place (XIDs 48, 64)")
                    .every(FAST.multipliedBy(2)) // the check reads the previous sample
                    .raises(XIDS, "64", 5, "0000:a8:00", "component-reset", true)
                    .raises("GpuRemappedRows", "row-remap-failure", 5, "0000:a8:00", "contact-support", true),
            step("76s", "GPU 5 has a new board")
                    .every(FAST.multipliedBy(2))
                    .clears(XIDS, "64", 5, "0000:a8:00")
                    .clears("GpuRemappedRows", "row-remap-failure", 5, "0000:a8:00"),
            step("86s", "NVLink 7 of GPU 1 is lost and comes back, again and again (XID 74)")
                    .raises(XIDS, "74", 1, "0000:2d:00", "none", false),
            step("98s", "NVLink 7 holds").every(QUIET).clears(XIDS, "74", 1, "0000:2d:00"),
            step("108s", "a program on GPU 7 goes wrong 12,000 times within two seconds (XIDs 13, 31, 43)")
                    .every(FAST.multipliedBy(2))
                    .raises(XIDS, "31", 7, "0000:d8:00", "none", false)
                    .counts("gpuwarden_events_total", XIDS, "31", "4[0-9]{3}"),
            step("118s", "the program is gone").every(QUIET).clears(XIDS, "31", 7, "0000:d8:00"));

    private static NodeDemoStep step(String at, String title) {
        return new NodeDemoStep(Durations.parse(at), title, FAST, List.of(), List.of(), List.of());
    }

    private static NodeDemoStep state(String at, int gpu, String state, String title) {
        return step(at, title)
                .metric(ExpectedLine.of(String.format(Locale.ROOT, STATE, gpu, state)))
                .check(Check.scan("^" + gpu + " .*\\b" + state + "\\b"));
    }

    private static NodeDemoStep hog(String at, boolean shown, String title, String memory) {
        return step(at, title)
                .every(PROCESSES)
                .metric(shown ? ExpectedLine.of(HOG) : ExpectedLine.of(HOG).gone())
                .check(Check.scan("^2 .* " + Pattern.quote(memory)));
    }

    private NodeDemoStep every(Duration other) {
        return new NodeDemoStep(at, title, other, metrics, page, checks);
    }

    private NodeDemoStep metric(ExpectedLine expected) {
        return new NodeDemoStep(at, title, ticks, and(metrics, expected), page, checks);
    }

    private NodeDemoStep page(ExpectedLine expected) {
        return new NodeDemoStep(at, title, ticks, metrics, and(page, expected), checks);
    }

    private NodeDemoStep check(Check check) {
        return new NodeDemoStep(at, title, ticks, metrics, page, and(checks, check));
    }

    private static <T> List<T> and(List<T> list, T more) {
        List<T> all = new ArrayList<>(list);
        all.add(more);
        return List.copyOf(all);
    }

    /** Adds the expectations that a GPU has a fault. */
    private NodeDemoStep raises(String check, String code, int gpu, String pci, String action, boolean fatal) {
        return metric(fault(check, code, pci, action, fatal))
                .page(onPage(check, code, pci, action))
                .check(Check.status(ExpectedLine.of("^" + check + " +" + code + " +"
                        + gpu(gpu, pci)
                        + (fatal ? " +fatal " : " +not fatal ") + ".* " + action + " ")))
                .check(Check.events((fatal ? " fatal +" : " fault +") + check + " +" + code + " +" + gpu(gpu, pci)
                        + " +" + action + " "));
    }

    /** Returns the name of a GPU in tables, as a pattern. */
    private static String gpu(int index, String pci) {
        return "GPU " + index + " \\(" + pci + "\\.0\\)";
    }

    /** Adds the expectations that a GPU no longer has a fault. */
    private NodeDemoStep clears(String check, String code, int gpu, String pci) {
        return metric(fault(check, code, pci, "[a-z-]+", true).gone())
                .metric(fault(check, code, pci, "[a-z-]+", false).gone())
                .page(onPage(check, code, pci, "[a-z-]+").gone())
                .check(Check.status(ExpectedLine.of("^" + check + " +" + code + " +GPU " + gpu + " ")
                        .gone()))
                .check(Check.events(" healthy +" + check + " .*GPU " + gpu + " "));
    }

    private static ExpectedLine fault(String check, String code, String pci, String action, boolean fatal) {
        return ExpectedLine.of("^gpuwarden_faults\\{.*action=\"" + action + "\".*check=\"" + check + "\",code=\"" + code
                + "\".*entity=\"" + pci + "\".*fatal=\"" + fatal + "\"\\} 1(\\.0)?$");
    }

    /** Returns a pattern within one fault of the page's JSON. */
    private static ExpectedLine onPage(String check, String code, String pci, String action) {
        String on = "(?:(?!\"event\":)[\\s\\S])*?";
        return ExpectedLine.of("\"check\": \"" + check + "\",\\s*\"codes\": \\[\\s*\"" + code + "\"" + on + "\"" + pci
                + "\"" + on + "\"action\": \"" + action + "\"");
    }

    private NodeDemoStep counts(String metric, String check, String code, String count) {
        return metric(ExpectedLine.of("^" + metric + "\\{.*check=\"" + check + "\",code=\"" + code
                + "\".*healthy=\"false\"\\} " + count + "(\\.0)?$"));
    }

    /** Returns true when an exposition has all expected lines. */
    boolean matches(String exposition) {
        return metrics.stream().allMatch(expected -> expected.matches(exposition));
    }

    /** Returns the start of the next step; the scenario's timeline until then belongs to this one. */
    Duration next() {
        return ALL.stream()
                .map(NodeDemoStep::at)
                .filter(later -> later.compareTo(at) > 0)
                .findFirst()
                .orElse(at.plus(QUIET));
    }

    /** Returns the number of checked places of all steps. */
    static long places() {
        return ALL.size()
                + ALL.stream()
                        .mapToLong(step -> step.checks().stream()
                                .map(Check::name)
                                .distinct()
                                .count())
                        .sum();
    }

    boolean matchesPage(String json) {
        return page.stream().allMatch(expected -> expected.matches(json));
    }

    /** Returns the limit of the daemon's reaction. */
    Duration limit() {
        return ticks.multipliedBy(2);
    }

    /**
     * The result of a step of the demo.
     *
     * @param seen true where it was visible, by name of the place
     * @param took time until the metrics showed it, or until the demo gave up
     * @param limit of that time on a machine that is not busy
     */
    record Result(Map<String, Boolean> seen, Duration took, Duration limit) {

        /** @param outputs of the commands of the step's checks */
        static Result of(NodeDemoStep step, boolean metrics, Duration took, String page, Map<Check, String> outputs) {
            Map<String, Boolean> seen = new TreeMap<>();
            if (!step.page().isEmpty()) {
                seen.put("page", step.matchesPage(page));
            }
            outputs.forEach(
                    (check, output) -> seen.merge(check.name(), check.expected().matches(output), Boolean::logicalAnd));
            seen.put("metrics", metrics);
            return new Result(seen, took, step.limit());
        }

        /** Returns the names of the places that did not show it. */
        List<String> missed() {
            return seen.entrySet().stream()
                    .filter(place -> !place.getValue())
                    .map(Map.Entry::getKey)
                    .toList();
        }

        boolean late() {
            return took.compareTo(limit) > 0;
        }

        String text() {
            StringBuilder text = new StringBuilder(String.format(
                    Locale.ROOT,
                    "-> after %.1f s%s %d s",
                    took.toMillis() / 1e3,
                    late() ? ", later than" : " of",
                    limit.toSeconds()));
            seen.forEach((place, shown) ->
                    text.append(shown ? ", seen in " : ", NOT SEEN IN ").append(place));
            return text.toString();
        }
    }

    /**
     * A command and a line that its output must contain.
     *
     * @param arguments of the program
     */
    record Check(List<String> arguments, ExpectedLine expected) {

        private static final Pattern OF_A_GPU = Pattern.compile("^[0-9]+ ");

        /** Returns a check of a row of `scan`, which reads the driver itself. */
        static Check scan(String row) {
            return new Check(List.of("scan"), ExpectedLine.of(row));
        }

        /** Returns a check of `status`, which queries the daemon over gRPC. */
        static Check status(ExpectedLine expected) {
            return new Check(List.of("status"), expected);
        }

        /** Returns a check of `events`, the daemon's history, over gRPC too. A step has that long to be visible. */
        static Check events(String row) {
            return new Check(List.of("events", "--since", "90s"), ExpectedLine.of(row));
        }

        /** Returns the output without the rows of other GPUs; the whole output when the expected line is missing. */
        String excerpt(String output) {
            if (!expected.matches(output)) {
                return output;
            }
            return output.lines()
                    .filter(line -> !OF_A_GPU.matcher(line).find() || expected.matches(line))
                    .collect(Collectors.joining("\n", "", "\n"));
        }

        String name() {
            return arguments.get(0);
        }
    }
}
