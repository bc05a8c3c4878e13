package dev.gpuwarden.testkit.scenario;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Driver generations that the simulator can imitate. */
public enum Generation {
    D470("470", "470.256.02", "11.4", false),
    /** `_v3` process lists with 32-byte entries. */
    D535_54("535.54", "535.54.03", "12.2", false),
    D535_161("535.161", "535.161.08", "12.2", false),
    D550("550", "550.163.01", "12.4", false),
    /** Functions inferred from newer headers and bindings: no library of this generation was available. */
    D580("580", "580.82.07", "13.0", true),
    /** Inferred in the same way. */
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

    /** Returns the name in scenarios and in the simulator's folders. */
    public String label() {
        return label;
    }

    /** Returns the number that the simulator has for it. */
    public long number() {
        return Long.parseLong(label.replace(".", ""));
    }

    /** Returns the default version of the driver. */
    public String version() {
        return version;
    }

    /** Returns the CUDA version that a driver of this generation supports. */
    public String cuda() {
        return cuda;
    }

    /** Returns true when its set of functions was never compared with a real library. */
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
