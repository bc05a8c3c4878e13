package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of threads in ARCHITECTURE.md. */
class ThreadTableTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));
    private static final List<String> MODULES =
            List.of("core", "cli", "api", "watchdog", "native", "nccl-bench", "checks", "daemon", "aggregator");

    /** Calls that make a thread of the name in their arguments. */
    private static final Pattern FACTORY = Pattern.compile(
            "\\b(?:Threads\\.daemon|(Threads\\.numbered)|new LoopThread|new Thread|new Responder<>)(?=\\()"
                    + "|\\b(?:launch|thread|super)(?=\\(\"gpuwarden-)");

    /** The name; a plus sign behind it stands for the rest of the name. */
    private static final Pattern NAME = Pattern.compile("\"(gpuwarden-[a-z0-9-]*)\"(\\s*\\+)?");

    /** Other ways to make threads: their names would not be in the table. */
    private static final Pattern NAMELESS = Pattern.compile(
            "Executors\\.new\\w+\\((?:\\w*)\\)|\\bextends Thread\\b|new DefaultThreadFactory|new Timer\\(");

    /** Files whose calls have the name from their caller. */
    private static final Set<String> GIVEN = Set.of("Threads.java", "LoopThread.java", "ThreadLauncher.java");

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `(gpuwarden-[^`]*)` \\| [^|]*\\| [^|]*\\| [^|]*\\| [^|]*\\|$");

    @Test
    void eachThreadIsARowAndEachRowIsAThread() throws IOException {
        Set<String> made = new TreeSet<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(REPOSITORY.resolve(module + "/src/main/java"))) {
                for (Path file :
                        (Iterable<Path>) files.filter(each -> each.toString().endsWith(".java"))::iterator) {
                    if (!GIVEN.contains(file.getFileName().toString())) {
                        scan(file, made);
                    }
                }
            }
        }
        Set<String> rows = new TreeSet<>();
        Matcher row = ROW.matcher(Files.readString(REPOSITORY.resolve("ARCHITECTURE.md")));
        while (row.find()) {
            assertThat(rows.add(row.group(1))).as("one row for " + row.group(1)).isTrue();
        }
        assertThat(rows).isEqualTo(made);
    }

    private static void scan(Path file, Set<String> names) throws IOException {
        String source = Files.readString(file);
        assertThat(NAMELESS.matcher(source).results())
                .as(file + ": threads without a name of their own")
                .isEmpty();
        Matcher factory = FACTORY.matcher(source);
        while (factory.find()) {
            int end = end(source, factory.end());
            Matcher name = NAME.matcher(source).region(factory.end(), end);
            if (name.find()) {
                boolean open = factory.group(1) != null || name.group(2) != null;
                names.add(name.group(1) + (!open ? "" : name.group(1).endsWith("-") ? "*" : "-*"));
            } else {
                assertThat(source.substring(factory.start(), end))
                        .as(file + ": a thread whose name does not begin with gpuwarden-, or is not in the call")
                        .isEqualTo("Threads.daemon(name)");
            }
        }
    }

    /** Returns the end of the arguments that begin here, by their brackets. No name of a thread has one. */
    private static int end(String source, int start) {
        int depth = 0;
        int at = start;
        do {
            depth += source.charAt(at) == '(' ? 1 : source.charAt(at) == ')' ? -1 : 0;
            at++;
        } while (depth > 0 && at < source.length());
        return at;
    }
}
