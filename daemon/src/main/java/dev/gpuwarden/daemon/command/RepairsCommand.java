package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.repair.RepairHistory;
import dev.gpuwarden.daemon.repair.RepairHistory.Repair;
import dev.gpuwarden.daemon.store.StoreSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what the daemon of a server without Kubernetes has repaired. */
@Command(
        name = "repairs",
        description = {
            "Show the repairs of this server by its own daemon: resets and reboots, with their reasons, steps and times.",
            "The repairs of a cluster's nodes are the aggregator's: 'gpuwarden explain NODE' shows those."
        },
        exitCodeList = {"0:the record was read; it may be empty", "2:wrong usage, or the record cannot be read"})
public final class RepairsCommand extends FileCommand {

    private final ZoneId zone;

    @Parameters(
            arity = "0..1",
            paramLabel = "RECORD",
            description =
                    "File of repairs (default: the one beside the event store, with -repairs.jsonl in place of .db).")
    @Nullable Path record;

    @Option(
            names = "--store.path",
            defaultValue = "/var/lib/gpuwarden/events.db",
            paramLabel = "FILE",
            description = "File of the daemon's event store (default: ${DEFAULT-VALUE}).")
    Path store = Path.of("");

    public RepairsCommand(ZoneId zone) {
        this.zone = zone;
    }

    @Override
    public Integer call() {
        Path file = Optional.ofNullable(record)
                .or(() -> StoreSettings.at(store).repairsFile())
                .orElseThrow(() -> new UserError("RECORD: expected a file, since --store.path is :memory:"));
        try {
            List<Repair> repairs = RepairHistory.read(file);
            show(RepairHistory.tree(repairs), out -> print(file, repairs, out));
            return ExitCode.OK;
        } catch (IOException e) {
            throw new UserError("cannot read " + file + ": " + e.getMessage());
        }
    }

    private void print(Path file, List<Repair> repairs, PrintWriter out) {
        if (repairs.isEmpty()) {
            out.println("no repair has begun on this server (" + file
                    + "); with --repair.mode=dry-run none begins, and the log of the daemon has what it would do");
            return;
        }
        Table table = new Table("BEGAN", "REPAIR", "FOR", "OUTCOME", "TOOK", "DETAIL");
        for (Repair repair : repairs) {
            Style style = repair.outcome().equals("succeeded") ? Style.GOOD : Style.WARNING;
            table.row(
                    ClientTimes.local(repair.began(), zone),
                    repair.repair(),
                    repair.why(),
                    Table.styled(style, repair.outcome()),
                    repair.took(),
                    repair.detail());
        }
        table.print(out);
        Repair last = repairs.get(repairs.size() - 1);
        out.println("\nsteps of the last one:");
        last.steps().forEach(step -> out.println("  " + Table.escape(step)));
    }
}
