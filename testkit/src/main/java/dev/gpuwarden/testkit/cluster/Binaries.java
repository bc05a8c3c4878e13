package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Resource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The binaries of Kubernetes: in the folder that the environment variable KUBEBUILDER_ASSETS names, else in the user's cache.
 * `./gpuwarden test` and the script `get-kubernetes` beside this class's resources fill the cache.
 */
public final class Binaries {

    private static final String SHIM = "containerd-shim-runc-v2";
    private static final List<String> API_SERVER = List.of("etcd", "kube-apiserver", "kubectl");

    private final Path folder;
    private final String wayToGet;

    private Binaries(Path folder, String wayToGet) {
        this.folder = folder;
        this.wayToGet = wayToGet;
    }

    /** Returns the binaries in their expected folder; files may be missing. */
    public static Binaries ofUser() {
        String assets = System.getenv("KUBEBUILDER_ASSETS");
        if (assets != null && !assets.isEmpty()) {
            return new Binaries(
                    Path.of(assets), "KUBEBUILDER_ASSETS names that folder; without it ./gpuwarden test builds them");
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        Path root =
                cache != null && !cache.isEmpty() ? Path.of(cache) : Path.of(System.getProperty("user.home"), ".cache");
        return in(root.resolve("gpuwarden").resolve("kubernetes").resolve(version()));
    }

    static Binaries in(Path folder) {
        return new Binaries(
                folder, "./gpuwarden test builds them, or set KUBEBUILDER_ASSETS to a folder that has them");
    }

    /**
     * Describes the binaries that are missing for an API server and these components, their expected place, and the way to get
     * them; empty when none is missing. Each test must check this itself: a class that is skipped as a whole is in no report.
     */
    public Optional<String> missing(Component... components) {
        return missing(Stream.concat(API_SERVER.stream(), Stream.of(components).map(Component::binary)), wayToGet);
    }

    /** Describes the binaries that are missing for a cluster with real nodes. */
    Optional<String> missingForNodes() {
        String containerd = containerd();
        Stream<String> ofNodes = Stream.of(
                "kubelet", "kube-proxy", containerd + "/containerd", containerd + "/" + SHIM, containerd + "/ctr");
        return missing(Component.values())
                .or(() -> missing(ofNodes, "get-kubernetes --nodes, in testkit's resources, builds them"));
    }

    private Optional<String> missing(Stream<String> names, String wayToGet) {
        List<String> missing =
                names.filter(name -> !Files.isExecutable(folder.resolve(name))).toList();
        return missing.isEmpty()
                ? Optional.empty()
                : Optional.of("no " + String.join(", ", missing) + " in " + folder.toAbsolutePath() + ": " + wayToGet);
    }

    /** @throws UserError when any of them is missing, with the text of {@link #missing} */
    void need(Component... components) {
        missing(components).ifPresent(message -> {
            throw new UserError(message);
        });
    }

    /** Returns the expected place of one; the folder of all for an empty name. */
    public Path path(String name) {
        return folder.resolve(name).toAbsolutePath();
    }

    /** Returns the release that go.mod requires, for example `v1.36.3`. */
    static String version() {
        return required("go.mod", "k8s.io/kubernetes");
    }

    /** Returns the folder with containerd's programs, below that of all. */
    static String containerd() {
        return "containerd-" + required("containerd/go.mod", "github.com/containerd/containerd/v2");
    }

    private static String required(String file, String module) {
        return Resource.text("cluster/" + file)
                .lines()
                .map(line -> line.strip().replaceFirst("^require ", "").split(" "))
                .filter(words -> words.length >= 2 && words[0].equals(module))
                .map(words -> words[1])
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(file + ": expected the version of " + module));
    }
}
