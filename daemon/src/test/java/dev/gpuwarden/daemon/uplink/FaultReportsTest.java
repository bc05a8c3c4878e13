package dev.gpuwarden.daemon.uplink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Faults of a node whose disk takes no events: no event reports their changes. */
class FaultReportsTest extends UplinkFixture {

    private static List<String> reported(FaultReports reports) {
        reports.begin();
        List<String> faults = new ArrayList<>();
        while (reports.pages().hasNext()) {
            NodeReport page = reports.pages().next();
            page.getFaults().getFaultsList().stream()
                    .map(FaultCodec::fromWire)
                    .forEach(fault -> faults.add(
                            fault.key().entity().value() + " " + fault.cause().fatal()));
        }
        return faults;
    }

    private void hold(HealthEvent event) {
        assertThat(store.accept(event)).isEqualTo(Receipt.HELD);
    }

    @Test
    void eachChangeByAHeldEventIsReportedAgain() throws Exception {
        FaultReports reports = new FaultReports(node(), () -> 0);
        store.accept(event("a").build());
        assertThat(reported(reports)).containsExactly("GPU-a false");
        assertThat(reports.outdated()).isFalse();
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("events.db"));
                Statement statement = other.createStatement()) {
            statement.execute("BEGIN EXCLUSIVE");
            hold(event("b").build());
            hold(event("c").fatal(true).build());
            assertThat(reports.outdated()).isTrue();
            assertThat(reported(reports)).containsExactlyInAnyOrder("GPU-a false", "GPU-b false", "GPU-c true");
            assertThat(reports.outdated()).isFalse();
            hold(event("b").id("worse").fatal(true).build());
            assertThat(reports.outdated()).as("a held fault that becomes fatal").isTrue();
            assertThat(reported(reports)).contains("GPU-b true");
            hold(event("a").id("healthy").healthy(true).build());
            assertThat(reports.outdated())
                    .as("a stored fault that a held event ends")
                    .isTrue();
            assertThat(reported(reports)).containsExactlyInAnyOrder("GPU-b true", "GPU-c true");
        }
    }
}
