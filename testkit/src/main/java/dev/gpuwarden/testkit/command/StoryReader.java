package dev.gpuwarden.testkit.command;

import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.command.ClusterDemoRunner.ClusterDemoCheck;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * Reads stories from `stories/*.yaml` in this package's resources: steps with actions and checks. A check is a command of
 * `stories/commands.yaml` and the beginning of a line of its output, as a pattern; after `no`, that line must not exist.
 */
record StoryReader(ClusterDemoEnvironment.Pace pace, ClusterDemoEnvironment environment) {

    private static final String END_PROCESSES = "end processes of ";
    private static final String APPLY_FOR = "apply for gpu of ";
    private static final Pattern GPU = Pattern.compile("gpu (?:(\\d) )?of (\\S+)");

    /** @throws IllegalStateException for an action or a command that does not exist */
    List<ClusterDemoRunner.Step> read(String story) {
        List<Map<String, ?>> steps = load(story);
        return steps.stream().map(this::step).toList();
    }

    private ClusterDemoRunner.Step step(Map<String, ?> step) {
        List<Runnable> actions = each(step, "actions", this::action);
        return new ClusterDemoRunner.Step(
                text(step.get("title")),
                () -> actions.forEach(Runnable::run),
                each(step, "checks", this::check),
                Duration.ofSeconds(step.get("seconds") instanceof Integer seconds ? seconds : 0));
    }

    @SuppressWarnings("unchecked") // the resources have this form
    private static <T> List<T> each(Map<String, ?> step, String key, BiFunction<String, String, T> reader) {
        List<Map<String, ?>> entries = step.get(key) instanceof List<?> list ? (List<Map<String, ?>>) list : List.of();
        return entries.stream()
                .flatMap(entry -> entry.entrySet().stream())
                .map(entry -> reader.apply(entry.getKey(), text(entry.getValue())))
                .toList();
    }

    private static String text(@Nullable Object value) {
        return String.valueOf(value);
    }

    private Runnable action(String verb, String argument) {
        String[] changes = argument.split(" ");
        if (verb.startsWith(END_PROCESSES)) {
            return () -> environment.endProcesses(verb.substring(END_PROCESSES.length()), changes);
        }
        if (verb.startsWith(APPLY_FOR)) {
            return () -> environment.applyForGpuOf(verb.substring(APPLY_FOR.length()), argument);
        }
        Matcher gpu = GPU.matcher(verb);
        if (gpu.matches()) {
            String holder = gpu.group(2);
            return gpu.group(1) == null
                    ? () -> environment.setGpuOf(holder, changes)
                    : () -> environment.set(holder, Integer.parseInt(gpu.group(1)), changes);
        }
        return switch (verb) {
            case "load-image" -> () -> environment.loadImage();
            case "settings" -> () -> environment.applySettings();
            case "start programs on" -> () -> environment.startPrograms(argument);
            case "start operator services on" -> () -> environment.startOperatorServices(changes);
            case "apply" -> () -> environment.apply(argument);
            case "run" ->
                () -> environment.run(argument.replace("{now}", Instant.now().toString()));
            case "same gpu" -> () -> environment.setSame(changes);
            default -> throw new IllegalStateException("no such action: " + verb);
        };
    }

    private ClusterDemoCheck check(String key, String line) {
        boolean shown = !key.startsWith("no ");
        String name = shown ? key : key.substring("no ".length());
        Map<String, String> commands = load("commands");
        String command = name.startsWith("explain ") ? "gpuwarden " + name : commands.get(name);
        if (name.equals("page") || name.startsWith(ClusterDemoCheck.PAGE)) {
            command = name.equals("page") ? ClusterDemoCheck.PAGE : name;
        } else if (command == null) {
            throw new IllegalStateException("no such command: " + name);
        }
        ExpectedLine expected = ExpectedLine.of("^" + line);
        return new ClusterDemoCheck(command, shown ? expected : expected.gone());
    }

    @SuppressWarnings("unchecked") // the resources have this form
    private <T> T load(String file) {
        String text = Resource.text("command/stories/" + file + ".yaml")
                .replace("{seconds}", Integer.toString(pace.operatorSeconds()));
        return (T) new Load(LoadSettings.builder().build()).loadFromString(text);
    }

    /** The stories of the demo on a cluster of three nodes. Each starts with healthy nodes and leaves them healthy. */
    enum DemoStory {
        /** A GPU is lost and comes back. */
        faults,
        /** An operator's pod does not start. */
        operator,
        /** Pods are evicted from a node, all of them or one. */
        drain,
        /** A pod gets a signal before its eviction. */
        checkpoint,
        /** A pod over its VRAM budget is evicted, and another starts. */
        vram,
        /** A GPU is reset and a node rebooted, by Jobs on the node. */
        remediation,
        /** All stories, one after the other. */
        all;

        /** Returns the steps of those stories, in order, after the installation. */
        static List<ClusterDemoRunner.Step> of(Set<DemoStory> stories, StoryReader reader) {
            List<ClusterDemoRunner.Step> play = new ArrayList<>(reader.read("opening"));
            EnumSet.range(faults, remediation).stream()
                    .filter(story -> stories.contains(all) || stories.contains(story))
                    .forEach(story -> play.addAll(reader.read(story.name())));
            return play;
        }
    }
}
