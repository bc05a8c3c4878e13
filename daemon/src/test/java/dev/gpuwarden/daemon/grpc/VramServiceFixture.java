package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.RunningProcesses;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.daemon.vram.action.ProcessSet;
import dev.gpuwarden.daemon.vram.notice.NoticeBoard;
import dev.gpuwarden.daemon.vram.notice.NoticeSignals;
import dev.gpuwarden.daemon.vram.reserve.Applicants;
import dev.gpuwarden.daemon.vram.reserve.ReservationDesk;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.watch.LocalCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;

/** A served node with a VRAM watchdog, whose observations and decisions come from the test. The test's own process is in a unit. */
abstract class VramServiceFixture extends NodeServiceFixture {

    static final long MIB = 1 << 20;

    final List<GpuIdentity> gpus = new ArrayList<>();
    ReservationDesk desk;
    NoticeBoard board;

    @BeforeEach
    void watch() throws IOException {
        unit("0::/system.slice/batch.service\n");
        Applicants applicants = new Applicants(NodePaths.of(folder.resolve("proc"), folder, folder), List.of());
        desk = new ReservationDesk(applicants, WatchdogRules.DEFAULT, Clock.systemUTC());
        ProcessSet processes = new ProcessSet(
                () -> {
                    throw new AssertionError("no signal is configured");
                },
                new RunningProcesses(folder));
        board = new NoticeBoard(
                WatchdogRules.DEFAULT.recycle(),
                false,
                applicants,
                new NoticeSignals(false, processes, (gpu, tenant) -> Optional.empty()),
                Optional.empty(),
                Clock.systemUTC());
        node.calls = new LocalCalls(desk, board);
        node.node.get().gpus().forEach(gpu -> gpus.add(gpu.identity()));
    }

    final void unit(String cgroup) throws IOException {
        process(ProcessHandle.current().pid(), cgroup);
    }

    final void process(long pid, String cgroup) throws IOException {
        Path proc = Files.createDirectories(folder.resolve("proc").resolve(Long.toString(pid)));
        Files.writeString(proc.resolve("comm"), "java\n");
        Files.writeString(proc.resolve("cgroup"), cgroup);
        Files.writeString(proc.resolve("stat"), pid + " (java) S 1" + " 0".repeat(17) + " 100 0 0\n");
    }
}
