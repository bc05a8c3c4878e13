package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.YamlSection;
import dev.gpuwarden.daemon.vram.Manifests;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/** Reads files of Kubernetes manifests that a user names. */
final class ManifestFiles {

    private static final String STANDARD_INPUT = "-";

    private ManifestFiles() {}

    /**
     * Returns what the files have.
     *
     * @param files {@code -} is standard input
     * @param resource name of the extended resource
     * @throws UserError that names the file, for one that cannot be read or is no manifest
     */
    static Manifests read(List<String> files, String resource, Supplier<InputStream> standardInput) {
        Manifests manifests = new Manifests(resource);
        files.forEach(file -> read(file, manifests, standardInput));
        return manifests;
    }

    private static void read(String file, Manifests manifests, Supplier<InputStream> standardInput) {
        if (file.equals(STANDARD_INPUT)) {
            YamlSection.readManifests("standard input", standardInput.get(), manifests::add);
            return;
        }
        try {
            Path path = Path.of(file);
            if (Files.isDirectory(path)) {
                throw new UserError(Table.escape(file) + ": expected a file, but it is a directory");
            }
            try (InputStream in = Files.newInputStream(path)) {
                YamlSection.readManifests(file, in, manifests::add);
            }
        } catch (IOException e) {
            throw new UserError(Table.escape(file) + ": " + FileErrors.why(e));
        } catch (InvalidPathException e) {
            throw new UserError(Table.escape(file) + ": no such file");
        }
    }
}
