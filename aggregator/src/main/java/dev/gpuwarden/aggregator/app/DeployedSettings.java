package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.janitor.JanitorPart;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.rehearsal.PipelineSettings;
import dev.gpuwarden.aggregator.remediation.RepairPart;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.remediation.RepairTemplates;
import dev.gpuwarden.aggregator.remediation.TemplateFile;
import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.Mode;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** The settings of a deployed aggregator, from the variables and the arguments of its Deployment. */
public final class DeployedSettings {

    private static final String COMMAND = "aggregator";
    private static final String PREFIX = "GPUWARDEN_";
    private static final List<String> SECTIONS =
            List.of("QUARANTINE_", "DRAIN_", "REMEDIATION_", "JANITOR_", "BREAKER_", "CLUSTER_");
    private static final Path NO_FILE = Path.of("/nonexistent/gpuwarden.yaml");

    private DeployedSettings() {}

    /** The options that decide on a node with a fault. */
    @Command
    static final class Options implements Runnable {
        private final Parts parts = new Parts();

        @Unmatched
        List<String> others = new ArrayList<>();

        @Spec
        void spec(CommandSpec command) {
            Parts.add(List.of(parts.quarantine, parts.drain, parts.janitor, parts.repair), command);
        }

        @Override
        public void run() {}
    }

    /**
     * Reads the settings. If there is no such Deployment, or it may not be read, the defaults are assumed. Blocks.
     *
     * @param file users' templates to assume; empty for those of the Deployment, which cannot be read
     * @throws UserError if the file has a mistake
     */
    public static PipelineSettings read(KubeClient api, String namespace, String deployment, Optional<Path> file)
            throws InterruptedException {
        Optional<RepairTemplates> templates = file.map(TemplateFile::read);
        String origin = "Deployment " + namespace + "/" + deployment;
        try {
            return of(
                    api.get("/apis/apps/v1/namespaces/" + namespace + "/deployments/" + deployment),
                    namespace,
                    origin,
                    templates);
        } catch (ApiException e) {
            String why = e.notFound()
                    ? "there is no " + origin + " (--deployment, --cluster.namespace)"
                    : String.valueOf(e.getMessage());
            return settings(new Parts(), namespace, origin, templates, Optional.of(why));
        }
    }

    /** Returns the settings of a Deployment. Pure. */
    static PipelineSettings of(
            Map<String, Object> deployment, String namespace, String origin, Optional<RepairTemplates> templates) {
        Map<String, Object> template =
                JsonTrees.object(JsonTrees.object(JsonTrees.object(deployment, "spec"), "template"), "spec");
        try {
            Map<String, Object> container = JsonTrees.objects(template, "containers").stream()
                    .filter(each -> words(each).contains(COMMAND))
                    .findFirst()
                    .orElseThrow(
                            () -> new UserError("expected a container that runs gpuwarden aggregator, found none"));
            Options parsed = new Options();
            CommandGroup group = () -> List.of(new NamedCommand(COMMAND, () -> parsed));
            CommandLine line = Main.commandLine(
                    new SettingSources(variables(container), NO_FILE),
                    List.of(group).iterator());
            StringWriter errors = new StringWriter();
            line.setErr(new PrintWriter(errors));
            List<String> words = words(container);
            int code = line.execute(
                    words.subList(words.indexOf(COMMAND), words.size()).toArray(String[]::new));
            if (code != ExitCode.OK) {
                throw new UserError(
                        errors.toString().lines().findFirst().orElse("").replaceFirst("^gpuwarden: ", ""));
            }
            Optional<String> unread = unread(container, origin)
                    .or(() -> parsed.parts
                            .repair
                            .templates()
                            .filter(file -> templates.isEmpty())
                            .map(file -> origin + " has users' templates in " + file
                                    + ", which are not read: give the file by --templates"));
            return settings(parsed.parts, namespace, origin, templates, unread);
        } catch (UserError e) {
            return settings(new Parts(), namespace, origin, templates, Optional.of(origin + ": " + e.getMessage()));
        }
    }

    private static List<String> words(Map<String, Object> container) {
        return Stream.concat(
                        JsonTrees.textList(container, "command").stream(),
                        JsonTrees.textList(container, "args").stream())
                .toList();
    }

    private static Map<String, String> variables(Map<String, Object> container) {
        Map<String, String> variables = new LinkedHashMap<>();
        for (Map<String, Object> variable : JsonTrees.objects(container, "env")) {
            String name = JsonTrees.text(variable, "name");
            if (SECTIONS.stream().anyMatch(section -> name.startsWith(PREFIX + section))) {
                variables.put(name, JsonTrees.text(variable, "value"));
            }
        }
        return variables;
    }

    /** Returns the reason why some settings may differ: they come from a file or another object. */
    private static Optional<String> unread(Map<String, Object> container, String origin) {
        List<String> others = new ArrayList<>();
        for (Map<String, Object> variable : JsonTrees.objects(container, "env")) {
            String name = JsonTrees.text(variable, "name");
            boolean setting = SECTIONS.stream().anyMatch(section -> name.startsWith(PREFIX + section));
            if (name.equals(PREFIX + "CONFIG") || setting && variable.containsKey("valueFrom")) {
                others.add(name);
            }
        }
        if (!JsonTrees.objects(container, "envFrom").isEmpty()) {
            others.add("envFrom");
        }
        words(container).stream().filter(word -> word.startsWith("--config")).forEach(others::add);
        return others.isEmpty()
                ? Optional.empty()
                : Optional.of(origin + " has settings in other objects: " + String.join(", ", others));
    }

    private static PipelineSettings settings(
            Parts parts,
            String namespace,
            String origin,
            Optional<RepairTemplates> templates,
            Optional<String> unread) {
        DrainPolicies policies = parts.drain.policies();
        JanitorSettings assumed = parts.janitor.assumed(namespace);
        Optional<JanitorSettings> janitor =
                unread.isPresent() ? Optional.of(assumed) : parts.janitor.settings(namespace);
        RepairReconciler.Settings repairs =
                parts.repair.assumed(templates.orElse(RepairTemplates.NONE), parts.janitor.lockNamespace(namespace));
        List<Need.Rights> needs = new ArrayList<>(List.of(ArmedRights.armed("quarantine")));
        needs.addAll(DrainPart.needs(policies));
        needs.addAll(RepairPart.needs(repairs));
        janitor.map(JanitorPart::needs).ifPresent(needs::addAll);
        return new PipelineSettings(
                origin,
                unread,
                mode(parts.quarantine.given(), unread),
                mode(parts.drain.given(), unread),
                mode(parts.repair.given(), unread),
                parts.drain.forces(),
                policies,
                repairs,
                janitor,
                needs);
    }

    private static PipelineSettings.Mode mode(Mode mode, Optional<String> unread) {
        return unread.isPresent()
                ? PipelineSettings.Mode.UNKNOWN
                : PipelineSettings.Mode.valueOf(mode.name().toUpperCase(Locale.ROOT));
    }
}
