package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.client.Json.PlainTree;
import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy;
import dev.gpuwarden.aggregator.objectmonitor.PolicyDryRun;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command that evaluates policies on objects, both from files. It needs no cluster, and changes nothing. */
@Command(
        name = "test",
        mixinStandardHelpOptions = true,
        description = {
            "Show which objects a MonitorPolicy matches, the node of each, the event to report, and when that"
                    + " changes by itself.",
            "Files are YAML or JSON, with several documents or lists, as kubectl get -o yaml writes them."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no object matches",
            "1:some objects match",
            "2:wrong usage, or a policy does not compile",
            "3:undecided: a policy cannot be evaluated for some object, or the object's node is unknown"
        })
final class PolicyTestCommand implements Callable<Integer> {

    private final Clock clock;

    @Mixin
    final Output output = new Output();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "POLICY", description = "File with one or more MonitorPolicies.")
    Path policies = Path.of("");

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "OBJECT", description = "Files with objects.")
    List<Path> objects = List.of();

    @Option(names = "--now", paramLabel = "TIME", description = "The time to assume, as 2026-11-22T10:00:00Z.")
    String now = "";

    PolicyTestCommand(Clock clock) {
        this.clock = clock;
    }

    @Override
    public Integer call() {
        Instant at = now.isEmpty() ? clock.instant() : time(now);
        List<CompiledPolicy> compiled = new ArrayList<>();
        for (Map<String, Object> policy : ObjectFiles.read(policies)) {
            compiled.add(compile(policy));
        }
        if (compiled.isEmpty()) {
            throw new UserError(policies + ": expected a MonitorPolicy, there is none");
        }
        List<Map<String, Object>> all = new ArrayList<>();
        objects.forEach(file -> all.addAll(ObjectFiles.read(file)));
        List<PolicyDryRun> trials = PolicyDryRun.of(compiled, all, at);
        int nodes = (int) all.stream()
                .filter(object -> JsonTrees.text(object, "kind").equals("Node"))
                .count();
        PolicyReport report = new PolicyReport(at, trials, PolicyDryRun.Summary.of(compiled, trials, nodes, at));
        output.write(spec.commandLine().getOut(), report.tree(), report::print);
        return report.exitCode();
    }

    private static Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeException e) {
            throw new UserError("--now: expected a time as 2026-11-22T10:00:00Z, found \"" + text + "\"");
        }
    }

    private CompiledPolicy compile(Map<String, Object> tree) {
        String is = tree.getOrDefault("apiVersion", "nothing") + " " + tree.getOrDefault("kind", "without kind");
        if (!is.equals(MonitorPolicy.API_VERSION + " " + MonitorPolicy.KIND)) {
            throw new UserError(
                    policies + ": expected " + MonitorPolicy.API_VERSION + " " + MonitorPolicy.KIND + ", found " + is);
        }
        try {
            MonitorPolicy policy = MonitorPolicy.of(tree);
            try {
                return CompiledPolicy.compile(policy);
            } catch (InvalidExpressionException e) {
                throw new UserError(policies + ": policy " + policy.name() + ": " + e.reason() + ": " + e.getMessage());
            }
        } catch (IllegalArgumentException e) {
            throw new UserError(policies + ": " + e.getMessage());
        }
    }

    /** A reader of Kubernetes objects from files, written by hand or by kubectl. */
    static final class ObjectFiles {

        private ObjectFiles() {}

        /** Returns all objects of the file, and the items of lists. Throws {@link UserError} if it contains anything else. */
        static List<Map<String, Object>> read(Path file) {
            List<Map<String, Object>> objects = new ArrayList<>();
            LoadSettings settings =
                    LoadSettings.builder().setLabel(file.toString()).build();
            try {
                for (Object document : new Load(settings).loadAllFromString(Files.readString(file))) {
                    if (document instanceof Map<?, ?> map) {
                        add(PlainTree.of(map), objects);
                    } else if (document != null) {
                        throw new UserError(file + ": expected objects, found " + document);
                    }
                }
            } catch (IOException e) {
                throw new UserError(file + ": cannot be read: " + e);
            } catch (YamlEngineException e) {
                throw new UserError(
                        file + ": not YAML: " + String.valueOf(e.getMessage()).replaceAll("\\s*\n\\s*", " "));
            }
            return objects;
        }

        private static void add(Map<String, Object> object, List<Map<String, Object>> objects) {
            if (JsonTrees.text(object, "kind").endsWith("List") && object.get("items") instanceof List<?>) {
                JsonTrees.objects(object, "items").forEach(objects::add);
            } else {
                objects.add(object);
            }
        }
    }
}
