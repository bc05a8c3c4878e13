package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Unchecked;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A `kubectl port-forward`: a pod's port on this machine's loopback, by way of the API server and the pod's kubelet. */
public final class PortForward implements AutoCloseable {

    private static final String NAME = "port-forward";
    private static final Duration STARTING = Duration.ofSeconds(30);
    private static final Pattern LISTENING = Pattern.compile("Forwarding from (127\\.0\\.0\\.1:[0-9]+)");

    private final Path log;
    private final Program program;

    private PortForward(Path log, Program program) {
        this.log = log;
        this.program = program;
    }

    /**
     * Starts it; blocks until it listens.
     *
     * @param folder empty; deleted at the end of this process
     * @param pod `pod/NAME` or `deployment/NAME`
     */
    static PortForward start(Path folder, Path kubectl, Path kubeconfig, String namespace, String pod, int port) {
        Program program = Program.start(
                folder,
                NAME,
                "",
                List.of(
                        kubectl.toString(),
                        "--kubeconfig=" + kubeconfig,
                        "--cache-dir=" + folder.resolve("cache"),
                        "--namespace=" + namespace,
                        "port-forward",
                        "--address=127.0.0.1",
                        pod,
                        ":" + port));
        PortForward forward = new PortForward(folder.resolve(NAME + ".log"), program);
        try {
            program.await(STARTING, "it to listen", () -> forward.listening().isPresent());
            return forward;
        } catch (RuntimeException | Error e) {
            forward.close();
            throw e;
        }
    }

    private Optional<String> listening() {
        return Unchecked.get(() -> {
            Matcher line = LISTENING.matcher(Files.readString(log));
            return line.find() ? Optional.of(line.group(1)) : Optional.empty();
        });
    }

    /** Returns the address, for example `http://127.0.0.1:34567`. */
    public URI url() {
        return URI.create("http://" + listening().orElseThrow());
    }

    @Override
    public void close() {
        program.close();
    }
}
