package dev.gpuwarden.daemon.command;

import com.google.protobuf.Duration;
import dev.gpuwarden.api.v1.ReleaseGpusRequest;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.GpuFileHolders;
import dev.gpuwarden.checks.process.OpenFiles;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.grpc.SocketListener;
import dev.gpuwarden.daemon.reset.KernelClients;
import dev.gpuwarden.daemon.reset.ResettableNode;
import dev.gpuwarden.daemon.view.ProcessNames;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** This node, for a reset of its GPUs. */
final class ResetNode implements ResettableNode {

    private static final long HOLD_SECONDS = 3600;
    private static final String ERROR_LEVEL = "<3>";

    private final Optional<Path> socket;
    private final NodeSnapshot seen;
    private final List<PciAddress> targets;
    private final Set<Path> files;
    private final NodePaths paths;
    private final ProcessOwners owners;
    private final GpuFileHolders holders;
    private final Path kernelLog;
    private final Function<List<String>, ResettableNode.Verified> checks;
    private final GateOptions gate;

    /**
     * @param socket the daemon's; empty if it has none
     * @param seen the node before the reset
     * @param targets addresses of the GPUs
     * @param files of the GPUs
     * @param kernelLog takes the acknowledgement, /dev/kmsg
     * @param checks returns the verdict on these GPUs
     * @param gate of the janitor's Job
     */
    ResetNode(
            Optional<Path> socket,
            NodeSnapshot seen,
            List<PciAddress> targets,
            Set<Path> files,
            NodePaths paths,
            Path kernelLog,
            Function<List<String>, ResettableNode.Verified> checks,
            GateOptions gate) {
        this.socket = socket;
        this.seen = seen;
        this.targets = List.copyOf(targets);
        this.files = Set.copyOf(files);
        this.paths = paths;
        this.owners = new ProcessOwners(paths);
        this.holders = new GpuFileHolders(paths, owners);
        this.kernelLog = kernelLog;
        this.checks = checks;
        this.gate = gate;
    }

    @Override
    public Reading<ResettableNode.Release> release(List<String> uuids) throws InterruptedException {
        if (socket.isEmpty()) {
            return Reading.of(new NoDaemon("--grpc.socket=none: no daemon was asked"));
        }
        Reading<ReleaseCall> call = ReleaseCall.open(
                socket.get(),
                ReleaseGpusRequest.newBuilder()
                        .addAllGpuUuids(uuids)
                        .setReason("a reset")
                        .setHold(Duration.newBuilder().setSeconds(HOLD_SECONDS))
                        .build());
        if (call instanceof Reading.Present<ReleaseCall> open) {
            return Reading.of(new Daemon(open.value()));
        }
        Reading.Absent<ReleaseCall> absent = (Reading.Absent<ReleaseCall>) call;
        return absent.cause() == Absence.NO_DATA
                ? Reading.of(new NoDaemon(absent.detail()))
                : Reading.absent(absent.cause(), 0, absent.detail());
    }

    private record Daemon(ReleaseCall call) implements ResettableNode.Release {
        @Override
        public String text() {
            return "the daemon holds none of the GPUs";
        }

        @Override
        public Optional<String> lost() {
            return call.lost();
        }

        @Override
        public void close() {
            call.close();
        }
    }

    /** Without a daemon, the search for open files still finds one that does not answer. */
    private record NoDaemon(String text) implements ResettableNode.Release {
        @Override
        public Optional<String> lost() {
            return Optional.empty();
        }

        @Override
        public void close() {}
    }

    @Override
    public Reading<List<String>> holders(boolean all) {
        Reading<Set<Integer>> pids = holders.of(files);
        if (pids instanceof Reading.Absent<Set<Integer>> absent) {
            return Reading.absent(absent.cause(), absent.code(), absent.detail());
        }
        return Reading.of(withThisCommand(names(pids.asOptional().orElseThrow(), all)));
    }

    /**
     * The processes that hold the GPUs before a reset.
     *
     * @param daemon whether the daemon that lets go first is one of them
     * @param others the names of the others
     */
    record Before(boolean daemon, List<String> others) {}

