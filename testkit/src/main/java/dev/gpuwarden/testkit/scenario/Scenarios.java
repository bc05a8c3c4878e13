package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Resource;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds scenarios: built-in ones and files. */
public final class Scenarios {

    private static final List<String> NAMES =
            Resource.text("scenarios/list.txt").lines().toList();

    private Scenarios() {}

    /** Returns the names of the built-in scenarios. */
    public static List<String> names() {
        return NAMES;
    }

    /**
     * Reads a scenario.
     *
     * @param nameOrFile one of {@link #names}, or the path of a YAML file
     * @throws UserError with one line per mistake
     */
    public static Scenario find(String nameOrFile, Vocabulary vocabulary) {
        if (NAMES.contains(nameOrFile)) {
            String file = "scenarios/" + nameOrFile + ".yaml";
            return ScenarioReader.read(nameOrFile, file, Resource.text(file), vocabulary);
        }
        if (!nameOrFile.endsWith(".yaml") && !nameOrFile.endsWith(".yml")) {
            Optional<String> nearest = Spelling.nearest(nameOrFile, NAMES);
            throw new UserError("scenario \"" + nameOrFile + "\": expected a name from `sim list` or a .yaml file"
                    + nearest.map(n -> "; did you mean \"" + n + "\"?").orElse(""));
        }
        return ScenarioReader.read(nameOf(nameOrFile), nameOrFile, content(nameOrFile), vocabulary);
    }

    private static String nameOf(String file) {
        String last = file.substring(file.lastIndexOf('/') + 1);
        return last.substring(0, last.lastIndexOf('.'));
    }

    private static String content(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (NoSuchFileException | InvalidPathException e) {
            throw new UserError(file + ": expected a scenario file, but there is none");
        } catch (MalformedInputException e) {
            throw new UserError(file + ": expected UTF-8 text");
        } catch (IOException e) {
            throw new UserError(file + ": cannot be read: " + e);
        }
    }
}
