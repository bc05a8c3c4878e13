package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.Sources;
import dev.gpuwarden.checks.access.ChildCheck;
import dev.gpuwarden.checks.access.ChildReport;
import dev.gpuwarden.checks.settings.CheckOptions;
import dev.gpuwarden.checks.settings.LibrarySettings;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.view.CheckView;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.StaticHandler;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.MeasuredGpus;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.view.CheckSummary;
import dev.gpuwarden.daemon.view.ReportPage;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
        exitCodeList = {
            "0:passed",
            "1:a fault was found",
            "2:wrong usage or configuration",
            "3:could not decide, or a GPU was in use and not measured"
        })
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

    @Option(
            names = "--allow-partial",
            description =
                    "Take the result of the GPUs that checks with a load could measure. Without this option a GPU in"
                            + " use leaves the result undecided.")
    boolean partial;

    @Option(names = "--local", description = "Run them in this process, even if a daemon runs.")
    boolean local;

    @Option(names = ChildCheck.OPTION, hidden = true, paramLabel = "FILE")
    @Nullable Path forDaemon;

    @Mixin
    ClientOptions client = new ClientOptions();

    @Mixin
    LibrarySettings libraries = new LibrarySettings();

    public CheckCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    Sources work(Sources usual) {
        return workOf(usual, libraries);
    }

    /** The report of a run for a daemon; null otherwise. */
    private @Nullable ChildReport child;

    @Override
    CheckEnvironment adapted(CheckEnvironment usual) {
        if (forDaemon == null) {
            return usual;
        }
        try {
            PrintWriter out = new PrintWriter(Files.newBufferedWriter(ChildCheck.REPORTS, StandardOpenOption.WRITE));
            child = ChildReport.of(names.get(0), forDaemon, usual, line -> {
                out.println(line);
                out.flush();
            });
        } catch (IOException e) {
            throw new UserError(ChildCheck.OPTION + ": " + forDaemon + ": " + e);
        }
        return child.environment();
    }

    @Override
    public Integer call() {
        if (forDaemon != null && names.size() == 1) {
            CheckResult result =
                    runChecks(wanted(checks.all(node.get()))).results().get(0);
            Objects.requireNonNull(child).end(result);
            return ExitCode.OK;
        }
        if (!list && !names.isEmpty()) {
            Optional<DaemonChecks.Ran> ran = byDaemon();
            if (ran.isPresent()) {
                List<CheckResult> results = names.contains(ALL)
                        ? completed(ran.get().results())
                        : ran.get().results();
                return report(
                        new Report(summary(results, true, ran.get().faults())), () -> sample(NodeSampler::snapshot));
            }
        }
        CheckPlan all = checks.all(node.get());
        if (list) {
            CheckPlan plan = checks.plan(all);
            show(Report.list(plan), out -> Report.printList(plan, out));
            return ExitCode.OK;
        }
        Run run = runChecks(wanted(all));
        return report(new Report(summary(run.results(), false, List.of())), run::node);
    }

    /** Adds the checks with a load on GPUs that the daemon does not run by itself, run by this process. */
    private List<CheckResult> completed(List<CheckResult> byDaemon) {
        Set<String> ran = byDaemon.stream().map(result -> result.check().id()).collect(Collectors.toSet());
        CheckPlan rest = checks.plan(checks.all(node.get())).withLoad().only(id -> !ran.contains(id));
        List<CheckResult> all = new ArrayList<>(byDaemon);
        if (!rest.planned().isEmpty()) {
            all.addAll(runChecks(rest).results());
            all.sort(Comparator.comparing(result -> result.check().id()));
        }
        return all;
    }

    private CheckSummary summary(List<CheckResult> results, boolean byDaemon, List<Fault> faults) {
        Set<String> withLoad = Set.copyOf(checks.all(node.get()).withLoad().ids());
        return new CheckSummary(
                results, names.contains(ALL), byDaemon, faults, MeasuredGpus.of(results, withLoad), partial);
    }

    private int report(Report seen, Supplier<NodeSnapshot> snapshot) {
        if (report != null) {
            boolean page = report.toString().toLowerCase(Locale.ROOT).endsWith(".html");
            write(report, page ? page(seen, snapshot.get()) : Output.json(seen.tree()));
        }
        show(seen.tree(), out -> seen.print(out, !names.contains(ALL)));
        return ExitCode.of(seen.summary().verdict());
    }

    /** Returns the daemon's results; empty if the command line has settings, because the daemon has its own. */
    private Optional<DaemonChecks.Ran> byDaemon() {
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
        return new ReportPage(node.get(), Instant.now(), snapshot, seen.summary(), StaticHandler.style()).html();
    }

    private static void write(Path file, String json) {
        try {
            Files.writeString(file, json + "\n");
        } catch (IOException e) {
            throw new UserError("--report: " + file + " could not be written: " + e);
        }
    }

    /** Check results as a tree for JSON and YAML, see docs/reference/check-json.md. Pure. */
    record Report(CheckSummary summary) {

        static final String SCHEMA = "gpuwarden.check/v1";

        static final String LIST_SCHEMA = "gpuwarden.checks/v1";

        private List<CheckResult> results() {
            return summary.results();
        }

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("schema", SCHEMA);
            tree.put("verdict", summary.verdict().label());
            tree.put("scope", summary.all() ? "node" : "checks");
            tree.put("ranBy", summary.byDaemon() ? "daemon" : "process");
            if (summary.measured().gpus() > 0) {
                tree.put("measured", measured());
            }
            tree.put("checks", results().stream().map(CheckView::tree).toList());
            return tree;
        }

        private Map<String, Object> measured() {
            MeasuredGpus gpus = summary.measured();
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("complete", gpus.complete());
            tree.put("gpus", gpus.gpus());
            tree.put("notMeasured", gpus.missing());
            return tree;
        }

        /** @param skipped whether to print the skipped findings too */
        void print(PrintWriter out, boolean skipped) {
            Table table = new Table("CHECK", "OUTCOME", "PARTS", "TOOK");
            for (CheckResult result : results()) {
                table.row(
                        result.check().id(),
                        Table.styled(style(result.outcome()), result.outcome()),
                        CheckSummary.parts(result.findings()),
                        millis(result));
            }
            table.print(out);
            out.println();
            if (skipped) {
                FindingLines.printWithSkipped(results(), out);
            } else {
                FindingLines.print(results(), out);
            }
            summary.lines().forEach(line -> out.println(Table.escape(line)));
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
