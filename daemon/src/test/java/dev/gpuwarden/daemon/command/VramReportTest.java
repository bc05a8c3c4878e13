package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.command.VramReport.By;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

class VramReportTest {

    private static final long GIB = 1L << 30;

    private static Owner owner(int pid) {
        return switch (pid) {
            case 11 -> NodeFixture.pod("team-a", "trainer-0", "main");
            case 12 -> NodeFixture.pod("team-a", "trainer-0", "sidecar");
            case 13 -> NodeFixture.pod("team-b", "server", "main");
            case 14 -> new Owner.Unit("jupyter.service");
            case 15 -> new Owner.Container("docker", "d".repeat(64));
            default -> new Owner.Unknown("no such process");
        };
    }

    private static NodeSnapshot node(GpuProcess... processes) {
        return NodeFixture.node(
                List.of(NodeFixture.gpu(0, GpuState.ANSWERING, NodeFixture.frame(), List.of(processes))));
    }

    private static final NodeSnapshot BUSY = node(
            NodeFixture.process(11, 10 * GIB),
            NodeFixture.process(12, 2 * GIB),
            NodeFixture.process(13, 16 * GIB),
            NodeFixture.process(14, 3 * GIB),
            NodeFixture.process(15, GIB / 2),
            NodeFixture.process(16, GIB / 4));

    private static VramReport report(By by, NodeSnapshot node, IntFunction<Owner> owners) {
        return new VramReport(by, node, NodeFixture.memory(node, owners));
    }

    private static String table(VramReport report) {
        StringWriter text = new StringWriter();
        report.print(new PrintWriter(text, true));
        return text.toString();
    }

    @Test
    void podsComeLargestFirstThenUnattributedThenTotal() {
        assertThat(table(report(By.pod, BUSY, VramReportTest::owner))).isEqualTo("""
                        GPU  POD                  PROCESSES  MEMORY    SHARE
                        0    team-b/server        1          16.0 GiB  20.1 %
                        0    team-a/trainer-0     2          12.0 GiB  15.1 %
                        0    jupyter.service      1          3.0 GiB   3.8 %
                        0    docker dddddddddddd  1          512 MiB   0.6 %
                        0    ? no such process    1          256 MiB   0.3 %
                        0    unattributed                    7.4 GiB   9.2 %
                        0    used of 79.6 GiB                39.1 GiB  49.1 %
                        """);
    }

    @Test
    void containersOfOnePodAreSeparateRows() {
        assertThat(table(report(By.container, BUSY, VramReportTest::owner)))
                .contains("team-a/trainer-0 main ", "team-a/trainer-0 sidecar ");
    }

    @Test
    void podsAndContainersAreOneRowEachByUnit() {
        assertThat(table(report(By.unit, BUSY, VramReportTest::owner)))
                .containsPattern("0 +\\(pods\\) +3 +28.0 GiB")
                .containsPattern("0 +\\(containers\\) +1 +512 MiB")
                .containsPattern("0 +jupyter.service +1 +3.0 GiB");
    }

    @Test
    void processesHaveNumberTypeCommandAndOwner() {
        assertThat(table(report(By.process, BUSY, VramReportTest::owner)))
                .containsPattern("0 +13 +compute +cmd +team-b/server main +16.0 GiB +20.1 %");
    }

    @Test
    void unknownSizesComeLastWithoutAFigure() {
        Reading<Integer> none = Reading.absent(Absence.NOT_SUPPORTED);
        GpuProcess silent = new GpuProcess(14, GpuProcess.Type.COMPUTE, Reading.absent(Absence.NO_DATA), none, none);
        VramReport report = report(By.pod, node(silent, NodeFixture.process(13, GIB)), VramReportTest::owner);
        assertThat(table(report).lines().map(line -> line.replaceAll(" +", " ")).toList())
                .containsSubsequence(
                        "0 team-b/server 1 1.0 GiB 1.3 %", "0 jupyter.service 1 no data", "0 unattributed no data");
        assertThat(report.complete()).isTrue();
    }

    @Test
    void unlistedProcessesShowTheCauseAndAreIncomplete() {
        GpuSnapshot gpu = NodeFixture.gpu(0);
        GpuSnapshot refused = new GpuSnapshot(
                gpu.identity(),
                gpu.state(),
                gpu.detail(),
                gpu.frame(),
                gpu.ageNanos(),
                Reading.absent(Absence.NO_PERMISSION, 4, "nvmlDeviceGetComputeRunningProcesses"),
                gpu.processesAgeNanos(),
                0,
                List.of());
        VramReport report = report(By.pod, NodeFixture.node(List.of(refused)), VramReportTest::owner);
        assertThat(table(report))
                .contains("holders unknown: nvmlDeviceGetComputeRunningProcesses: no permission (code 4)")
                .contains("used of 79.6 GiB");
        assertThat(report.complete()).isFalse();
        assertThat(Output.json(report.tree())).contains("\"absent\": \"no_permission\"");
    }

    @Test
    void hostileNamesDoNotReachTheTerminal() {
        VramReport report = report(By.pod, BUSY, pid -> new Owner.Unit("\u001b[2Jx\n0  root  1  80 GiB"));
        assertThat(table(report)).contains("\\u001b[2Jx\\u000a0  root").doesNotContain("\u001b");
        assertThat(Output.json(report.tree())).doesNotContain("\u001b");
    }

    @Test
    void jsonHasBytesOwnersAndCauses() {
        String json = Output.json(report(By.pod, BUSY, VramReportTest::owner).tree());
        assertThat(json)
                .contains("\"by\": \"pod\"", "\"complete\": true", "\"kind\": \"pod\"", "\"namespace\": \"team-b\"")
                .contains("\"usedBytes\": 17179869184", "\"unattributedBytes\": 7908697088")
                .doesNotContain("containerId\": {");
    }

    @Test
    void tableWithoutGpuPointsToScan() {
        assertThat(table(report(By.pod, NodeFixture.node(List.of()), VramReportTest::owner)))
                .isEqualTo("no GPU to show; 'gpuwarden scan' shows the cause\n");
    }
}
