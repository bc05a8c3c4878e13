package dev.gpuwarden.testkit.scenario;

import java.util.OptionalLong;

/** A change of a running node. */
public sealed interface Change {

    /** For people, in the words of `sim set` where it has them. */
    String text();

    /** @param gpu {@link Fault#EVERY_GPU} for all */
    record SetGpu(int gpu, Setting setting) implements Change {
        @Override
        public String text() {
            return "gpu." + (gpu == Fault.EVERY_GPU ? "all" : gpu) + "." + setting.text();
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

    /** On every GPU that the process holds. */
    record SetMemory(int pid, OptionalLong bytes) implements Change {
        @Override
        public String text() {
            return "process." + pid + ".bytes=" + (bytes.isPresent() ? bytes.getAsLong() : "absent");
        }
    }
}
