package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A fault of calls of the driver library.
 *
 * @param functions names as the library exports them; empty for every function
 * @param gpu index; {@link #EVERY_GPU} also affects calls without a GPU, such as nvmlInit_v2
 * @param code of {@link Mode#ERROR}: an nvmlReturn, a CUresult of functions of libcuda, or an ncclResult
 * @param delay of {@link Mode#DELAY}
 * @param lie of {@link Mode#LIE}: the name of a constant of the table without "LIE_"
 */
public record Fault(String name, Mode mode, List<String> functions, int gpu, int code, Duration delay, String lie) {

    public static final int EVERY_GPU = -1;

    /** The effect on a call. */
    public enum Mode {
        /** The call returns a code. */
        ERROR,
        /** The call does not return until the fault is cleared. */
        HANG,
        /** The call returns late. */
        DELAY,
        /** The call succeeds with an answer that cannot be true. */
        LIE
    }

    /** Describes the effect in words. */
    public String effect() {
        return switch (mode) {
            case ERROR ->
                "error " + (ofAnotherLibrary() ? code : Form.of("code").write(List.of((long) code)));
            case HANG -> "hang";
            case DELAY -> "delay " + Durations.text(delay);
            case LIE -> "lie " + lie;
        };
    }

    /** Returns true if the code is a CUresult or an ncclResult, of which {@link Form} has no names. */
    private boolean ofAnotherLibrary() {
        return functions.stream().anyMatch(function -> !function.startsWith("nvml"));
    }

    private static final List<String> MODES = List.of("error", "hang", "delay", "lie");

    /**
     * Reads one fault.
     *
     * @param name of a fault that has no key `name`
     */
    static Fault read(YamlNode node, String name, Vocabulary vocabulary, int gpuCount) {
        Fields f = node.fields("name", "function", "gpu", "error", "hang", "delay", "lie");
        List<String> given = MODES.stream().filter(f::has).toList();
        if (given.size() != 1) {
            throw node.problem("exactly one of " + String.join(", ", MODES));
        }
        Mode mode = Mode.valueOf(given.get(0).toUpperCase(Locale.ROOT));
        if (mode == Mode.HANG && !f.require("hang").flag()) { // would be a fault that does nothing
            throw f.require("hang").problem("yes");
        }
        return new Fault(
                f.read("name", name, YamlNode::text),
                mode,
                f.read("function", List.of(), functions -> functions(functions, vocabulary)),
                f.read("gpu", EVERY_GPU, gpu -> gpu.is("all") ? EVERY_GPU : SimGpu.index(gpu, gpuCount)),
                f.read("error", 0, Fault::code),
                f.read("delay", Duration.ZERO, YamlNode::duration),
                f.read("lie", "", lie -> lie(lie, vocabulary)));
    }

    private static List<String> functions(YamlNode node, Vocabulary vocabulary) {
        return node.is("all")
                ? List.of()
                : node.oneOrMore().stream()
                        .map(item -> oneOf(vocabulary.functions(), "a function of the driver library", item))
                        .toList();
    }

    private static int code(YamlNode node) {
        if (node.value(Form.of("code")) instanceof Value.Numbers code
                && code.numbers().get(0) != 0) {
            return code.numbers().get(0).intValue();
        }
        throw node.problem("a code other than 0");
    }

    private static String lie(YamlNode node, Vocabulary vocabulary) {
        return oneOf(vocabulary.lies(), "a way to lie", node);
    }

    private static String oneOf(Set<String> known, String expected, YamlNode node) {
        if (!known.contains(node.text())) {
            throw node.unknown(expected, known);
        }
        return node.text();
    }
}
