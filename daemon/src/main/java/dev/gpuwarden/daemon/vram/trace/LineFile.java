package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A file of JSON lines of unknown origin, read one bounded line at a time. */
final class LineFile implements AutoCloseable {

    /** Bytes of a line: 4096 tenants with long names have about half of it. */
    static final int LONGEST_LINE = 4 << 20;

    private final Path file;
    private final InputStream in;
    private long line;
    private boolean cut;
    private boolean ended;

    private LineFile(Path file, InputStream in) {
        this.file = file;
        this.in = in;
    }

    /** @throws UserError where the file cannot be read */
    static LineFile open(Path file) {
        try {
            if (Files.isDirectory(file)) {
                throw new UserError(file + ": expected a file, seen a folder");
            }
            return new LineFile(file, new BufferedInputStream(Files.newInputStream(file), 1 << 16));
        } catch (IOException e) {
            throw new UserError(file + ": " + FileErrors.why(e));
        }
    }

    /**
     * Returns the fields of the next line that is not empty; empty at the end. A last line without a line break that is
     * no JSON was cut off by the end of its writer, and is left out.
     *
     * @throws UserError that names file and line. After a line that is no JSON object the next one can be read; after one
     *     that is too long, and after an error of the file, there is none
     */
    Optional<Fields> next() {
        try {
            for (Optional<String> text = text(); text.isPresent(); text = text()) {
                if (!text.get().isBlank()) {
                    return Optional.of(Fields.of(text.get()));
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            if (cut) {
                return Optional.empty();
            }
            throw wrong(e);
        }
    }

    /** Reads a part of the line that was read last. @throws UserError that names file, line, expected and seen */
    <T> T part(Fields fields, Fields.Part<T> part) {
        try {
            return part.read(fields);
        } catch (IOException e) {
            throw wrong(e);
        }
    }

    UserError wrong(IOException e) {
        return new UserError(file + ":" + line + ": " + FileErrors.why(e));
    }

    private Optional<String> text() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (ended) {
            return Optional.empty();
        }
        ended = true;
        int next = in.read();
        if (next < 0) {
            return Optional.empty();
        }
        line++;
        while (next >= 0 && next != '\n') {
            if (bytes.size() == LONGEST_LINE) {
                throw new IOException("expected lines of at most " + LONGEST_LINE + " bytes");
            }
            bytes.write(next);
            next = in.read();
        }
        cut = next < 0;
        ended = cut;
        return Optional.of(bytes.toString(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException e) {
            // It was only read.
        }
    }
}
