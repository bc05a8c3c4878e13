package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.daemon.view.FaultView;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Current faults for people: a row for each, then what each says and what to do. */
final class StatusFaults {

    private StatusFaults() {}

    static void print(Collection<Fault> faults, ClientGpus gpus, Instant now, PrintWriter out) {
        List<Map<String, Object>> trees = FaultView.trees(faults);
        Table table = new Table("FAULT", "CODE", "OF", "SEVERITY", "AGE", "SEEN", "ACTION", "EVENT");
        for (Map<String, Object> fault : trees) {
            table.row(
                    text(fault, "check"),
                    String.join(", ", texts(fault, "codes")),
                    gpus.subject(entities(fault)),
                    fatal(fault) ? Table.styled(Style.BAD, "fatal") : Table.styled(Style.WARNING, "not fatal"),
                    ClientTimes.age(Duration.between(Instant.parse(text(fault, "since")), now)),
                    text(fault, "occurrences") + "x",
                    text(fault, "action"),
                    text(fault, "event"));
        }
        table.print(out);
        out.println();
        for (Map<String, Object> fault : trees) {
            out.println((fatal(fault) ? "FATAL" : "FAULT") + "  " + Table.escape(text(fault, "check")) + "  "
                    + Table.escape(text(fault, "message")));
            out.println("       " + Table.escape(text(fault, "action") + ": " + text(fault, "advice")));
        }
    }

    private static boolean fatal(Map<String, Object> fault) {
        return Boolean.TRUE.equals(fault.get("fatal"));
    }

    private static String text(Map<String, Object> fault, String key) {
        return String.valueOf(fault.get(key));
    }

    private static List<String> texts(Map<String, Object> fault, String key) {
        return ((List<?>) java.util.Objects.requireNonNull(fault.get(key)))
                .stream().map(String::valueOf).toList();
    }

    private static List<Entity> entities(Map<String, Object> fault) {
        return ((List<?>) java.util.Objects.requireNonNull(fault.get("entities")))
                .stream()
                        .map(entity -> (Map<?, ?>) entity)
                        .map(entity ->
                                new Entity(String.valueOf(entity.get("type")), String.valueOf(entity.get("value"))))
                        .toList();
    }
}
