package dev.gpuwarden.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.YamlUnicodeReader;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.parser.Parser;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/** A reader of YAML files into nodes with their lines. Scalars stay as they are written. */
final class YamlFile {

    private static final int LARGEST_BYTES = 1 << 20;
    private static final int LARGEST_MANIFESTS = 16 << 20;

    /** Anchors of whole mappings are rare in a configuration, and frequent in manifests that tools write. */
    private static final int FEW_ALIASES = 10;

    private static final int MANY_ALIASES = 10_000;

    private YamlFile() {}

    /**
     * Returns the document; empty where the file holds comments alone.
     *
     * @throws UserError with file, line and problem, where the file cannot be read, is too large or is no YAML
     */
    static Optional<Node> read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] content = bounded(file.toString(), in, LARGEST_BYTES);
            return parse(file.toString(), content, FEW_ALIASES, parser -> parser, Composer::getSingleNode);
        } catch (IOException e) {
            throw new UserError(file + ": " + FileErrors.why(e));
        }
    }

    /**
     * Hands on each document of an input that may be large, such as the objects of a cluster, and each item of a list as a document
     * of its own.
     *
     * @param name for messages
     * @throws UserError with name, line and problem, where the input cannot be read, is too large or is no YAML
     */
    static void readEach(String name, InputStream in, Consumer<Node> receiver) {
        try {
            byte[] content = bounded(name, in, LARGEST_MANIFESTS);
            parse(name, content, MANY_ALIASES, YamlItems::new, composer -> {
                composer.forEachRemaining(receiver);
                return content.length;
            });
        } catch (IOException e) {
            throw new UserError(name + ": " + FileErrors.why(e));
        }
    }

    private static byte[] bounded(String name, InputStream in, int most) throws IOException {
        byte[] content = in.readNBytes(most + 1);
        if (content.length > most) {
            throw new UserError(name + ": expected at most " + most + " bytes");
        }
        return content;
    }

    private static <T> T parse(
            String name,
            byte[] content,
            int aliases,
            UnaryOperator<Parser> parsing,
            Function<Composer, T> composition) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(name)
                .setAllowNonScalarKeys(true)
                .setMaxAliasesForCollections(aliases)
                .setCodePointLimit(LARGEST_MANIFESTS)
                .build();
        try {
            StreamReader reader = new StreamReader(settings, new YamlUnicodeReader(new ByteArrayInputStream(content)));
            Parser parser = parsing.apply(new YamlDepth(new ParserImpl(settings, reader)));
            return composition.apply(new Composer(settings, parser));
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            throw new UserError(name + ":" + line + ": not YAML: " + e.getProblem());
        } catch (YamlEngineException e) {
            if (e.getCause() instanceof CharacterCodingException) {
                throw new UserError(name + ": not YAML: not text in UTF-8");
            }
            String problem = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            throw new UserError(name + ": not YAML: " + problem);
        }
    }

    /** Returns the line on which the node begins; the first line is 1. */
    static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }
}
