package dev.gpuwarden.testkit.scenario;

import java.util.List;
import java.util.OptionalLong;

/** A change of a running node. */
public sealed interface Change {

    /** Returns a description in the syntax of `sim set`, where it has one for this change. */
    String text();

    /** @param gpu {@link Fault#EVERY_GPU} for all */
    record SetGpu(int gpu, Setting setting) implements Change {
        @Override
        public String text() {
            return "gpu." + (gpu == Fault.EVERY_GPU ? "all" : gpu) + "." + setting.text();
        }
    }

    /** @param nic {@link Fault#EVERY_GPU} for all */
    record SetNic(int nic, Setting setting) implements Change {
        @Override
        public String text() {
            return "nic." + (nic == Fault.EVERY_GPU ? "all" : nic) + "." + setting.text();
        }
    }

    record SetNode(Setting setting) implements Change {
        @Override
        public String text() {
            return "node." + setting.text();
        }
    }

    record PutFault(Fault fault) implements Change {
        @Override
        public String text() {
            return "fault." + fault.name() + ": " + fault.effect()
                    + (fault.gpu() == Fault.EVERY_GPU ? "" : " on GPU " + fault.gpu())
                    + (fault.functions().isEmpty() ? "" : " of " + String.join(", ", fault.functions()));
        }
    }

    record ClearFault(String name) implements Change {
        @Override
        public String text() {
            return "fault." + name + "=clear";
        }
    }

    record Start(SimProcess process) implements Change {
        @Override
        public String text() {
            return "process." + process.pid() + " starts on GPU " + process.gpus();
        }
    }

    record Stop(int pid) implements Change {
        @Override
        public String text() {
            return "process." + pid + "=stop";
        }
    }

    /**
     * Lines of the kernel log.
     *
     * @param user true when a process writes them, false for the kernel
     * @param texts with the names of {@link LineText} for values that differ from node to node
     */
    record Log(boolean user, List<String> texts) implements Change {
        @Override
        public String text() {
            return (user ? "user: " : "kernel: ") + String.join(" | ", texts);
        }
    }

    /** Many lines of the kernel log. */
    record Storm(KernelStorm storm) implements Change {
        @Override
        public String text() {
            return "storm: " + storm.count() + " lines, " + storm.perSecond() + " a second";
        }
    }

    /** Ends the storms that are running. */
    record EndStorms() implements Change {
        @Override
        public String text() {
            return "storm: end";
        }
    }

    /** Sets the memory of a process on every GPU that it holds. */
    record SetMemory(int pid, OptionalLong bytes) implements Change {
        @Override
        public String text() {
            return "process." + pid + ".bytes=" + (bytes.isPresent() ? bytes.getAsLong() : "absent");
        }
    }
}
