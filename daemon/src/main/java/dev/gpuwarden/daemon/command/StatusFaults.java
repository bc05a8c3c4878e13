package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.view.CheckSummary;
import dev.gpuwarden.daemon.view.FaultView;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Current faults as text: a row for each, then the message of each, and each remedy once. Bounded, as strangers report
 * faults: left-out faults are counted, and `-o json` has all.
 */
final class StatusFaults {

    static final int MOST_ROWS = 50;
    static final int LONGEST_MESSAGE = 400;
    private static final int LONGEST_CELL = 60;

    private StatusFaults() {}

    static void print(Collection<Fault> faults, ClientGpus gpus, List<Damping> damping, Instant now, PrintWriter out) {
        List<Map<String, Object>> all = FaultView.trees(faults, gpus.parts(), damping);
        List<Map<String, Object>> shown = all.subList(0, Math.min(all.size(), MOST_ROWS));
        Table table = new Table("FAULT", "CODE", "PART", "SEVERITY", "AGE", "COUNT", "ACTION", "EVENT");
        for (Map<String, Object> fault : shown) {
            table.row(
                    cell(text(fault, "check")),
                    cell(String.join(", ", texts(fault, "codes"))),
                    cell(text(fault, "subject")),
                    severity(fault),
                    ClientTimes.age(Duration.between(Instant.parse(text(fault, "since")), now)),
                    text(fault, "occurrences") + "x",
                    storedOnly(fault) ? "none" : cell(text(fault, "action")),
                    cell(text(fault, "event")));
        }
        table.print(out);
        if (shown.size() < all.size()) {
            List<Map<String, Object>> rest = all.subList(MOST_ROWS, all.size());
            long fatal = rest.stream().filter(StatusFaults::fatal).count();
            out.println("and " + CheckSummary.count(rest.size(), "more fault") + ", " + fatal
                    + " of them fatal; 'gpuwarden status -o json' has all");
        }
        out.println();
        messages(shown, out);
    }

    private static void messages(List<Map<String, Object>> faults, PrintWriter out) {
        Map<List<Object>, List<Map<String, Object>>> byAdvice = new LinkedHashMap<>();
        faults.forEach(fault -> byAdvice.computeIfAbsent(
                        List.of(fatal(fault), text(fault, "action"), text(fault, "advice")), key -> new ArrayList<>())
                .add(fault));
        for (List<Map<String, Object>> alike : byAdvice.values()) {
            // A reporter that floods has one sentence for hundreds of faults.
            Map<List<String>, Integer> lines = new LinkedHashMap<>();
            alike.forEach(fault -> lines.merge(lines(fault), 1, Integer::sum));
            lines.forEach((said, count) -> {
                out.println(said.get(0) + (count > 1 ? "  (" + count + " faults)" : ""));
                said.stream().skip(1).forEach(out::println);
            });
            Map<String, Object> first = alike.get(0);
            String advice = cut(text(first, "advice"), LONGEST_MESSAGE);
            out.println(
                    "       " + Table.escape(storedOnly(first) ? advice : cell(text(first, "action")) + ": " + advice));
        }
    }

    private static List<String> lines(Map<String, Object> fault) {
        List<String> lines = new ArrayList<>();
        lines.add((fatal(fault) ? "FATAL" : "FAULT") + "  " + Table.escape(cell(text(fault, "check"))) + "  "
                + Table.escape(cut(text(fault, "message"), LONGEST_MESSAGE)));
        if (fault.get("damping") instanceof Map<?, ?> state) {
            lines.add("       " + Table.escape(String.valueOf(state.get("text"))));
        }
        return lines;
    }

    private static Object severity(Map<String, Object> fault) {
        String word = fatal(fault) ? "fatal" : "not fatal";
        return storedOnly(fault)
                ? Table.styled(Style.FAINT, word + ", stored only")
                : Table.styled(fatal(fault) ? Style.BAD : Style.WARNING, word);
    }

    private static String cell(String text) {
        return Text.truncate(text, LONGEST_CELL);
    }

    private static String cut(String text, int most) {
        return text.length() <= most ? text : Text.head(text, most) + "… (" + text.length() + " characters)";
    }

    private static boolean storedOnly(Map<String, Object> fault) {
        return text(fault, "strategy").startsWith("store_");
    }

    private static boolean fatal(Map<String, Object> fault) {
        return Boolean.TRUE.equals(fault.get("fatal"));
    }

    private static String text(Map<String, Object> fault, String key) {
        return String.valueOf(fault.get(key));
    }

    private static List<String> texts(Map<String, Object> fault, String key) {
        return ((List<?>) Objects.requireNonNull(fault.get(key)))
                .stream().map(String::valueOf).toList();
    }
}
