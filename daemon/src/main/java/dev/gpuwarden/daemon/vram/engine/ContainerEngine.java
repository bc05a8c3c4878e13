package dev.gpuwarden.daemon.vram.engine;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A container engine. Its service does the work, so nothing of it runs with the daemon's few rights: a container that
 * {@code podman restart} starts in the daemon's unit would have these rights itself. Thread-safe.
 *
 * @param runtime its name as owner of processes: "docker" or "podman"
 * @param socket serves Docker's API
 */
public record ContainerEngine(String runtime, Path socket) {

    private static final Duration QUICK = Duration.ofSeconds(10);

    /** Time of the engine itself, beyond the grace that the container gets. */
    private static final Duration MARGIN = Duration.ofSeconds(30);

    private static final int NO_CONTENT = 204;
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int LONGEST_ERROR = 300;

    private static final Pattern ID = Pattern.compile("[0-9a-f]{64}");

    private static final JsonReader JSON = JsonReader.ofDepth(JsonReader.DEEPEST)
            .without(Set.of("Labels", "Mounts", "Ports", "NetworkSettings", "HostConfig", "Command"));

    /** The outcome of a restart. */
    public enum Restart {
        STARTED,
        /** The container has ended, and its engine has removed it, as {@code podman run --rm} requires. */
        REMOVED
    }

    /**
     * Returns the name of a running container; empty if the engine has none with this ID. Blocks, for ten seconds at most. The
     * answer has this container alone, so that its length does not depend on the others.
     *
     * @param id 64 hexadecimal digits
     * @throws IOException with the cause, if the engine does not answer, or what it states of the container is too long
     */
    public Optional<String> name(String id) throws IOException {
        if (!ID.matcher(id).matches()) {
            return Optional.empty();
        }
        SocketRequest.Answer answer =
                send("GET", "/containers/json?filters=%7B%22id%22%3A%5B%22" + id + "%22%5D%7D", QUICK);
        if (answer.status() != OK) {
            throw failed("list container " + id, answer);
        }
        Map<String, String> names = new HashMap<>();
        if (JSON.read(new String(answer.body(), StandardCharsets.UTF_8)) instanceof List<?> rows) {
            rows.forEach(row -> addName(row, names));
        }
        return Optional.ofNullable(names.get(id));
    }

    /** Names begin with a slash; one with two slashes is a link's. */
    private static void addName(Object row, Map<String, String> names) {
        if (row instanceof Map<?, ?> container
                && container.get("Id") instanceof String id
                && container.get("Names") instanceof List<?> all) {
            all.stream()
                    .map(String::valueOf)
                    .filter(name -> name.lastIndexOf('/') == 0)
                    .findFirst()
                    .ifPresent(name -> names.put(id, name.substring(1)));
        }
    }

    /**
     * Restarts a container. Blocks until it has started, for the grace and half a minute at most.
     *
     * @param id 64 hexadecimal digits
     * @param grace time between the signal to end and the one that kills
     * @throws IOException with the cause, if it may still run as before
     */
    public Restart restart(String id, Duration grace) throws IOException {
        SocketRequest.Answer answer =
                send("POST", "/containers/" + id + "/restart?t=" + grace.toSeconds(), grace.plus(MARGIN));
        if (answer.status() == NO_CONTENT) {
            return Restart.STARTED;
        }
        if (answer.status() != NOT_FOUND
                && send("GET", "/containers/" + id + "/json", QUICK).status() == NOT_FOUND) {
            return Restart.REMOVED;
        }
        throw failed("restart container " + id, answer);
    }

    private SocketRequest.Answer send(String method, String target, Duration timeout) throws IOException {
        if (Files.notExists(socket)) {
            throw new IOException(
                    "expected the socket of " + runtime + " at " + socket + ", found none: start its service"
                            + " (podman: systemctl enable --now podman.socket), or set --vram." + runtime + "-socket");
        }
        try {
            return SocketRequest.send(socket, method, target, timeout);
        } catch (IOException e) {
            throw new IOException(runtime + " by " + socket + ": " + e.getMessage(), e);
        }
    }

    private IOException failed(String what, SocketRequest.Answer answer) {
        String text = new String(answer.body(), StandardCharsets.UTF_8)
                .replaceAll("\\p{Cntrl}+", " ")
                .strip();
        return new IOException(runtime + " did not " + what + ": HTTP status " + answer.status() + " "
                + Text.head(text, LONGEST_ERROR));
    }
}
