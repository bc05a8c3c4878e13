package dev.gpuwarden.daemon.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** A request for confirmation on standard input, if that is a terminal. */
public final class ClientTerminal implements SetHealthyCommand.Question {

    private static final Path STANDARD_INPUT = Path.of("/proc/self/fd/0");

    private final Supplier<InputStream> in;
    private final Path link;

    public ClientTerminal(Supplier<InputStream> in) {
        this(in, STANDARD_INPUT);
    }

    /** @param link symbolic link to the file that is read */
    ClientTerminal(Supplier<InputStream> in, Path link) {
        this.in = in;
        this.link = link;
    }

    @Override
    public Optional<Boolean> agreed(PrintWriter err, String text) {
        if (!terminal()) {
            return Optional.empty();
        }
        err.print(text);
        err.flush();
        try {
            String answer = new BufferedReader(new InputStreamReader(in.get(), StandardCharsets.UTF_8)).readLine();
            return Optional.of(
                    answer != null && Set.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT)));
        } catch (IOException e) {
            return Optional.of(false);
        }
    }

    private boolean terminal() {
        try {
            String target = Files.readSymbolicLink(link).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
