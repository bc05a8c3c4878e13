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
import picocli.CommandLine.Option;

/** Reads files of Kubernetes manifests that a user names, with the option for the resource of their budgets. */
final class ManifestFiles {

    private static final String STANDARD_INPUT = "-";

    @Option(
            names = "--resource",
            paramLabel = "NAME",
            defaultValue = "gpuwarden.dev/vram-mib",
            description = "Name of the extended resource (default: ${DEFAULT-VALUE}).")
    String resource = "";

    private final Supplier<InputStream> standardInput;

    ManifestFiles(Supplier<InputStream> standardInput) {
        this.standardInput = standardInput;
    }

    /**
     * Returns what the files have.
     *
     * @param files {@code -} is standard input
     * @throws UserError that names the file, for one that cannot be read or is no manifest
     */
    Manifests read(List<String> files) {
        Manifests manifests = new Manifests(resource);
        files.forEach(file -> read(file, manifests));
        return manifests;
    }

    private void read(String file, Manifests manifests) {
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
