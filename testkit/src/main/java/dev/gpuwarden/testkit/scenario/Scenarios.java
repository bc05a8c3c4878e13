package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.scenario.Problems.Problem;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Finds scenarios: built-in ones and files. */
public final class Scenarios {

    private static final List<String> NAMES =
            Resource.text("scenarios/list.txt").lines().toList();

    private Scenarios() {}

    /** Returns the names of the built-in scenarios. */
    public static List<String> names() {
        return NAMES;
    }

    /**
     * Reads a scenario.
     *
     * @param nameOrFile one of {@link #names}, or the path of a YAML file
     * @throws UserError with one line per mistake
     */
    public static Scenario find(String nameOrFile, Vocabulary vocabulary) {
        if (NAMES.contains(nameOrFile)) {
            String file = "scenarios/" + nameOrFile + ".yaml";
            return ScenarioReader.read(nameOrFile, file, Resource.text(file), vocabulary);
        }
        if (!nameOrFile.endsWith(".yaml") && !nameOrFile.endsWith(".yml")) {
            Optional<String> nearest = Spelling.nearest(nameOrFile, NAMES);
            throw new UserError("scenario \"" + nameOrFile + "\": expected a name from `sim list` or a .yaml file"
                    + nearest.map(n -> "; did you mean \"" + n + "\"?").orElse(""));
        }
        return ScenarioReader.read(nameOf(nameOrFile), nameOrFile, content(nameOrFile), vocabulary);
    }

    private static String nameOf(String file) {
        String last = file.substring(file.lastIndexOf('/') + 1);
        return last.substring(0, last.lastIndexOf('.'));
    }

    private static String content(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (NoSuchFileException | InvalidPathException e) {
            throw new UserError(file + ": expected a scenario file, but there is none");
        } catch (MalformedInputException e) {
            throw new UserError(file + ": expected UTF-8 text");
        } catch (IOException e) {
            throw new UserError(file + ": cannot be read: " + e);
        }
    }

    /** Reads a scenario; reports all mistakes in it with line and column. */
    public static final class ScenarioReader {

        private static final int MAX_ROWS = 4096;
        private static final int MAX_FAULTS = 64;

        private final Vocabulary vocabulary;
        private final Problems problems = new Problems();

        private Generation driver = Generation.D550;
        private final List<Setting> node = new ArrayList<>();
        private final List<SimGpu> gpus = new ArrayList<>();
        private final List<SimProcess> processes = new ArrayList<>();
        private final List<Fault> faults = new ArrayList<>();
        private final List<PciDevice> pci = new ArrayList<>();
        private List<Nic> nics = List.of();
        private final List<Change> changes = new ArrayList<>();
        private final List<Scenario.Step> timeline = new ArrayList<>();
        private final Set<Integer> pids = new HashSet<>();
        private final Set<String> faultNames = new HashSet<>();
        private int rows;
        private int faultEntries;
        private String description = "";
        private boolean logs = true;

        private ScenarioReader(Vocabulary vocabulary) {
            this.vocabulary = vocabulary;
        }

        /**
         * Reads a scenario.
         *
         * @param file its name in messages
         * @throws UserError with one line per mistake
         */
        public static Scenario read(String name, String file, String text, Vocabulary vocabulary) {
            return new ScenarioReader(vocabulary).read(name, file, text);
        }

        private Scenario read(String name, String file, String text) {
            problems.in(() -> YamlNode.parse(file, "scenario", text).ifPresentOrElse(this::document, () -> {
                throw new Problem(file + ":1:1", "scenario", "at least the key \"gpus\"", "nothing");
            }));
            problems.raise();
            timeline.sort(Comparator.comparing(Scenario.Step::at));
            return new Scenario(
                    name, description, driver, node, gpus, processes, faults, pci, nics, changes, logs, timeline);
        }

