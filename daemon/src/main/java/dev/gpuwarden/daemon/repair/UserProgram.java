package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.cli.UserError;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The rules of settings that name a program of the user with its arguments. */
final class UserProgram {

    private static final int MOST_WORDS = 32;

    private UserProgram() {}

    /** @throws UserError with the option */
    static void validate(String option, List<String> words) {
        Path program = Path.of(words.get(0));
        if (!program.isAbsolute() || !Files.isExecutable(program) || Files.isDirectory(program)) {
            throw new UserError(
                    option + ": expected the absolute path of a program that may be run, seen '" + program + "'");
        }
        if (words.size() > MOST_WORDS) {
            throw new UserError(option + ": expected at most " + MOST_WORDS + " words, seen " + words.size());
        }
    }
}
