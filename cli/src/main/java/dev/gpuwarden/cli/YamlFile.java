package dev.gpuwarden.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;

/** A reader of YAML files into nodes with their lines. Scalars stay as they are written. */
final class YamlFile {

    private static final long LARGEST_BYTES = 1 << 20;

    private YamlFile() {}

    /**
     * Returns the document; empty where the file holds comments alone.
     *
     * @throws UserError with file, line and problem, where the file cannot be read, is too large or is no YAML
     */
    static Optional<Node> read(Path file) {
        try {
            if (Files.size(file) > LARGEST_BYTES) {
                throw new UserError(file + ": expected at most " + LARGEST_BYTES + " bytes");
            }
            LoadSettings settings = LoadSettings.builder()
                    .setLabel(file.toString())
                    .setAllowNonScalarKeys(true)
                    .setMaxAliasesForCollections(10)
                    .build();
            return new Compose(settings).composeInputStream(new ByteArrayInputStream(Files.readAllBytes(file)));
        } catch (IOException e) {
            throw new UserError(file + ": " + FileErrors.why(e));
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            throw new UserError(file + ":" + line + ": not YAML: " + e.getProblem());
        } catch (YamlEngineException e) {
            String problem = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            throw new UserError(file + ": not YAML: " + problem);
        }
    }

    /** Returns the line on which the node begins; the first line is 1. */
    static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }
}
