package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.daemon.script.ChildRun;
import dev.gpuwarden.daemon.vram.Actuator;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Recycles tenants by the program that manages them: systemd's, the container engine's or Slurm's. */
public final class CommandActuator implements Actuator {

    private static final Map<String, String> ENVIRONMENT =
            Map.of("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL", "C");

    /** Time of the manager itself, beyond the grace that the tenant gets. */
    private static final Duration MARGIN = Duration.ofSeconds(30);

    private static final int LONGEST_ERROR = 300;

    private final String name;
    private final String idPrefix;
    private final Function<String, List<String>> command;
    private final Duration timeout;

    /** @param command the program and its arguments for the name of a tenant */
    private CommandActuator(String name, String idPrefix, Function<String, List<String>> command, Duration grace) {
        this.name = name;
        this.idPrefix = idPrefix;
        this.command = command;
        this.timeout = grace.plus(MARGIN);
    }

    /**
     * Returns the ways for units, containers and Slurm jobs.
     *
     * @param grace time that a container gets to end; that of a unit or job is set where it is defined
     */
    public static List<Actuator> all(Duration grace) {
        String seconds = Long.toString(grace.toSeconds());
        return List.of(
                new CommandActuator(
                        "unit-restart", "unit:", unit -> List.of("systemctl", "restart", "--", unit), grace),
                new CommandActuator(
                        "container-restart",
                        "docker:",
                        id -> List.of("docker", "restart", "--time", seconds, id),
                        grace),
                new CommandActuator(
                        "container-restart",
                        "podman:",
                        id -> List.of("podman", "restart", "--time", seconds, id),
                        grace),
                new CommandActuator("job-cancel", "slurm:", job -> List.of("scancel", job), grace));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith(idPrefix);
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant) {
        List<String> words = command.apply(tenant.id().substring(idPrefix.length()));
        try {
            ChildRun run = ChildRun.of(words, Path.of("/"), ENVIRONMENT, timeout);
            return outcome(String.join(" ", words), run);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(false, "interrupted");
        }
    }

    private static Outcome outcome(String words, ChildRun run) {
        if (run.end() instanceof ChildRun.End.Exited exited) {
            String error = exited.code() == 0 ? "" : ": " + firstPart(run.err());
            return new Outcome(exited.code() == 0, words + " ended with code " + exited.code() + error);
        }
        String why = run.end() instanceof ChildRun.End.CutOff cut
                ? "it " + cut.why()
                : ((ChildRun.End.NotStarted) run.end()).why();
        return new Outcome(false, words + ": " + why);
    }

    private static String firstPart(String text) {
        String line = text.strip().replaceAll("\\p{Cntrl}+", " ");
        return line.length() > LONGEST_ERROR ? line.substring(0, LONGEST_ERROR) : line;
    }
}
