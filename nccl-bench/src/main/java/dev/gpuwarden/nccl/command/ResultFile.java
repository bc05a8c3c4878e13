package dev.gpuwarden.nccl.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The file of the results. It is created before the run, so that a wrong path is reported immediately. An existing file is kept. */
record ResultFile(Path path) {

    /** Bound on the numbers that are tried. */
    private static final int MOST = 10_000;

    /** Creates the file, and prints its name or the problem as nccl-tests does; the run goes on without a file. */
    static Optional<ResultFile> create(Optional<Path> wanted, PrintWriter out) {
        if (wanted.isEmpty()) {
            return Optional.empty();
        }
        Path path = wanted.get();
        for (int number = 0; number <= MOST; number++) {
            try {
                Files.createFile(path);
                out.print("# Writing JSON output to " + path + "\n");
                return Optional.of(new ResultFile(path));
            } catch (FileAlreadyExistsException e) {
                path = Path.of(wanted.get() + "." + number);
            } catch (IOException e) {
                break;
            }
        }
        out.print("# skipping json output; " + path + " not accessible\n");
        return Optional.empty();
    }

    void write(String text) throws IOException {
        Files.writeString(path, text);
    }
}