        private void document(YamlNode root) {
            Fields f = root.fields(
                    "description",
                    "driver",
                    "node",
                    "gpus",
                    "processes",
                    "faults",
                    "pci",
                    "nics",
                    "set",
                    "kernel",
                    "user",
                    "storm",
                    "log",
                    "timeline");
            problems.in(() -> description = f.read("description", "", YamlNode::text));
            problems.in(() -> driver = f.read("driver", driver, ScenarioReader::driver));
            problems.in(() -> f.get("node").ifPresent(values -> node.addAll(Keys.NODE.settings(values))));
            each(f, "gpus", item -> gpus.addAll(SimGpu.read(item)));
            problems.in(() -> {
                if (gpus.size() > SimGpu.MAX_GPUS) {
                    throw f.require("gpus").problem("at most " + SimGpu.MAX_GPUS + " GPUs in all");
                }
            });
            each(f, "processes", this::process);
            each(f, "faults", this::fault);
            each(f, "pci", item -> pci.add(PciDevice.read(item)));
            problems.in(() -> nics = Nic.beside(gpus, f.read("nics", Nic.Choice.OF_BOARDS, Nic.Choice::read)));
            ChangeReader reader = new ChangeReader(vocabulary, gpus.size(), nics.size());
            problems.in(() -> changes.addAll(reader.changes(f)));
            problems.in(() -> changes.addAll(reader.logs(f)));
            problems.in(() -> logs = f.read("log", true, YamlNode::flag));
            each(f, "timeline", item -> timeline.add(step(item, reader)));
        }

        /** Reads each item as an independent part: a mistake in one hides none in the others. */
        private void each(Fields f, String key, Consumer<YamlNode> reader) {
            problems.in(() -> f.get(key).ifPresent(list -> {
                int index = 0;
                for (YamlNode item : list.items()) {
                    YamlNode named = item.named(key + "[" + index++ + "]");
                    problems.in(() -> reader.accept(named));
                }
            }));
        }

        private static Generation driver(YamlNode node) {
            return Generation.of(node.text())
                    .orElseThrow(() ->
                            node.unknown("one of " + String.join(", ", Generation.labels()), Generation.labels()));
        }

        private void process(YamlNode item) {
            for (SimProcess process : SimProcess.read(item, gpus.size())) {
                if (!pids.add(process.pid())) {
                    throw item.problem("a pid of its own", process.pid() + " again");
                }
                for (int gpu : process.gpus()) {
                    int partitions = gpus.get(gpu).partitions().size();
                    if (process.mig().isPresent() && process.mig().getAsInt() >= partitions) {
                        throw item.problem(
                                "one of the " + partitions + " partitions of GPU " + gpu,
                                "partition " + process.mig().getAsInt());
                    }
                }
                rows += process.gpus().size();
                if (rows > MAX_ROWS) {
                    throw item.problem("at most " + MAX_ROWS + " processes times GPUs", "more");
                }
                processes.add(process);
            }
        }

        private void fault(YamlNode item) {
            Fault fault = Fault.read(item, item.subject(), vocabulary, gpus.size());
            if (!faultNames.add(fault.name())) {
                throw item.problem("a name of its own", "\"" + fault.name() + "\" again");
            }
            faultEntries += Math.max(1, fault.functions().size());
            if (faultEntries > MAX_FAULTS) {
                throw item.problem("at most " + MAX_FAULTS + " faults times functions", "more");
            }
            faults.add(fault);
        }

        private static Scenario.Step step(YamlNode node, ChangeReader reader) {
            Fields f = node.fields("at", "set", "fault", "clear", "start", "stop", "kernel", "user", "storm", "log");
            Duration at = f.require("at").duration();
            List<Change> changes = new ArrayList<>(reader.changes(f));
            changes.addAll(reader.logs(f));
            if (changes.isEmpty()) {
                throw node.problem("at least one of set, fault, clear, start, stop, kernel, user, storm");
            }
            return new Scenario.Step(at, changes, f.read("log", true, YamlNode::flag));
        }
    }
}
