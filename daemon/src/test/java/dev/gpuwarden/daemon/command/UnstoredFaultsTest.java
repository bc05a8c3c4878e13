package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.ListFaultsResponse;
import dev.gpuwarden.api.v1.Node;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.daemon.view.FaultView;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Faults of events that a full disk has not taken: their events have no numbers yet. */
class UnstoredFaultsTest {

    private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

    private static HealthEvent xid(String code, RecommendedAction action, String gpu) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .id("id-" + code)
                .fatal(true)
                .errorCodes(List.of(code))
                .entities(List.of(new Entity(Entity.PCI, "0000:" + gpu + ":00"), Entity.gpu("GPU-" + gpu)))
                .action(action)
                .nodeName("node-7")
                .build();
    }

    private static List<Fault> faults() {
        FaultTable table = new FaultTable();
        table.apply(xid("79", RecommendedAction.RESTART_BM, "5b"), 0, NOW);
        table.apply(xid("48", RecommendedAction.COMPONENT_RESET, "9b"), 0, NOW);
        return table.faults();
    }

    @Test
    void faultsOfTwoGpusStayTwo() {
        for (List<Fault> faults : List.of(
                faults(),
                faults().stream()
                        .map(FaultCodec::toWire)
                        .map(FaultCodec::fromWire)
                        .toList())) {
            List<Map<String, Object>> trees = FaultView.trees(faults, PartNames.NONE, List.of());
            assertThat(trees)
                    .extracting(tree -> tree.get("codes") + " " + tree.get("action"))
                    .containsExactlyInAnyOrder("[79] restart-bm", "[48] component-reset");
            assertThat(SetHealthyCommand.groups(faults)).isEqualTo(2);
        }
    }

    @Test
    void theFirstLineOfTheStatusReportsTheDisk() {
        ListFaultsResponse wire = ListFaultsResponse.newBuilder()
                .addAllFaults(faults().stream().map(FaultCodec::toWire).toList())
                .build();
        Node node = Node.newBuilder()
                .setNotStored("disk full (/var/lib/gpuwarden, 0 B free)")
                .build();
        StatusReport report = StatusReport.of(node, List.of(), wire, List.of(), false);
        assertThat(report.fatal()).isEqualTo(2);
        assertThat(report.tree())
                .containsEntry("storing", false)
                .containsEntry("notStored", "disk full (/var/lib/gpuwarden, 0 B free)");
        StringWriter text = new StringWriter();
        new StatusText(report).print(NOW, new PrintWriter(text, true));
        assertThat(text.toString().lines().findFirst())
                .contains("WARNING     events are not stored: disk full (/var/lib/gpuwarden, 0 B free);"
                        + " they are lost if the daemon ends");
    }
}
