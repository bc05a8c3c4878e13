package dev.gpuwarden.nccl.run;

import dev.gpuwarden.nccl.plan.Plan.Series;
import dev.gpuwarden.nccl.report.Row;

/** A receiver of results as they become known. The thread of the first rank calls it. */
public interface RowListener {

    /** A row begins. */
    void started(Series series, long bytes, long count);

    /** The results in one of the two kinds of buffers are known. */
    void measured(Row.Half half);

    /** A row is complete. */
    void ended(Row row);
}
