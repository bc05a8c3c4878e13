package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.HealthEventCodec;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.api.v1.SetHealthyRequest;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output.Format;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.daemon.view.CheckSummary;
import dev.gpuwarden.daemon.view.FaultView;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Marks faults as repaired. */
@Command(
        name = "set-healthy",
        description = {
            "Mark faults as repaired: show them, ask for confirmation, and clear them with an event that keeps the"
                    + " reason.",
            "A fault that persists is found and reported again."
        },
        exitCodeList = {
            "0:done",
            "1:no current fault matches, no permission, or not confirmed",
            "2:wrong usage or configuration",
            "3:no daemon answers"
        })
public final class SetHealthyCommand extends ClientCommand {

    static final String SCHEMA = "gpuwarden.set-healthy/v1";

    private static final int LONGEST_REASON = 1024;

    /** A symbolic link to the file that is read. */
    private static final Path STANDARD_INPUT = Path.of("/proc/self/fd/0");

    private final Clock clock;

    @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Reason; stored with the event.")
    String reason = "";

    @Option(
            names = "--check",
            split = ",",
            paramLabel = "NAME",
            description = "Faults of these checks, as named in events or by 'gpuwarden check --list'.")
    List<String> checks = List.of();

    @Option(names = "--code", split = ",", paramLabel = "CODE", description = "Faults with one of these codes.")
    List<String> codes = List.of();

    @Option(names = "--gpu", paramLabel = "GPU", description = "Faults of this GPU: its index, UUID or PCI address.")
    @Nullable String gpu;

    @Option(names = "--event", paramLabel = "ID", description = "The faults that this event raised.")
    @Nullable String event;

    @Option(names = "--all", description = "Every current fault.")
    boolean all;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask for confirmation.")
    boolean yes;

    @Option(names = "--dry-run", description = "Show what would be cleared, and clear nothing.")
    boolean dryRun;

    public SetHealthyCommand(Clock clock) {
        this.clock = clock;
    }

    @Override
    int ask(NodeClient node) {
        validate();
        NodeServiceBlockingStub daemon = queries(node);
        ClientGpus gpus = ClientGpus.ask(daemon);
        List<Fault> meant = selection(gpus)
                .of(daemon.listFaults(ListFaultsRequest.getDefaultInstance()).getFaultsList().stream()
                        .map(FaultCodec::fromWire)
                        .toList());
        if (meant.isEmpty()) {
            complain("no current fault matches; 'gpuwarden status' shows all");
            return ExitCode.NOT_FIT;
        }
        boolean table = output.format() == Format.table;
        if (table) {
            StatusFaults.print(meant, gpus, List.of(), clock.instant(), out());
            out().println();
            out().flush();
        }
        if (!dryRun && !agreed(meant)) {
            complain("nothing was cleared");
            return ExitCode.NOT_FIT;
        }
        List<FaultKey> cleared = dryRun ? List.of() : clear(node, meant);
        show(
                tree(meant, cleared, gpus),
                out -> out.println(
                        dryRun
                                ? "would clear " + CheckSummary.count(groups(meant), "fault") + ", cleared nothing"
                                : "cleared " + CheckSummary.count(groups(meant), "fault")));
        return ExitCode.OK;
    }

    private void validate() {
        boolean conditions = !checks.isEmpty() || !codes.isEmpty() || gpu != null;
        long ways = Stream.of(conditions, event != null, all).filter(way -> way).count();
        if (ways != 1) {
            throw new UserError("expected one of: --check, --code and --gpu together; --event; --all");
        }
        String line = reason.strip();
        if (line.isEmpty() || line.length() > LONGEST_REASON || line.chars().anyMatch(Character::isISOControl)) {
            throw new UserError("--reason: expected 1 to " + LONGEST_REASON + " characters in one line");
        }
    }

