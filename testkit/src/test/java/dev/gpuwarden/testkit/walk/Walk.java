package dev.gpuwarden.testkit.walk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.walk.EnteredFiles.Entered;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The files that one event enters, as ARCHITECTURE.md has them in a table below a heading. `-Dgolden.update=true` writes them there.
 * Classes that pass the event on are on its way. Values, and classes that only answer their caller, are beside it.
 *
 * @param heading the heading of the section
 * @param most the bound of the files on the way
 */
public record Walk(String heading, int most) {

    private static final Path DOCUMENT = Path.of(System.getProperty("gpuwarden.repository"), "ARCHITECTURE.md");
    private static final String TABLE = "| Package | On the way | Beside it |\n| --- | --- | --- |\n";

    /** Runs the program, and compares the files that it recorded with the document. */
    public void check(Class<? extends Callable<?>> program) throws Exception {
        Map<String, Entered> files = EnteredFiles.run(program);
        long count = files.values().stream().filter(Walk::onTheWay).count();
        String now = TABLE + rows(files) + "\n" + count + " files are on the way, of at most " + most + "; "
                + (files.size() - count) + " are beside it.\n";
        String document = Files.readString(DOCUMENT);
        int heads = document.indexOf("\n### " + heading + "\n");
        assertThat(heads).as("ARCHITECTURE.md has a section '%s'", heading).isNotNegative();
        int start = document.indexOf(TABLE, heads);
        int end = document.indexOf(".\n", document.indexOf("\n\n", start)) + 2;
        if (Boolean.getBoolean("golden.update")) {
            var unused = Files.writeString(DOCUMENT, document.substring(0, start) + now + document.substring(end));
        } else {
            assertThat(document.substring(start, end))
                    .as("each file with its first caller:%n%s", callers(files))
                    .isEqualTo(now);
        }
        assertThat(count).as("files on the way").isLessThanOrEqualTo(most);
    }

    private static boolean onTheWay(Entered file) {
        return file.isClass() && file.passesOn();
    }

    private static String rows(Map<String, Entered> files) {
        Map<String, Map<String, Entered>> packages = new LinkedHashMap<>();
        files.forEach((name, file) -> {
            int dot = name.lastIndexOf('.');
            packages.computeIfAbsent(name.substring(0, dot), each -> new LinkedHashMap<>())
                    .put(name.substring(dot + 1), file);
        });
        return packages.entrySet().stream()
                .map(each -> "| `" + each.getKey() + "` | " + names(each.getValue(), Walk::onTheWay) + " | "
                        + names(each.getValue(), file -> !onTheWay(file)) + " |\n")
                .collect(Collectors.joining());
    }

    private static String names(Map<String, Entered> files, Predicate<Entered> which) {
        return files.entrySet().stream()
                .filter(each -> which.test(each.getValue()))
                .map(each -> "`" + each.getKey() + "`")
                .collect(Collectors.joining(", "));
    }

    private static String callers(Map<String, Entered> files) {
        return files.entrySet().stream()
                .map(each -> each.getKey() + "  from  " + each.getValue().caller())
                .collect(Collectors.joining("\n"));
    }
}
