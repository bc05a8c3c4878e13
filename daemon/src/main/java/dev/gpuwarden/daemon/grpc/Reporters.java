package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.util.Text;

/** The reporter that a caller is, by what the kernel or its certificate proves. Pure. */
final class Reporters {

    /** Characters of one name. A pod has at most 253 and its namespace 63, a unit 255. */
    private static final int LONGEST = 400;

    private Reporters() {}

    /** Clients with one subject are one kind. */
    static Reporter of(Peer.Certified client) {
        return reporter(client.toString(), client.toString());
    }

    /**
     * Returns the reporter of a process. The kind outlives its process: a unit starts again, and a pod has a successor with
     * another name. A namespace is the smallest part of a cluster that no other tenant enters: who may create a pod in it
     * may give it any name.
     */
    static Reporter of(CallingProcess caller) {
        String user = "user " + caller.uid();
        Owner owner = caller.owner();
        if (owner instanceof Owner.Pod pod) {
            if (pod.namespace() instanceof Reading.Present<String> namespace
                    && pod.name() instanceof Reading.Present<String> name) {
                return reporter(
                        "namespace " + namespace.value(),
                        "pod " + namespace.value() + "/" + name.value() + ", " + user);
            }
            return reporter("pod " + pod.uid(), "pod " + pod.uid() + ", " + user);
        }
        if (owner instanceof Owner.Container container) {
            // An ID changes with each start, and no name is known without the engine.
            return reporter(
                    container.runtime() + " containers of " + user,
                    container.runtime() + " container " + Text.truncate(container.containerId(), 12) + ", " + user);
        }
        if (owner instanceof Owner.SlurmJob job) {
            return reporter("Slurm jobs of " + user, "Slurm job " + job.jobId() + ", " + user);
        }
        if (owner instanceof Owner.Unit unit && ofSystem(unit)) {
            return reporter("unit " + unit.name(), "unit " + unit.name() + ", " + user);
        }
        return reporter(user, user);
    }

    /** Returns true for a service of the system's manager. Sessions and units of a user's own manager are the user's. */
    static boolean ofSystem(Owner.Unit unit) {
        return unit.name().endsWith(".service") && !unit.name().startsWith("user@");
    }

    private static Reporter reporter(String kind, String name) {
        return new Reporter(shown(kind), shown(name));
    }

    /** Root names units and authorities name clients: nothing of that may move a cursor. */
    private static String shown(String text) {
        return Text.truncate(text.replaceAll("[\\p{Cntrl}\\p{Cf}\\u2028\\u2029]", "?"), LONGEST);
    }
}
