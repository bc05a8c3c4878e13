package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.checks.child.ProgramRunner;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * This node in Slurm. A drain with another reason is another administrator's, and is neither changed nor ended here. Calls block
 * for a minute at most.
 */
record SlurmNode(String name, ProgramRunner programs) {

    /** The beginning of the reason, by which a drain is this daemon's. */
    static final String OURS = "gpuwarden:";

    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final Pattern STATE = Pattern.compile("\\bState=([A-Z+_*~#$@^!%-]+)");
    private static final Pattern REASON = Pattern.compile("\\bReason=(.*?)(?: \\[|$)");

    /** States in which jobs still use the node (slurm.h of Slurm 22.05, node_states). */
    private static final Set<String> USED = Set.of("ALLOCATED", "MIXED", "COMPLETING");

    /**
     * The state of the node.
     *
     * @param reason of the drain; empty without one
     */
    record State(Set<String> flags, String reason) {

        static Optional<State> of(String text) {
            Matcher state = STATE.matcher(text);
            if (!state.find()) {
                return Optional.empty();
            }
            Matcher reason = REASON.matcher(text.strip());
            String[] flags = state.group(1).replaceAll("[^A-Z+_]", "").split("\\+", -1);
            return Optional.of(new State(Set.of(flags), reason.find() ? reason.group(1) : ""));
        }

        boolean drains() {
            return flags.contains("DRAIN");
        }

        boolean isOurs() {
            return drains() && reason.startsWith(OURS);
        }

        boolean isUsed() {
            return flags.stream().anyMatch(USED::contains);
        }
    }

    SlurmNode(String name) {
        this(name, ProgramRunner.PROCESSES);
    }

    /** Returns the state; empty if Slurm does not report it. */
    Optional<State> state() throws InterruptedException {
        ManagerProgram show = ManagerProgram.run(
                programs, List.of("scontrol", "show", "node", name, "--oneliner"), LONGEST, Map.of());
        return show.succeeded() ? State.of(show.run().out()) : Optional.empty();
    }

    ManagerProgram drain(String why) throws InterruptedException {
        return update("State=DRAIN", "Reason=" + OURS + " " + why);
    }

    ManagerProgram resume() throws InterruptedException {
        return update("State=RESUME");
    }

    private ManagerProgram update(String... fields) throws InterruptedException {
        List<String> words = new java.util.ArrayList<>(List.of("scontrol", "update", "NodeName=" + name));
        words.addAll(List.of(fields));
        return ManagerProgram.run(programs, words, LONGEST, Map.of());
    }
}
