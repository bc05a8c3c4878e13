package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.NodeCommand;
import dev.gpuwarden.cli.UserError;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for the operator's program that reboots and terminates machines. */
final class NodeCommandOptions {

    private static final int MOST_WORDS = 32;
    private static final String NEEDED = "--janitor.reboot=command";

    @Option(
            names = "--janitor.command",
            split = ",",
            paramLabel = "WORD",
            description = "Program and arguments for " + NEEDED + ", such as /usr/local/bin/power,--cycle. It runs as a"
                    + " Job on another node, with ACTION (reboot or terminate), NODE_NAME, BOOT_ID, RESOURCE and FORCE"
                    + " in its environment. Exit code 0: the action was requested.")
    List<String> words = List.of();

    @Option(
            names = "--janitor.command-image",
            paramLabel = "IMAGE",
            description = "Image of the program of --janitor.command.")
    @Nullable String image;

    @Option(
            names = "--janitor.command-secret",
            paramLabel = "NAME",
            description = "Secret in the namespace of the aggregator, whose keys become environment variables of the"
                    + " program of --janitor.command, for example a password (default: none).")
    @Nullable String secret;

    /**
     * Returns the program. Throws {@link UserError} for invalid options.
     *
     * @param wanted true if nodes are rebooted by the program
     */
    Optional<NodeCommand> command(boolean wanted) {
        boolean given = !words.isEmpty() || image != null || secret != null;
        if (!wanted) {
            if (given) {
                throw new UserError("--janitor.command*: expected with " + NEEDED + " alone");
            }
            return Optional.empty();
        }
        if (image == null || image.isBlank()) {
            throw new UserError(NEEDED + ": expected --janitor.command-image=IMAGE, seen none");
        }
        if (words.isEmpty() || words.size() > MOST_WORDS || words.get(0).isBlank()) {
            throw new UserError(
                    NEEDED + ": expected --janitor.command with 1 to " + MOST_WORDS + " words, seen " + words.size());
        }
        return Optional.of(new NodeCommand(image, words, Optional.ofNullable(secret)));
    }
}
