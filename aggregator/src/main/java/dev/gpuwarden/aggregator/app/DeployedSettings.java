package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.rehearsal.PipelineSettings;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.remediation.RepairTemplates;
import dev.gpuwarden.aggregator.remediation.TemplateFile;
import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
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
import picocli.CommandLine.Mixin;

/** The settings of a deployed aggregator, from the variables and the arguments of its Deployment. */
public final class DeployedSettings {

    private static final String COMMAND = "aggregator";
    private static final String PREFIX = "GPUWARDEN_";
    private static final List<String> SECTIONS =
            List.of("QUARANTINE_", "DRAIN_", "REMEDIATION_", "JANITOR_", "BREAKER_", "CLUSTER_");
    private static final Path NO_FILE = Path.of("/nonexistent/gpuwarden.yaml");

    /** The image of Jobs that are validated and never run. */
    private static final String ASSUMED_IMAGE = "gpuwarden";

    private DeployedSettings() {}

    /** The options that decide on a node with a fault. */
    @Command
    static final class Options implements Runnable {
        @Mixin
        ControllerOptions options = new ControllerOptions();

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
            return settings(
                    new ControllerOptions(),
                    namespace,
                    origin,
                    templates,
                    Optional.of(
                            e.notFound()
                                    ? "there is no " + origin + " (--deployment, --cluster.namespace)"
                                    : String.valueOf(e.getMessage())));
        }
    }

    /** Returns the settings of a Deployment. Pure. */
    static PipelineSettings of(
            Map<String, Object> deployment, String namespace, String origin, Optional<RepairTemplates> templates) {
        Map<String, Object> template =
                JsonTrees.object(JsonTrees.object(JsonTrees.object(deployment, "spec"), "template"), "spec");
        Optional<Map<String, Object>> container = JsonTrees.objects(template, "containers").stream()
                .filter(each -> words(each).contains(COMMAND))
                .findFirst();
        if (container.isEmpty()) {
            return settings(
                    new ControllerOptions(),
                    namespace,
                    origin,
                    templates,
                    Optional.of(origin + ": expected a container that runs gpuwarden aggregator, found none"));
        }
        try {
            Options parsed = new Options();
            CommandGroup group = () -> List.of(new NamedCommand(COMMAND, () -> parsed));
            CommandLine line = Main.commandLine(
                    new SettingSources(variables(container.get()), NO_FILE),
                    List.of(group).iterator());
            line.parseArgs(arguments(container.get()));
            Optional<String> unread = unread(container.get(), origin)
                    .or(() -> Optional.ofNullable(parsed.options.remediation.templates)
                            .filter(file -> templates.isEmpty())
                            .map(file -> origin + " has users' templates in " + file
                                    + ", which are not read: give the file by --templates"));
            return settings(parsed.options, namespace, origin, templates, unread);
        } catch (CommandLine.ParameterException | UserError e) {
            return settings(
                    new ControllerOptions(), namespace, origin, templates, Optional.of(origin + ": " + e.getMessage()));
        }
    }

    /** Returns the command with its options of these sections. */
    private static String[] arguments(Map<String, Object> container) {
        List<String> kept = new ArrayList<>(List.of(COMMAND));
        List<String> words = words(container);
        boolean open = false;
        for (String word : words.subList(words.indexOf(COMMAND) + 1, words.size())) {
            boolean option = word.startsWith("-");
            boolean ours = option ? isOfSections(word) : open;
            if (ours) {
                kept.add(word);
            }
            open = ours && option && word.indexOf('=') < 0;
        }
        return kept.toArray(String[]::new);
    }

    private static boolean isOfSections(String option) {
        String name = option.replaceFirst("^--", "").toUpperCase(Locale.ROOT);
        return SECTIONS.stream().anyMatch(section -> name.startsWith(section.replace('_', '.')));
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
            ControllerOptions options,
            String namespace,
            String origin,
            Optional<RepairTemplates> templates,
            Optional<String> unread) {
        JanitorSettings assumed = assumed(options, namespace);
        Optional<JanitorSettings> janitor = unread.isPresent()
                ? Optional.of(assumed)
                : options.janitor.settings(namespace, options.drain.policies().system());
        RepairReconciler.Settings repairs = new RepairReconciler.Settings(
                true,
                options.remediation.approval == RemediationOptions.Approval.manual,
                options.remediation.attempts,
                options.remediation.memory,
                options.remediation.settle,
                templates.orElse(RepairTemplates.NONE),
                options.janitor.lockNamespace(namespace));
        return new PipelineSettings(
                origin,
                unread,
                mode(options.mode, unread),
                mode(options.drain.mode, unread),
                mode(options.remediation.mode, unread),
                options.drain.force == ControllerOptions.Force.on,
                options.drain.policies(),
                repairs,
                janitor,
                ArmedRights.ofPipeline(options.drain.policies(), repairs, janitor));
    }

    private static JanitorSettings assumed(ControllerOptions options, String namespace) {
        if (options.janitor.image == null) {
            options.janitor.image = ASSUMED_IMAGE;
            JanitorSettings settings = options.janitor
                    .settings(namespace, options.drain.policies().system())
                    .orElseThrow();
            options.janitor.image = null;
            return settings;
        }
        return options.janitor
                .settings(namespace, options.drain.policies().system())
                .orElseThrow();
    }

    private static PipelineSettings.Mode mode(ControllerOptions.Mode mode, Optional<String> unread) {
        if (unread.isPresent()) {
            return PipelineSettings.Mode.UNKNOWN;
        }
        return switch (mode) {
            case off -> PipelineSettings.Mode.OFF;
            case dry_run -> PipelineSettings.Mode.DRY_RUN;
            case armed -> PipelineSettings.Mode.ARMED;
        };
    }
}