    private Selection selection(ClientGpus gpus) {
        List<Entity> names = gpu == null ? List.of() : gpus.named(gpu);
        return new Selection(
                checks.stream().flatMap(EventsConditions::names).toList(), codes, names, Optional.ofNullable(event));
    }

    private boolean agreed(List<Fault> meant) {
        if (yes) {
            return true;
        }
        String text = "Mark " + (groups(meant) == 1 ? "this fault" : "these faults") + " as repaired? [y/N] ";
        return answer(spec.commandLine().getErr(), text)
                .orElseThrow(
                        () -> new UserError("there is no terminal for the confirmation: expected --yes, or --dry-run"));
    }

    /** Asks on standard input; empty if that is no terminal. */
    private static Optional<Boolean> answer(PrintWriter err, String text) {
        if (!terminal()) {
            return Optional.empty();
        }
        err.print(text);
        err.flush();
        try {
            String answer = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
            return Optional.of(
                    answer != null && Set.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT)));
        } catch (IOException e) {
            return Optional.of(false);
        }
    }

    private static boolean terminal() {
        try {
            String target = Files.readSymbolicLink(STANDARD_INPUT).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private List<FaultKey> clear(NodeClient node, List<Fault> meant) {
        List<FaultKey> cleared = new ArrayList<>();
        for (SetHealthyRequest request : Selection.requests(meant, reason.strip())) {
            queries(node).setHealthy(request).getClearedList().forEach(key -> cleared.add(FaultCodec.fromWire(key)));
        }
        return cleared;
    }

    /** Returns the number of faults as users see them: one for each event. */
    static long groups(List<Fault> faults) {
        return faults.stream().map(Fault::cause).distinct().count();
    }

    private Map<String, Object> tree(List<Fault> meant, List<FaultKey> cleared, ClientGpus gpus) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("reason", reason.strip());
        tree.put("dryRun", dryRun);
        tree.put("faults", FaultView.trees(meant, gpus.parts(), List.of()));
        tree.put("cleared", cleared.stream().map(SetHealthyCommand::tree).toList());
        return tree;
    }

    private static Map<String, Object> tree(FaultKey key) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("agent", key.agent());
        tree.put("component", key.componentClass());
        tree.put("check", key.checkName());
        tree.put("code", key.errorCode());
        tree.put("entityType", key.entity().type());
        tree.put("entity", key.entity().value());
        return tree;
    }

    /**
     * The selection of current faults; an empty condition matches all. Pure.
     *
     * @param checks names in events
     * @param gpu the names of a GPU; a fault concerns it if its event names it, even if the fault names a part alone
     * @param event the ID of the event that raised it
     */
    record Selection(List<String> checks, List<String> codes, List<Entity> gpu, Optional<String> event) {

        List<Fault> of(List<Fault> faults) {
            return faults.stream()
                    .filter(fault ->
                            checks.isEmpty() || checks.contains(fault.key().checkName()))
                    .filter(fault ->
                            codes.isEmpty() || codes.contains(fault.key().errorCode()))
                    .filter(fault ->
                            gpu.isEmpty() || fault.cause().entities().stream().anyMatch(gpu::contains))
                    .filter(fault -> event.isEmpty() || fault.cause().id().equals(event.get()))
                    .toList();
        }

        /** Returns requests that name these faults, and none that is raised after they were listed. */
        static List<SetHealthyRequest> requests(List<Fault> faults, String reason) {
            List<SetHealthyRequest> requests = new ArrayList<>();
            // A single request can name exactly the faults of one check with one code.
            FaultKey.entitiesByCode(faults).forEach((group, entities) -> {
                SetHealthyRequest.Builder request = SetHealthyRequest.newBuilder()
                        .setReason(reason)
                        .setAgent(group.agent())
                        .setComponentClass(group.componentClass())
                        .setCheckName(group.checkName())
                        .addErrorCodes(group.errorCode());
                entities.forEach(entity -> request.addEntities(HealthEventCodec.toWire(entity)));
                requests.add(request.build());
            });
            return requests;
        }
    }
}
