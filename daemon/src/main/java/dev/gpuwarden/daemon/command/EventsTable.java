package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.util.Text;
import java.io.PrintWriter;
import java.time.ZoneId;
import java.util.List;

/** Events as a table with a row for each. */
final class EventsTable {

    /** The length of a message in a row; {@code events show} prints all of it. */
    private static final int LONGEST_MESSAGE = 100;

    private EventsTable() {}

    static void print(List<StoredEvent> events, ClientGpus gpus, ZoneId zone, PrintWriter out) {
        Table table = new Table("TIME", "STATUS", "CHECK", "CODE", "PART", "ACTION", "COUNT", "EVENT", "MESSAGE");
        for (StoredEvent stored : events) {
            HealthEvent event = stored.event();
            table.row(
                    ClientTimes.local(stored.received(), zone),
                    Table.styled(style(event), word(event)),
                    event.checkName(),
                    String.join(", ", event.errorCodes()),
                    gpus.subject(event.entities()),
                    event.healthy() ? "" : ActionText.name(event),
                    stored.occurrences() + "x",
                    event.id(),
                    event.message().isEmpty() && event.healthy() ? "recovered" : shortened(event.message()));
        }
        table.print(out);
    }

    static String word(HealthEvent event) {
        if (event.healthy()) {
            return "healthy";
        }
        return event.fatal() ? "fatal" : "fault";
    }

    static Style style(HealthEvent event) {
        if (event.healthy()) {
            return Style.GOOD;
        }
        return event.fatal() ? Style.BAD : Style.WARNING;
    }

    static String shortened(String message) {
        return Text.truncate(message, LONGEST_MESSAGE);
    }
}
