package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The requirements of real nodes on this machine. */
final class NodeNeeds {

    static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    static final Path BUSYBOX = Path.of("/bin/busybox");

    /** An ELF header of a program with a dynamic loader names it on its first page. */
    private static final int FIRST_PAGE = 4_096;

    /** Debian's packages, by files that they install. */
    private static final Map<String, List<String>> PACKAGES = new TreeMap<>(Map.of(
            "containernetworking-plugins", List.of("/usr/lib/cni/ptp"),
            "nftables", List.of("/usr/sbin/nft", "/sbin/nft"),
            "iproute2", List.of("/sbin/ip", "/usr/sbin/ip"),
            "runc", List.of("/usr/sbin/runc", "/usr/bin/runc"),
            "util-linux", List.of("/usr/bin/unshare")));

    private NodeNeeds() {}

    /** Returns a sentence with all missing requirements; empty when nodes can run here. */
    static Optional<String> missing(Binaries binaries) {
        List<String> missing = new ArrayList<>();
        if (!"root".equals(System.getProperty("user.name"))) {
            missing.add("a node's namespaces and cgroups need root, this is user " + System.getProperty("user.name"));
        }
        if (cgroups().noneMatch(Files::isWritable)) {
            missing.add("no cgroup hierarchy below " + CGROUPS + " that can be written");
        }
        List<String> packages = new ArrayList<>(PACKAGES.entrySet().stream()
                .filter(entry -> entry.getValue().stream().map(Path::of).noneMatch(Files::isExecutable))
                .map(Map.Entry::getKey)
                .toList());
        if (!isStatic(BUSYBOX)) {
            packages.add("busybox-static");
        }
        if (!packages.isEmpty()) {
            String names = String.join(" ", packages);
            missing.add("no " + names + " (Debian: apt-get install --no-install-recommends " + names + ")");
        }
        binaries.missingForNodes().ifPresent(missing::add);
        return missing.isEmpty()
                ? Optional.empty()
                : Optional.of(missing.stream().collect(Collectors.joining("; ")));
    }

    private static Stream<Path> cgroups() {
        return Stream.of(CGROUPS.resolve("cgroup.procs"), CGROUPS.resolve("memory/cgroup.procs"));
    }

    private static boolean isStatic(Path program) {
        if (!Files.isExecutable(program)) {
            return false;
        }
        try (InputStream in = Files.newInputStream(program)) {
            return !new String(in.readNBytes(FIRST_PAGE), StandardCharsets.ISO_8859_1).contains("/ld-linux");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
