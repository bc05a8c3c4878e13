package dev.gpuwarden.core.check;

import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The inputs of a check. All are values that were read before, except the two file trees and the drivers of work
 * on GPUs. */
public interface CheckContext {

    NodeSnapshot node();

    /**
     * Returns the GPU's readings of the last minutes; in a single run it returns absences alone.
     *
     * @throws IllegalStateException in a check with a load on GPUs, which may run in a process without readings from before
     */
    GpuHistory history(GpuIdentity gpu);

    /** Returns the limits in force, for boards and in general. */
    Limits limits();

    /**
     * Records a counter of the node, and returns its increase during the window. Values are kept between the runs of
     * one check. PENDING while the window is not covered; IMPLAUSIBLE where the counter went backwards, as after a
     * driver reload.
     *
     * @param counter unique within the check, for example "mlx5_0/1/link_downed"
     * @throws IllegalStateException in a check with a load on GPUs: no window of minutes has two of its runs
     */
    Reading<Long> increase(String counter, long value, Duration window);

    /** Returns the user's expectations of this node. */
    default Expectations expectations() {
        return Expectations.NONE;
    }

    /**
     * Returns the check's notes of earlier runs, which it may change: known parts, and since when a state holds. Each
     * check has its own. They are kept while the daemon runs and never written to disk; empty in a single run. A run in a child process
     * has the same notes, and gives them back.
     */
    default Map<String, Long> notes() {
        return new HashMap<>();
    }

    /**
     * Returns notes like {@link #notes} that also survive a restart of the daemon, until the node boots. They are for what was
     * seen working in this boot, and for counts that a restart must not set back. Empty in a single run.
     */
    default Map<String, Long> bootNotes() {
        return new HashMap<>();
    }

    /**
     * Returns why a part that was never seen working may not be ready yet, in words: the node started, the driver was loaded, or the
     * daemon first saw this boot a short time ago. Empty after that time, and if none of these ages is known.
     */
    default Optional<String> young() {
        return Optional.empty();
    }

    /**
     * Returns a source of the program that runs the check, absent with the cause where it has none. Each driver of a library is one; the
     * first request of a process opens it and blocks in it, up to the deadline of opening a driver. So are the state of the program's other
     * parts, such as {@code KernelLogStatus} and {@code LeftOut}.
     *
     * <p>A call of {@code Driver}, the management library, may block without limit, so none belongs on the check's own thread.
     *
     * @throws IllegalStateException in a check with a load on GPUs, as for {@link #history}, if a child process cannot have the source
     */
    default <T> Reading<T> source(Class<T> type) {
        return Reading.absent(Absence.NOT_SUPPORTED, 0, "this program has no source of " + type.getSimpleName());
    }

    /** Returns the earlier rates of this node's GPUs. */
    default RateHistory rates() {
        return source(RateHistory.class).asOptional().orElse(RateHistory.NONE);
    }

    /**
     * Reports a finding that the rest of this run cannot change, such as a wrong result of a GPU: it stands also if the run hangs, fails,
     * or its process is killed. The worse of a part's proven finding and the returned one is the result. For the thread of the check alone.
     */
    default void proven(Finding finding) {}

    /** Returns the permission to give work to GPUs, which a check requests before it does. */
    default GpuAccess access() {
        return GpuAccess.of(source(GpuAccess.class));
    }

    /**
     * Reports the present part of this run to those who wait for it; cheap, and for any thread. A check that reports
     * nothing is shown with its time alone.
     *
     * @param doing the present part in words, for example "copies of one GPU"
     * @param done number of parts that have ended
     * @param total number of all parts; 0 if unknown
     */
    default void progress(String doing, int done, int total) {}

    /** Returns the node's /sys. */
    Path sysfs();

    /** Returns the node's /proc. */
    Path procfs();

    /** Returns the kubelet's folder of pod logs, whose names have the names of pods. */
    default Path podLogs() {
        return Path.of("/var/log/pods");
    }

    Instant now();
}
