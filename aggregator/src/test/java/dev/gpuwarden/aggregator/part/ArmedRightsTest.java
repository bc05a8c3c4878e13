package dev.gpuwarden.aggregator.part;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.part.ArmedRights.Row;
import dev.gpuwarden.testkit.cluster.ApiAudit.Right;
import dev.gpuwarden.testkit.cluster.RightsTable;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ArmedRightsTest {

    /** The namespace of the aggregator in the manifests. */
    private static final String NAMESPACE = "gpuwarden";

    @Test
    void eachRightOfTheTableIsGrantedByItsManifest() {
        assertThat(RightsTable.read(Path.of(System.getProperty("gpuwarden.repository"))).stream()
                        .map(row -> row.manifest() + " " + row.right()))
                .containsAll(
                        ArmedRights.ROWS.stream().map(ArmedRightsTest::granted).collect(Collectors.toSet()));
    }

    private static String granted(Row row) {
        return row.manifest() + " "
                + new Right(row.account(), row.given() ? NAMESPACE : "", row.verb(), row.resource(), "");
    }

    @Test
    void eachRightHasItsUse() {
        assertThat(ArmedRights.ROWS).allSatisfy(row -> assertThat(row.use()).isNotBlank());
    }
}
