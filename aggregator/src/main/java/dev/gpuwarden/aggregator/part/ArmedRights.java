package dev.gpuwarden.aggregator.part;

import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.TsvResource;
import java.util.ArrayList;
import java.util.List;

/**
 * The rights that an armed aggregator needs beyond those of a dry run, as the table `rights.tsv` has them by feature. The manifests
 * grant them with the component that arms the feature. The check runs once, at the start; otherwise the first action on each node
 * would fail.
 */
public final class ArmedRights {

    private static final System.Logger LOG = System.getLogger(ArmedRights.class.getName());

    /** The table's word for the namespace of the aggregator, or of the locks of nodes. */
    private static final String GIVEN = "given";

    static final List<Row> ROWS = List.copyOf(TsvResource.read(ArmedRights.class, "rights.tsv", 7, Row::of));

    /**
     * A row of the table.
     *
     * @param manifest the file that grants the right, below the folder of the manifests
     * @param account the ServiceAccount that needs it
     * @param given true if the right is for one namespace, which a setting gives
     */
    record Row(
            String feature, String manifest, String account, boolean given, String verb, String resource, String use) {

        private static Row of(String... cells) {
            return new Row(cells[0], cells[1], cells[2], cells[3].equals(GIVEN), cells[4], cells[5], cells[6]);
        }

        private Right right(String namespace) {
            int dot = resource.indexOf('.');
            return new Right(
                    verb,
                    dot < 0 ? "" : resource.substring(dot + 1),
                    dot < 0 ? resource : resource.substring(0, dot),
                    given ? namespace : "");
        }
    }

    private ArmedRights() {}

    private static List<Row> rows(String feature) {
        List<Row> rows =
                ROWS.stream().filter(row -> row.feature().equals(feature)).toList();
        if (rows.isEmpty()) {
            throw new IllegalArgumentException(feature + " is not in rights.tsv");
        }
        return rows;
    }

    /**
     * Returns the rights of a feature.
     *
     * @param namespace namespace of those that are for one
     */
    public static List<Right> of(String feature, String namespace) {
        return rows(feature).stream().map(row -> row.right(namespace)).toList();
    }

    /**
     * Returns the need of a setting for the rights of a feature.
     *
     * @param namespace namespace of those that are for one
     * @param other the setting that needs none of them
     */
    public static Need.Rights need(String setting, String feature, String namespace, String other) {
        return new Need.Rights(setting, of(feature, namespace), source(feature, namespace), other);
    }

    /** Returns the need of the mode armed of a feature. */
    public static Need.Rights armed(String feature) {
        return need("--" + feature + ".mode=armed", feature, "", "--" + feature + ".mode=dry-run");
    }

    /** Returns the manifests that grant the rights of a feature. A component has Roles for the aggregator's own namespace alone. */
    public static String source(String feature, String namespace) {
        List<Row> rows = rows(feature);
        String manifest = rows.get(0).manifest();
        int end = manifest.lastIndexOf('/');
        String component = end < 0 ? manifest : manifest.substring(0, end);
        if (rows.stream().allMatch(Row::given)) {
            return "a Role for them in the namespace " + namespace + "; " + component
                    + " has one for the aggregator's own namespace";
        }
        return end < 0 ? manifest : "their component " + component;
    }

    /**
     * Checks that this program has what its parts need. Throws {@link UserError} with all that is missing. Blocks for the API server's
     * answers. A right without an answer is logged, and does not count as missing.
     */
    public static void check(KubeClient api, List<? extends Part> parts) throws InterruptedException {
        List<String> missing = new ArrayList<>();
        try {
            for (Part part : parts) {
                for (Need need : part.needs()) {
                    missing.addAll(need.missing(api));
                }
            }
        } catch (ApiException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cannot read all rights of this program from the API server: " + e.getMessage());
        }
        if (!missing.isEmpty()) {
            throw new UserError(String.join("\n", missing));
        }
    }
}
