package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.Certificates.Kubeconfig;
import dev.gpuwarden.testkit.sim.Tree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A real Kubernetes API server with its etcd, on loopback, with role-based access control, and optional components. Needs no
 * root.
 *
 * <p>Without {@link Component#CONTROLLER_MANAGER} no controllers run. The service account `default` of a namespace does
 * not exist, and a pod is refused until it names one that exists. A DaemonSet gets no pods. A deleted namespace stays in phase
 * Terminating. A node is an object that a test creates, and its lease is not renewed.
 *
 * <p>Thread-safe. Processes and folder end with {@link #close()}, and with this Java process, even when it is killed.
 */
public final class ControlPlane implements AutoCloseable {

    /** Limit of a start, which takes 2 s on an idle machine. */
    private static final Duration STARTING = Duration.ofMinutes(3);

    /**
     * The place of an API server.
     *
     * @param enter the command that starts a program there: its words before the program's own
     */
    record Place(String address, List<String> enter) {}

    private static final Place LOOPBACK = new Place("127.0.0.1", List.of());
    private static final String ETCD_SOCKET = "etcd.sock";

    private static @Nullable ControlPlane shared;

    private final Path folder;
    private final Binaries binaries;
    private final Place place;
    private final Certificates keys;
    private final int port = Ports.free();
    private final Kubectl kubectl;
    private @Nullable ApiClient client;

    /** The programs in order of their start. */
    private final List<Program> programs = new ArrayList<>();

    private ControlPlane(Path folder, Binaries binaries, Place place) {
        this.folder = folder;
        this.binaries = binaries;
        this.place = place;
        this.keys = new Certificates(folder);
        this.kubectl = new Kubectl(binaries.path("kubectl"), folder);
    }

    /**
     * Starts a control plane; blocks until all components report that they are ready.
     *
     * @param folder for all its files: empty, or does not exist yet; {@link #close()} deletes it
     * @param components that run besides the API server
     * @throws UserError when a binary is missing, with its name and the way to get it
     * @throws IllegalStateException when a program ends at start, with the end of its log
     */
    public static ControlPlane start(Path folder, Component... components) {
        return start(folder, Binaries.ofUser(), components);
    }

    static ControlPlane start(Path folder, Binaries binaries, Component... components) {
        return start(folder, binaries, LOOPBACK, components);
    }

    /** @param place of the API server, which real nodes and their pods can reach */
    static ControlPlane start(Path folder, Binaries binaries, Place place, Component... components) {
        return start(folder, binaries, place, false, components);
    }

    private static ControlPlane start(
            Path folder, Binaries binaries, Place place, boolean audits, Component... components) {
        binaries.need(components);
        ControlPlane plane = new ControlPlane(folder.toAbsolutePath().normalize(), binaries, place);
        Folder.claim(plane.folder);
        try {
            plane.start(Set.of(components), audits ? ApiAudit.flags(plane.folder) : List.of());
            return plane;
        } catch (RuntimeException | Error e) {
            plane.close();
            throw e;
        }
    }

    private void start(Set<Component> components, List<String> audit) {
        try {
            Program etcd = run("etcd", List.of(), etcdFlags());
            keys.make(place.address());
            Files.writeString(
                    adminKubeconfig(),
                    Kubeconfig.ofCertificate(url(), caCertificate(), adminCertificate(), adminKey()));
            etcd.await(STARTING, "its socket", () -> Files.exists(folder.resolve(ETCD_SOCKET)));
            run("kube-apiserver", place.enter(), apiServerFlags(audit))
                    .await(
                            STARTING,
                            "a good answer of /readyz",
                            new ReadinessProbe(url(), "/readyz", caCertificate())::now);
            for (Component component : components) {
                startComponent(component);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void startComponent(Component component) {
        String url = "https://127.0.0.1:" + Ports.free();
        List<String> flags = new ArrayList<>(commonFlags(url));
        if (component == Component.CONTROLLER_MANAGER) {
            flags.addAll(controllerManagerFlags());
        }
        run(component.binary(), List.of(), flags)
                .await(
                        STARTING,
                        "a good answer of /healthz",
                        new ReadinessProbe(url, "/healthz", caCertificate())::now);
    }

    private Program run(String name, List<String> enter, List<String> flags) {
        List<String> command = new ArrayList<>(enter);
        command.add(binaries.path(name).toString());
        command.addAll(flags);
        Program program = Program.start(folder, name, "", command);
        programs.add(program);
        return program;
    }

    /**
     * Returns the control plane that all tests of this Java process share. The first call starts it; it ends with the process, so
     * no test closes it. Tests must use namespaces and names of their own.
     *
     * @throws UserError and IllegalStateException as {@link #start(Path)} does
     */
    public static synchronized ControlPlane shared() {
        ControlPlane now = shared;
        if (now == null) {
            Binaries.ofUser().need();
            now = Unchecked.get(
                    () -> start(Files.createTempDirectory("gpuwarden-cluster-"), Binaries.ofUser(), LOOPBACK, true));
            shared = now;
        }
        return now;
    }

    private List<String> etcdFlags() {
        // A socket in a private folder: any user of the machine could write to a port. Relative, since paths of sockets
        // are short. The advertised address must have a port; no client uses it.
        return List.of(
                "--data-dir=" + folder.resolve("etcd"),
                "--listen-client-urls=unix://" + ETCD_SOCKET,
                "--advertise-client-urls=http://localhost:2379",
                "--listen-peer-urls=unix://etcd-peer.sock",
                "--unsafe-no-fsync=true");
    }

    private List<String> apiServerFlags(List<String> audit) {
        List<String> flags = new ArrayList<>(List.of(
                "--etcd-servers=unix://" + ETCD_SOCKET,
                "--bind-address=" + place.address(),
                // The default is the address of the default route, without which it would not start.
                "--advertise-address=" + place.address(),
                "--secure-port=" + port,
                "--tls-cert-file=" + keys.certificate("server"),
                "--tls-private-key-file=" + keys.key("server"),
                "--client-ca-file=" + caCertificate(),
                "--authorization-mode=Node,RBAC",
                "--allow-privileged=true",
                "--service-account-issuer=" + url(),
                "--service-account-key-file=" + keys.certificate("service-accounts"),
                "--service-account-signing-key-file=" + keys.key("service-accounts"),
                "--service-cluster-ip-range=10.0.0.0/24"));
        flags.addAll(audit);
        if (place.equals(LOOPBACK)) {
            // A loopback address cannot be an endpoint of the service `kubernetes`.
            flags.add("--endpoint-reconciler-type=none");
        } else {
            flags.addAll(List.of(
                    "--enable-admission-plugins=NodeRestriction",
                    "--kubelet-preferred-address-types=InternalIP",
                    "--kubelet-client-certificate=" + adminCertificate(),
                    "--kubelet-client-key=" + adminKey()));
        }
        return flags;
    }

    private List<String> commonFlags(String url) {
        return List.of(
                "--kubeconfig=" + adminKubeconfig(),
                "--authentication-kubeconfig=" + adminKubeconfig(),
                "--authorization-kubeconfig=" + adminKubeconfig(),
                "--leader-elect=false",
                "--bind-address=127.0.0.1",
                "--secure-port=" + URI.create(url).getPort(),
                "--tls-cert-file=" + keys.certificate("server"),
                "--tls-private-key-file=" + keys.key("server"));
    }

    private List<String> controllerManagerFlags() {
        return List.of(
                "--service-account-private-key-file=" + keys.key("service-accounts"),
                "--root-ca-file=" + caCertificate());
    }

    /** Returns the URL of the API server, for example `https://127.0.0.1:23456`. */
    public String url() {
        return "https://" + place.address() + ":" + port;
    }

    /** Returns the requests of the program's service accounts. Only the {@linkplain #shared() shared} one logs them. */
    public ApiAudit audit() {
        return ApiAudit.of(folder);
    }

    /** Returns the PEM file of the authority that signed the API server's certificate. */
    public Path caCertificate() {
        return keys.certificate("ca");
    }

    /** Returns the administrator's kubeconfig, with a client certificate. */
    public Path adminKubeconfig() {
        return folder.resolve("admin.kubeconfig");
    }

    /** Creates a kubeconfig with this token. */
    public Path kubeconfig(String token) {
        return Unchecked.get(() -> {
            Path file = Files.createTempFile(folder, "token", ".kubeconfig");
            return Files.writeString(file, Kubeconfig.ofToken(url(), caCertificate(), token));
        });
    }

    Path adminCertificate() {
        return keys.certificate("admin");
    }

    Path adminKey() {
        return keys.key("admin");
    }

    /** Returns the text of a kube-proxy's kubeconfig. */
    String proxyKubeconfig() {
        return Kubeconfig.ofCertificate(url(), caCertificate(), keys.certificate("proxy"), keys.key("proxy"));
    }

    /** Returns the text of a kubelet's kubeconfig. */
    String nodeKubeconfig(String node) {
        keys.makeOfNode(node);
        return Kubeconfig.ofCertificate(url(), caCertificate(), keys.certificate(node), keys.key(node));
    }

    /** Requests a token of an existing service account by the API of kubelets; valid for an hour. */
    public String token(String namespace, String serviceAccount) {
        Map<String, Object> request =
                client().post("serviceaccount/" + namespace + "/" + serviceAccount + "/token", "{\"spec\": {}}");
        return JsonPath.text(request, ".status.token");
    }

    /** Returns the administrator's client, which starts no process for a request. */
    public synchronized ApiClient client() {
        ApiClient now = client;
        if (now == null) {
            now = new ApiClient(this, null);
            client = now;
        }
        return now;
    }

    /** Returns a client with this token. */
    public ApiClient client(String token) {
        return new ApiClient(this, token);
    }

    /**
     * Runs kubectl as the administrator and returns its output. If kubectl itself is not the subject, {@link #client()} does the
     * same in a hundredth of the time.
     *
     * @throws IllegalStateException when it fails, with its output
     */
    public String kubectl(String... arguments) {
        return kubectl(adminKubeconfig(), arguments);
    }

    /** Runs kubectl as {@link #kubectl(String...)} does, as another user. */
    public String kubectl(Path kubeconfig, String... arguments) {
        return kubectl.run(kubeconfig, "", List.of(arguments));
    }

    /** Applies a manifest as the administrator; returns the output of kubectl. */
    public String apply(String manifest) {
        return kubectl.run(adminKubeconfig(), manifest, List.of("apply", "--filename", "-"));
    }

    /**
     * Forwards a pod's port to this machine, as the administrator; blocks until it listens. The caller closes it.
     *
     * @param pod `pod/NAME` or `deployment/NAME`
     */
    public PortForward forward(String namespace, String pod, int port) {
        return Unchecked.get(() -> PortForward.start(
                Files.createTempDirectory(folder, "forward"),
                binaries.path("kubectl"),
                adminKubeconfig(),
                namespace,
                pod,
                port));
    }

    /** Calls back with the name of each program that ends, by {@link #close()} too. The control plane needs all of them. */
    void whenPartEnds(Consumer<String> listener) {
        programs.forEach(program -> program.whenItEnds(() -> listener.accept(program.name())));
    }

    /**
     * Kills clients before servers, and deletes the folder. An orderly end would save nothing, and an API server would wait for
     * its connections.
     */
    @Override
    public synchronized void close() {
        for (int i = programs.size() - 1; i >= 0; i--) {
            programs.get(i).kill();
        }
        Tree.delete(folder);
    }
}
