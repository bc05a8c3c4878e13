package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.StaticHandler;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.check.CheckPlan;
import dev.gpuwarden.daemon.check.WorkSources;
import dev.gpuwarden.daemon.settings.CheckOptions;
import dev.gpuwarden.daemon.settings.CollectiveSettings;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.view.CheckView;
import dev.gpuwarden.daemon.view.ReportPage;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs checks now. */
@Command(
        name = "check",
        description = {
            "Run checks now and show their findings. If a daemon runs, it runs them, since it has their history;"
                    + " otherwise, or with a setting on this command line, this process does."
        },
        exitCodeList = {"0:passed", "1:a fault was found", "2:wrong usage or configuration", "3:could not decide"})
public final class CheckCommand extends CheckingCommand {

    private static final String ALL = "all";

    @Parameters(
            arity = "0..*",
            paramLabel = "NAME",
            description = "Checks to run, or 'all' for those that the configuration does not switch off.")
    List<String> names = List.of();

    @Option(names = "--list", description = "List the checks, and run none.")
    boolean list;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description =
                    "Also write the result to this file: a page to keep if its name ends with .html, JSON otherwise.")
    @Nullable Path report;

    @Option(names = "--local", description = "Run them in this process, even if a daemon runs.")
    boolean local;

    @Mixin
    ClientOptions client = new ClientOptions();

    @Mixin
    CollectiveSettings collective = new CollectiveSettings();

    private final Supplier<ComputeProvider> compute;
    private final Supplier<CollectiveProvider> collectives;

    public CheckCommand(
            Supplier<DriverProvider> provider,
            Supplier<ComputeProvider> compute,
            Supplier<CollectiveProvider> collectives) {
        super(provider);
        this.compute = compute;
        this.collectives = collectives;
    }

    @Override
    WorkSources work() {
        return workOf(compute, collectives, collective);
    }

    @Override
    public Integer call() {
        if (!list && !names.isEmpty()) {
            Optional<List<CheckResult>> results = byDaemon();
            if (results.isPresent()) {
                return report(completed(results.get()), () -> sample(NodeSampler::snapshot));
            }
        }
        CheckPlan all = checks.all(node.get());
        if (list) {
            CheckPlan plan = checks.plan(all);
            show(Report.list(plan), out -> Report.printList(plan, out));
            return ExitCode.OK;
        }
        Run run = runChecks(wanted(all));
        return report(Report.of(run.results()), run::node);
    }

    /** Adds the checks with a load on GPUs that the daemon does not run by itself, run by this process. */
    private Report completed(List<CheckResult> byDaemon) {
        if (!names.contains(ALL)) {
            return Report.byDaemon(byDaemon);
        }
        Set<String> ran = byDaemon.stream().map(result -> result.check().id()).collect(Collectors.toSet());
        CheckPlan rest = checks.plan(checks.all(node.get())).withLoad().only(id -> !ran.contains(id));
        List<CheckResult> all = new ArrayList<>(byDaemon);
        if (!rest.planned().isEmpty()) {
            all.addAll(runChecks(rest).results());
            all.sort(Comparator.comparing(result -> result.check().id()));
        }
        return Report.byDaemon(all);
    }

    private int report(Report seen, Supplier<NodeSnapshot> snapshot) {
        if (report != null) {
            boolean page = report.toString().toLowerCase(Locale.ROOT).endsWith(".html");
            write(report, page ? page(seen, snapshot.get()) : Output.json(seen.tree()));
        }
        show(seen.tree(), out -> seen.print(out, !names.contains(ALL)));
        return ScanCommand.exitCode(seen.verdict());
    }

    /** Returns the daemon's results; empty if the command line has settings, because the daemon has its own. */
    private Optional<List<CheckResult>> byDaemon() {
        boolean given = spec.commandLine().getParseResult().matchedOptions().stream()
                .map(option -> option.longestName())
                .anyMatch(name -> name.indexOf('.') > 0 && !name.equals("--grpc.socket"));
        if (local || given) {
            return Optional.empty();
        }
        List<String> wanted = names.contains(ALL) ? List.of() : names;
        return client.socket()
                .flatMap(socket ->
                        progress().during(line -> DaemonChecks.run(socket, wanted, follower(line), this::note)));
    }

    /** Returns the plan. A named check runs, whether or not it is switched off. */
    private CheckPlan wanted(CheckPlan all) {
        if (names.isEmpty()) {
            throw new UserError("name the checks to run, or 'all'; 'gpuwarden check --list' shows them");
        }
        if (names.contains(ALL)) {
            return checks.plan(all);
        }
        names.forEach(name -> CheckOptions.known("", name, all.ids()));
        return all.only(names::contains).deadline(checks.deadline());
    }

    private String page(Report seen, NodeSnapshot snapshot) {
        return new ReportPage(node.get(), Instant.now(), snapshot, seen.results(), StaticHandler.style()).html();
    }

    private static void write(Path file, String json) {
        try {
            Files.writeString(file, json + "\n");
        } catch (IOException e) {
            throw new UserError("--report: " + file + " could not be written: " + e);
        }
    }

    /** Check results as a tree for JSON and YAML, see docs/reference/check-json.md. Pure. */
    record Report(List<CheckResult> results, Verdict verdict, boolean byDaemon) {

        static final String SCHEMA = "gpuwarden.check/v1";

        static final String LIST_SCHEMA = "gpuwarden.checks/v1";

        private static final List<Outcome> ORDER =
                List.of(Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN, Outcome.PASS, Outcome.SKIPPED);

        static Report of(List<CheckResult> results) {
            return new Report(results, NodeVerdict.of(results), false);
        }

        static Report byDaemon(List<CheckResult> results) {
            return new Report(results, NodeVerdict.of(results), true);
        }

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("schema", SCHEMA);
            tree.put("verdict", verdict.label());
            tree.put("ranBy", byDaemon ? "daemon" : "process");
            tree.put("checks", results.stream().map(CheckView::tree).toList());
            return tree;
        }

        /** @param skipped whether to print the skipped findings too */
        void print(PrintWriter out, boolean skipped) {
            Table table = new Table("CHECK", "OUTCOME", "PARTS", "TOOK");
            for (CheckResult result : results) {
                table.row(
                        result.check().id(),
                        Table.styled(style(result.outcome()), result.outcome()),
                        parts(result.findings()),
                        millis(result));
            }
            table.print(out);
            out.println();
            if (skipped) {
                FindingLines.printWithSkipped(results, out);
            } else {
                FindingLines.print(results, out);
            }
            long passed = results.stream()
                    .filter(result -> result.outcome() == Outcome.PASS || result.outcome() == Outcome.WARN)
                    .count();
            String all = FindingLines.count(passed, "check") + " passed" + (byDaemon ? ", run by the daemon" : "");
            out.println(FindingLines.verdict(results, verdict, all));
        }

        /** Returns the counts by outcome: "7 pass, 1 fail". */
        private static String parts(List<Finding> findings) {
            String parts = ORDER.stream()
                    .map(outcome -> count(findings, outcome))
                    .filter(text -> !text.isEmpty())
                    .collect(Collectors.joining(", "));
            return parts.isEmpty() ? "does not apply" : parts;
        }

        private static String count(List<Finding> findings, Outcome outcome) {
            long count = findings.stream().filter(f -> f.outcome() == outcome).count();
            return count == 0 ? "" : count + " " + outcome.name().toLowerCase(Locale.ROOT);
        }

        private static String millis(CheckResult result) {
            return String.format(Locale.ROOT, "%.1f ms", result.took().toNanos() / 1e6);
        }

        private static Style style(Outcome outcome) {
            return switch (outcome) {
                case PASS -> Style.GOOD;
                case FAIL -> Style.BAD;
                case WARN, UNKNOWN -> Style.WARNING;
                case SKIPPED -> Style.FAINT;
            };
        }

        static void printList(CheckPlan plan, PrintWriter out) {
            Table table = new Table("CHECK", "COMPONENT", "INTERVAL", "DESCRIPTION");
            all(plan)
                    .forEach(check ->
                            table.row(check.id(), check.componentClass(), every(plan, check), check.summary()));
            table.print(out);
        }

        private static String every(CheckPlan plan, CheckInfo check) {
            return plan.off().contains(check) ? "off" : Durations.text(check.every());
        }

        private static List<CheckInfo> all(CheckPlan plan) {
            return Stream.concat(plan.planned().stream().map(CheckPlan.Planned::info), plan.off().stream())
                    .sorted(Comparator.comparing(CheckInfo::id))
                    .toList();
        }

        static Map<String, Object> list(CheckPlan plan) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("schema", LIST_SCHEMA);
            tree.put(
                    "checks",
                    all(plan).stream()
                            .map(check -> {
                                Map<String, Object> entry = CheckView.tree(check);
                                entry.put("off", plan.off().contains(check));
                                return entry;
                            })
                            .toList());
            return tree;
        }
    }
}
