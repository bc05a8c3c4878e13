package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Cancels jobs of Slurm. The last task of an array has the number of the whole array as its own, and {@code scancel}
 * with that number ends all tasks; so Slurm is first asked for the task's name, such as {@code 4711_3}.
 */
public final class SlurmActuator implements Actuator {

    private static final String ID_PREFIX = "slurm:";

    private static final Duration LONGEST = Duration.ofSeconds(60);

    /** Own number, number of the array (or the own one), index in the array (or N/A). */
    private static final Pattern ROW = Pattern.compile("([0-9]+) ([0-9]+) ([0-9]+|N/A)");

    @Override
    public String name() {
        return "job-cancel";
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith(ID_PREFIX);
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant, Recheck recheck) {
        String job = tenant.id().substring(ID_PREFIX.length());
        try {
            ManagerProgram list =
                    ManagerProgram.run(List.of("squeue", "--noheader", "--jobs", job, "--format", "%A %F %K"), LONGEST);
            if (!list.succeeded()) {
                return Outcome.refused(list.text());
            }
            Optional<String> name = name(job, list.run().out());
            if (name.isEmpty()) {
                return Outcome.refused("expected job " + job + " in the list of squeue, which does not have it");
            }
            Optional<String> objection = recheck.objection();
            return objection.isPresent()
                    ? Outcome.noLongerNeeded(objection.get())
                    : outcome(ManagerProgram.run(List.of("scancel", name.get()), LONGEST));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(false, "interrupted");
        }
    }

    private static Outcome outcome(ManagerProgram program) {
        return new Outcome(program.succeeded(), program.text());
    }

    /** Returns the name that means this job alone; empty if no row of {@code squeue} is the job's. */
    static Optional<String> name(String job, String rows) {
        return rows.lines()
                .map(line -> ROW.matcher(line.strip()))
                .filter(row -> row.matches() && row.group(1).equals(job))
                .map(row -> row.group(3).equals("N/A") ? job : row.group(2) + "_" + row.group(3))
                .findFirst();
    }
}
