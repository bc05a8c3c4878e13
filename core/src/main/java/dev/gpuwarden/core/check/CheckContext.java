package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/** What a check may look at. Everything in it is a value that was read before, except the two file trees. */
public interface CheckContext {

    NodeSnapshot node();

    /** What this GPU's readings were during the last minutes; answers only absences in a single look. */
    GpuHistory history(GpuIdentity gpu);

    /** The limits in force, of boards and in general. */
    Limits limits();

    /**
     * Notes what a counter of the node is now, and says by how much it rose during the window. Kept between the runs of one
     * check. PENDING while the window is not covered; IMPLAUSIBLE where the counter went backwards, as after a driver reload.
     *
     * @param counter unique within the check, for example "mlx5_0/1/link_downed"
     */
    Reading<Long> increase(String counter, long value, Duration window);

    /** What the user says that this node has. */
    default Expectations expectations() {
        return Expectations.NONE;
    }

    /**
     * What this check noted at earlier looks, to be changed at will: parts that were seen, since when something holds. Each
     * check has its own, kept while the daemon runs and never written down; empty in a single look.
     */
    default Map<String, Long> notes() {
        return new HashMap<>();
    }

    /** How reading the kernel log goes; NOT_SUPPORTED where the user switched it off. */
    default Reading<KernelLogStatus> kernelLog() {
        return Reading.absent(Absence.PENDING, 0, "the kernel log");
    }

    /** Reports of faults that found no room among the current ones; NOT_SUPPORTED in a single look, which keeps no faults. */
    default Reading<LeftOut> leftOut() {
        return Reading.absent(Absence.NOT_SUPPORTED, 0, "a single look keeps no faults");
    }

    /** The node's /sys. */
    Path sysfs();

    /** The node's /proc. */
    Path procfs();

    Instant now();
}
