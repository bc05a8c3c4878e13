package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.util.Text;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The owners of processes that a GPU had, in the notes of a check: when each was last seen, in milliseconds since 1970. The newest
 * of each GPU are kept.
 */
final class LastOwners {

    private static final int MOST = 16;
    private static final int MOST_CHARACTERS = 160;

    private final Map<String, Long> notes;
    private final String prefix;
    private final long now;

    LastOwners(CheckContext context, GpuIdentity gpu) {
        notes = context.notes();
        prefix = "owner on " + gpu.label() + ": ";
        now = context.now().toEpochMilli();
    }

    /** Records the owners of the live processes. */
    void seen(List<MemoryUse> live) {
        live.forEach(use -> notes.put(prefix + Text.truncate(name(use), MOST_CHARACTERS), now));
        List<String> oldestFirst = notes.keySet().stream()
                .filter(key -> key.startsWith(prefix))
                .sorted(Comparator.comparing(key -> notes.getOrDefault(key, 0L)))
                .toList();
        oldestFirst.stream()
                .limit(Math.max(0, oldestFirst.size() - MOST))
                .toList()
                .forEach(notes::remove);
    }

    /** Returns the owner that disappeared last, in words; the present ones hold their own memory. */
    String text() {
        return last().map(owner -> "last known owner " + owner).orElse("no owner was seen since this program started");
    }

    private Optional<String> last() {
        return notes.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(prefix) && entry.getValue() < now)
                .max(Map.Entry.comparingByValue())
                .map(entry ->
                        entry.getKey().substring(prefix.length()) + " (" + (now - entry.getValue()) / 1000 + " s ago)");
    }

    private static String name(MemoryUse use) {
        String command = use.command().asOptional().orElse("?");
        int pid = use.process().pid();
        return owner(use.owner()) + ", " + command + " (pid " + pid + ")";
    }

    private static String owner(Owner owner) {
        if (owner instanceof Owner.Pod pod) {
            return pod.namespace() instanceof Reading.Present<String> namespace
                            && pod.name() instanceof Reading.Present<String> name
                    ? "pod " + namespace.value() + "/" + name.value()
                    : "pod " + pod.uid();
        } else if (owner instanceof Owner.Container container) {
            return "container " + Text.head(container.containerId(), 12);
        } else if (owner instanceof Owner.Unit unit) {
            return "unit " + unit.name();
        } else if (owner instanceof Owner.SlurmJob job) {
            return "Slurm job " + job.jobId();
        } else if (owner instanceof Owner.BatchJob job) {
            return job.system() + " job " + job.jobId();
        } else if (owner instanceof Owner.Guest guest) {
            return guest.text();
        }
        return "an unknown owner";
    }
}
