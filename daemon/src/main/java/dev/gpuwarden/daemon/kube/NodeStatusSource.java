package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Fault;
import java.util.List;

/** The node's current faults and check results. Thread-safe; never blocks. */
public interface NodeStatusSource {

    List<Fault> faults();

    /** Returns the last result of each check that has run. */
    List<CheckResult> results();

    /** Returns true if every check has run since the daemon started. */
    boolean complete();
}
