package dev.gpuwarden.checks.script;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ChildRun.End;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The interpretation of a run of a checks.d script: exit code 0 passed, 1 failed, 2 configuration error, 3 could not
 * decide. A defective run is undecided.
 */
final class ScriptVerdict {

    static final String BROKEN = "script-broken";

    private static final int DEEPEST = 16;
    private static final Pattern CODE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final int LONGEST_MESSAGE = 1000;
    private static final int LONGEST_NAME = 200;
    private static final int MOST_ENTITIES = 64;
    private static final int MOST_MEASUREMENTS = 16;

    private ScriptVerdict() {}

    /** Reads the JSON of an operator. @throws IOException with place and cause if the text is anything but one object */
    static FieldReader json(String text) throws IOException {
        return new FieldReader(
                "", JsonReader.refusingDuplicates(DEEPEST).withNulls().readObject(text));
    }

    /** @param name the script's name in messages */
    static List<Finding> of(String name, ChildRun run, NodeSnapshot node) {
        if (run.end() instanceof End.NotStarted not) {
            return broken(name + " could not be started: " + CleanText.of(not.why(), LONGEST_MESSAGE));
        }
        if (run.end() instanceof End.CutOff cut) {
            return broken(name + " " + cut.why() + ", and was cut off" + tail(run));
        }
        int code = ((End.Exited) run.end()).code();
        String line = CleanText.lastLine(run.out());
        try {
            Result result = line.startsWith("{") ? Result.of(json(line)) : Result.plain(line);
            return switch (code) {
                case 0 -> result.findings(Outcome.PASS, "script-passed", name + " passed", node);
                case 1 -> result.findings(Outcome.FAIL, "script-failed", name + " failed", node);
                case 2 ->
                    result.findings(
                            Outcome.UNKNOWN,
                            "script-config-error",
                            name + " reports an error in its configuration",
                            node);
                case 3 -> result.findings(Outcome.UNKNOWN, "script-undecided", name + " could not decide", node);
                default -> broken(name + " ended with exit code " + code + ", expected 0, 1, 2 or 3" + tail(run));
            };
        } catch (IOException e) {
            return broken(name + " ended with exit code " + code + ", but its last line is not the expected JSON: "
                    + CleanText.of(String.valueOf(e.getMessage()), LONGEST_NAME));
        }
    }

    static List<Finding> broken(String message) {
        return List.of(Finding.unknown(
                BROKEN, Subject.NODE, message, "repair the script; run it by hand to see its behaviour"));
    }

    /** Returns the end of the script's output, for diagnosis. */
    private static String tail(ChildRun run) {
        String last = CleanText.lastLine(run.err().isBlank() ? run.out() : run.err());
        return last.isEmpty() ? "" : "; it wrote: " + CleanText.of(last, LONGEST_NAME);
    }

    /** The JSON of a script's last line, or the error in it. */
    private record Result(
            String message,
            String code,
            String remedy,
            RecommendedAction action,
            List<Entity> entities,
            List<Measurement> measurements) {

        static Result plain(String line) {
            return new Result(
                    CleanText.of(line, LONGEST_MESSAGE), "", "", RecommendedAction.NONE, List.of(), List.of());
        }

        static Result of(FieldReader json) throws IOException {
            String code = json.textOrEmpty("code");
            if (!code.isEmpty() && !CODE.matcher(code).matches()) {
                throw new IOException("code is not one word of letters, digits, '.', '_' and '-'");
            }
            return new Result(
                    CleanText.of(json.textOrEmpty("message"), LONGEST_MESSAGE),
                    code,
                    CleanText.of(json.textOrEmpty("remedy"), LONGEST_MESSAGE),
                    action(json.optionalText("action").orElse("none")),
                    entities(json.objects("entities")),
                    measurements(json));
        }

        private static RecommendedAction action(String text) throws IOException {
            for (RecommendedAction action : RecommendedAction.values()) {
                // A custom action has its name in a field that findings do not have.
                if (action != RecommendedAction.CUSTOM
                        && action.label().equals(text.toLowerCase(Locale.ROOT).replace('_', '-'))) {
                    return action;
                }
            }
            throw new IOException("unknown action: '" + CleanText.of(text, LONGEST_NAME) + "'");
        }

        private static List<Entity> entities(List<FieldReader> objects) throws IOException {
            if (objects.size() > MOST_ENTITIES) {
                throw new IOException("there are more than " + MOST_ENTITIES + " entities");
            }
            List<Entity> entities = new ArrayList<>();
            for (FieldReader object : objects) {
                String type = CleanText.of(object.textOrEmpty("type"), LONGEST_NAME);
                String value = CleanText.of(object.textOrEmpty("value"), LONGEST_NAME);
                if (type.isEmpty() || value.isEmpty()) {
                    throw new IOException("an entity has no type or no value");
                }
                entities.add(new Entity(type, value));
            }
            return entities;
        }

        private static List<Measurement> measurements(FieldReader json) throws IOException {
            List<Measurement> measurements = new ArrayList<>();
            FieldReader named = json.objectOrEmpty("measurements");
            for (String name : named.names()) {
                if (measurements.size() < MOST_MEASUREMENTS) {
                    double value = named.decimal(name);
                    measurements.add(new Measurement(CleanText.of(name, LONGEST_NAME), value, ""));
                }
            }
            return measurements;
        }

        /** Returns one finding for each named part; for the node if none is named. */
        List<Finding> findings(Outcome outcome, String otherwiseCode, String otherwiseMessage, NodeSnapshot node) {
            Map<Subject, Finding> findings = new LinkedHashMap<>();
            List<Subject> subjects = entities.isEmpty() ? List.of(Subject.NODE) : subjects(entities, node);
            for (Subject subject : subjects) {
                findings.put(
                        subject,
                        new Finding(
                                outcome,
                                code.isEmpty() || outcome == Outcome.PASS ? otherwiseCode : code,
                                subject,
                                message.isEmpty() ? otherwiseMessage : message,
                                remedy,
                                outcome == Outcome.FAIL ? action : RecommendedAction.NONE,
                                measurements));
            }
            return List.copyOf(findings.values());
        }
    }

    /** Returns the subjects. A GPU gets all its names, whichever the script used, so that two names of one GPU are one part. */
    private static List<Subject> subjects(List<Entity> entities, NodeSnapshot node) {
        List<Subject> subjects = new ArrayList<>();
        for (Entity entity : entities) {
            Subject subject = node.gpus().stream()
                    .map(GpuSnapshot::identity)
                    .filter(gpu -> isOf(entity, gpu))
                    .findFirst()
                    .map(Subject::of)
                    .orElseGet(() -> Subject.of(entity));
            if (!subjects.contains(subject)) {
                subjects.add(subject);
            }
        }
        return subjects;
    }

    private static boolean isOf(Entity entity, GpuIdentity gpu) {
        if (entity.type().equals(Entity.PCI)) {
            return PciAddress.parse(entity.value())
                    .flatMap(named -> gpu.pci().asOptional().filter(named::equals))
                    .isPresent();
        }
        return Subject.of(gpu).entities().contains(entity) || entity.equals(Entity.gpuIndex(gpu.index()));
    }
}
