package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.ApiAudit.Request;
import dev.gpuwarden.testkit.cluster.ApiAudit.Right;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * The table of the rights that the shipped roles grant, each with the test that uses it: `packaging/src/test/rights.tsv`. One test
 * compares it with the manifests. Each test that it names compares its rows with the API server's log of requests.
 */
public final class RightsTable {

    private static final String NOTHING = "-";
    private static final int COLUMNS = 7;

    /** The API server may write a line of its log a moment after the end of the answer. */
    private static final Duration LOGGED = Duration.ofSeconds(20);

    private static final Set<String> ACCOUNTS = Set.of("gpuwarden", "gpuwarden-aggregator", "gpuwarden-maintenance");

    private RightsTable() {}

    /**
     * A line.
     *
     * @param manifest the file with the role, below `packaging/src/main/kubernetes`
     * @param test the simple name of a test class that uses the right
     */
    public record Row(String manifest, Right right, String test) {}

    /** @param repository the folder of the repository */
    public static List<Row> read(Path repository) {
        Path table = repository.resolve("packaging/src/test/rights.tsv");
        return Unchecked.get(() -> Files.readAllLines(table)).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(RightsTable::row)
                .toList();
    }

    /**
     * Fails if a right of a test class was needed by no request since then, or if the roles refused a request. Resources that the table does
     * not have are those of users, whose roles a test makes.
     *
     * @param repository the folder of the repository
     * @param test simple name of the test class
     * @param since an earlier {@link ApiAudit#end()}
     */
    public static void check(Path repository, String test, ApiAudit audit, long since) {
        List<Row> table = read(repository);
        List<Right> rights = table.stream()
                .filter(row -> row.test().equals(test))
                .map(Row::right)
                .toList();
        if (rights.isEmpty()) {
            throw new AssertionError(test + ": expected a row in rights.tsv, seen none");
        }
        Await.until(
                () -> unused(rights, audit.since(since)).isEmpty(),
                LOGGED,
                () -> "a request for each right that rights.tsv ascribes to " + test + ", none for "
                        + unused(rights, audit.since(since)));
        List<Request> refused = audit.since(since).stream()
                .filter(request -> !request.permitted() && ACCOUNTS.contains(request.account()))
                .filter(request ->
                        table.stream().anyMatch(row -> row.right().resource().equals(request.resource())))
                .toList();
        if (!refused.isEmpty()) {
            throw new AssertionError(test + ": expected roles that permit each request, seen refusals of " + refused);
        }
    }

    private static List<Right> unused(List<Right> rights, List<Request> requests) {
        return rights.stream()
                .filter(right -> requests.stream().noneMatch(right::permits))
                .toList();
    }

    private static Row row(String line) {
        String[] cells = line.split("\t", -1);
        if (cells.length != COLUMNS) {
            throw new IllegalArgumentException("rights.tsv: expected " + COLUMNS + " columns, seen \"" + line + "\"");
        }
        return new Row(cells[0], new Right(cells[1], filled(cells[2]), cells[3], cells[4], filled(cells[5])), cells[6]);
    }

    private static String filled(String cell) {
        return cell.equals(NOTHING) ? "" : cell;
    }
}