    /** Returns the processes that hold the GPUs now. A daemon that cannot be recognized is among the others. */
    Reading<Before> before() {
        return holders.of(files).map(pids -> {
            OptionalInt daemon = socket.map(SocketListener::pid).orElse(OptionalInt.empty());
            Set<Integer> others = pids.stream()
                    .filter(pid -> daemon.isEmpty() || !isOf(daemon.getAsInt(), pid))
                    .collect(Collectors.toSet());
            return new Before(others.size() < pids.size(), withThisCommand(names(others, false)));
        });
    }

    /** The daemon ends the processes of its checks before it lets go. */
    private static boolean isOf(int daemon, int pid) {
        return pid == daemon
                || ProcessHandle.of(pid)
                        .flatMap(ProcessHandle::parent)
                        .filter(parent -> parent.pid() == daemon)
                        .isPresent();
    }

    /** Adds this command behind the sorted names, all of which begin with "process". */
    private List<String> withThisCommand(List<String> names) {
        if (!OpenFiles.ofThisProcess(files).isEmpty()) {
            names.add("this command, whose call into the driver has not returned");
        }
        return names;
    }

    @Override
    public Reading<KernelClients> kernelClients() {
        return KernelClients.read(paths.sysfs()).map(modules -> new KernelClients(modules, drmHolders()));
    }

    /** Returns the processes that have a DRM device of these GPUs open, as far as they can be found. */
    private List<String> drmHolders() {
        Set<Path> devices = new HashSet<>();
        for (PciAddress gpu : targets) {
            Path drm = paths.sysfs().resolve("bus/pci/devices/" + gpu + "/drm");
            try (DirectoryStream<Path> names = Files.newDirectoryStream(drm, "{card,renderD}*")) {
                names.forEach(name -> devices.add(paths.devices().resolve("dri").resolve(name.getFileName())));
            } catch (IOException | DirectoryIteratorException e) {
                // A GPU without nvidia_drm has none.
            }
        }
        devices.removeIf(file -> !Files.exists(file));
        return names(
                OpenFiles.filesByHolder(devices).asOptional().orElse(Map.of()).keySet(), true);
    }

    private List<String> names(Collection<Integer> pids, boolean all) {
        Map<Integer, Long> found = new HashMap<>();
        pids.forEach(pid -> found.put(pid, 0L));
        List<String> names = new ArrayList<>();
        owners.lookUp(found).forEach((pid, facts) -> {
            if (all || !ProcessNames.isProgram(pid, facts, ProcessNames.PERSISTENCE_DAEMON)) {
                names.add(ProcessNames.text(pid, facts));
            }
        });
        names.sort(null);
        return names;
    }

    @Override
    public Optional<String> withheld() throws InterruptedException {
        return gate.refusal();
    }

    @Override
    public Set<PciAddress> addresses(Collection<String> uuids) {
        return seen.gpus().stream()
                .map(GpuSnapshot::identity)
                .filter(gpu -> gpu.uuid().asOptional().filter(uuids::contains).isPresent())
                .flatMap(gpu -> gpu.pci().asOptional().stream())
                .collect(Collectors.toSet());
    }

    @Override
    public ResettableNode.Verified verify(List<String> uuids) {
        return checks.apply(uuids);
    }

    @Override
    public Map<String, Reading<Long>> persistenceModes() {
        Map<String, Reading<Long>> modes = new HashMap<>();
        for (GpuSnapshot gpu : seen.gpus()) {
            GpuFrame frame = gpu.frame();
            Reading<Long> mode = frame.present(GpuMetric.PERSISTENCE_MODE)
                    ? Reading.of(frame.raw(GpuMetric.PERSISTENCE_MODE))
                    : Reading.absent(Absence.NO_DATA, 0, "the driver does not report persistence mode");
            gpu.identity().uuid().asOptional().ifPresent(uuid -> modes.put(uuid, mode));
        }
        return modes;
    }

    /** Writes the line as one record; only root may, and the daemon accepts it from root alone. */
    @Override
    public Optional<String> acknowledge(String line) {
        try {
            Files.write(
                    kernelLog, (ERROR_LEVEL + line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.WRITE);
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(
                    kernelLog + " cannot be written: " + e.getClass().getSimpleName() + " " + e.getMessage());
        }
    }
}
