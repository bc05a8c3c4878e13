package dev.gpuwarden.testkit.scenario;

import java.time.Duration;
import java.util.List;

/** Reads faults: which calls, and one of error, hang, delay, lie. */
final class FaultReader {

    private static final List<String> KINDS = List.of("error", "hang", "delay", "lie");

    private FaultReader() {}

    static Fault read(Yaml yaml, String subject, String name, Vocabulary vocabulary, int gpuCount) {
        Fields f = new Fields(yaml, subject, "name", "function", "gpu", "error", "hang", "delay", "lie");
        List<String> given = KINDS.stream().filter(k -> f.get(k).isPresent()).toList();
        if (given.size() != 1) {
            throw yaml.problem(subject, "exactly one of " + String.join(", ", KINDS));
        }
        Fault.Mode mode = Fault.Mode.valueOf(given.get(0).toUpperCase(java.util.Locale.ROOT));
        return new Fault(
                f.text("name", name),
                mode,
                functions(f, vocabulary),
                gpu(f, gpuCount),
                mode == Fault.Mode.ERROR ? code(f) : 0,
                mode == Fault.Mode.DELAY ? f.duration("delay", Duration.ZERO) : Duration.ZERO,
                mode == Fault.Mode.LIE ? lie(f, vocabulary) : hang(f, mode));
    }

    /** `hang: no` would be a fault that does nothing. */
    private static String hang(Fields f, Fault.Mode mode) {
        if (mode == Fault.Mode.HANG && !f.flag("hang", true)) {
            throw f.require("hang").problem(f.subject("hang"), "yes");
        }
        return "";
    }

    private static List<String> functions(Fields f, Vocabulary vocabulary) {
        String subject = f.subject("function");
        Yaml yaml = f.get("function").orElse(null);
        if (yaml == null || (yaml.isScalar() && yaml.text(subject).equals("all"))) {
            return List.of();
        }
        return yaml.oneOrMore(subject).stream()
                .map(item -> {
                    String name = item.text(subject);
                    if (!vocabulary.functions().contains(name)) {
                        throw Problem.unknown(
                                item.place(),
                                subject,
                                "a function of the driver library",
                                name,
                                vocabulary.functions());
                    }
                    return name;
                })
                .toList();
    }

    private static int gpu(Fields f, int gpuCount) {
        Yaml yaml = f.get("gpu").orElse(null);
        if (yaml == null || (yaml.isScalar() && yaml.text(f.subject("gpu")).equals("all"))) {
            return Fault.EVERY_GPU;
        }
        return ProcessReader.gpu(yaml, f.subject("gpu"), gpuCount);
    }

    private static int code(Fields f) {
        Yaml yaml = f.require("error");
        Value value = Fields.parse(yaml, f.subject("error"), Form.of("code"));
        if (value instanceof Value.Numbers n && n.numbers().get(0) != 0) {
            return n.numbers().get(0).intValue();
        }
        throw yaml.problem(f.subject("error"), "a code other than 0");
    }

    private static String lie(Fields f, Vocabulary vocabulary) {
        Yaml yaml = f.require("lie");
        String lie = yaml.text(f.subject("lie"));
        if (!vocabulary.lies().contains(lie)) {
            throw Problem.unknown(yaml.place(), f.subject("lie"), "a way to lie", lie, vocabulary.lies());
        }
        return lie;
    }
}
