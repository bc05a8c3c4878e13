package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Fault;
import java.util.List;

/** What this node knows of itself now. Thread-safe; never waits. */
public interface NodeStatusSource {

    List<Fault> faults();

    /** The last result of each check that has looked. */
    List<CheckResult> results();

    /** Whether every check has looked since the daemon began. */
    boolean complete();
}
