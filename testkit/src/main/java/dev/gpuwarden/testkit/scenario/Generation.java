package dev.gpuwarden.testkit.scenario;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Driver generations that the simulator stands for. */
public enum Generation {
    D470("470", "470.256.02", "11.4", false),
    /** `_v3` process lists with 32-byte entries. */
    D535_54("535.54", "535.54.03", "12.2", false),
    D535_161("535.161", "535.161.08", "12.2", false),
    D550("550", "550.163.01", "12.4", false),
    /** Its functions are inferred from newer headers and bindings: no library of it was at hand. */
    D580("580", "580.82.07", "13.0", true),
    /** Inferred likewise. */
    D615("615", "615.71", "13.3", true);

    private final String label;
    private final String version;
    private final String cuda;
    private final boolean inferred;

    Generation(String label, String version, String cuda, boolean inferred) {
        this.label = label;
        this.version = version;
        this.cuda = cuda;
        this.inferred = inferred;
    }

    /** As scenarios and the simulator's folders write it. */
    public String label() {
        return label;
    }

    /** The driver's version, unless a scenario says otherwise. */
    public String version() {
        return version;
    }

    /** CUDA version that a driver of this generation serves. */
    public String cuda() {
        return cuda;
    }

    /** Whether its set of functions was never compared with a real library. */
    public boolean inferred() {
        return inferred;
    }

    public static Optional<Generation> of(String label) {
        return Arrays.stream(values()).filter(g -> g.label.equals(label)).findFirst();
    }

    public static List<String> labels() {
        return Arrays.stream(values()).map(Generation::label).toList();
    }
}
