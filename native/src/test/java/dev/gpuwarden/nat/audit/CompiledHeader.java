package dev.gpuwarden.nat.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A C header as the compiler reads it: the output of statements, and the functions that it declares. */
public final class CompiledHeader {

    private static final Pattern ERROR = Pattern.compile("^[^:\n]*:(\\d+):\\d+: error:", Pattern.MULTILINE);

    private final List<String> prelude;
    private final List<String> folders;
    private final Path work;

    /**
     * Names a header.
     *
     * @param header the file that is included
     * @param include folders of headers that it includes
     * @param work an empty folder for the compiler's files
     */
    public CompiledHeader(Path header, List<Path> include, Path work) {
        this.prelude = List.of(
                "#include <stddef.h>",
                "#include <stdio.h>",
                "#include \"" + header + "\"",
                // libffi passes a byte as a word of 32 bits, as the ABIs of C do.
                "#define KIND(n) ((n) == 8 ? 'p' : (n) == 4 || (n) == 1 ? 'u' : (n) == 128 ? 's' : '?')");
        this.folders = include.stream().map(folder -> "-I" + folder).toList();
        this.work = work;
    }

    /** Returns what the statements print. Those that do not compile are left out, as of names that the header lacks. */
    public String output(List<String> statements) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>(prelude);
        int first = lines.size();
        for (int i = 0; i < statements.size(); i++) {
            lines.add("static void f" + i + "(void) { " + statements.get(i) + " }");
        }
        Path source = work.resolve("header.c");
        Files.write(source, lines);
        Set<Integer> unknown = ERROR.matcher(gcc("-fsyntax-only", source.toString()))
                .results()
                .map(MatchResult::group)
                .map(error -> Integer.valueOf(error.split(":")[1]) - 1)
                .collect(Collectors.toSet());
        StringBuilder calls = new StringBuilder();
        for (int line = first; line < first + statements.size(); line++) {
            if (unknown.contains(line)) {
                lines.set(line, "");
            } else {
                calls.append(" f").append(line - first).append("();");
            }
        }
        lines.add("int main(void) {" + calls + " return 0; }");
        Files.write(source, lines);
        Path program = work.resolve("header");
        assertThat(gcc("-O0", source.toString(), "-o", program.toString())).isEmpty();
        return run(List.of(program.toString()));
    }

    /** Returns what expressions of whole numbers have as their value, by the expression. */
    public Map<String, String> numbers(Collection<String> expressions) throws IOException, InterruptedException {
        return rows(output(expressions.stream()
                .map(e -> "printf(\"%s\\t%lld\\n\", \"" + e + "\", (long long)(" + e + "));")
                .toList()));
    }

    /**
     * Returns the declarations of functions, by their names: the arguments in the form of {@link dev.gpuwarden.nat.lib.Signature}, and the
     * bytes of the result.
     */
    public Map<String, String> functions(Collection<String> names) throws IOException, InterruptedException {
        Path source = work.resolve("declarations.c");
        Files.write(source, prelude);
        String declarations = gcc("-E", "-P", source.toString()).replaceAll("\\s+", " ");
        List<String> statements = new ArrayList<>();
        for (String name : names) {
            Matcher found = Pattern.compile("\\b" + name + " ?\\(([^()]*)\\)").matcher(declarations);
            if (found.find()) {
                assertThat(found.group(1)).as(name).doesNotContainPattern("(float|double) \\w");
                statements.add("char kinds[] = {" + kinds(found.group(1)) + "0}; printf(\"" + name
                        + "\\t%s:%zu\\n\", kinds, sizeof(struct { " + result(declarations, found.start())
                        + " member; }));");
            }
        }
        return rows(output(statements));
    }

    private static String kinds(String parameters) {
        return parameters.isBlank() || parameters.strip().equals("void")
                ? ""
                : Stream.of(parameters.split(","))
                        .map(parameter -> "KIND(sizeof(struct { " + parameter + "; })), ")
                        .collect(Collectors.joining());
    }

    /** Returns the type before a name: a word, and its star. */
    private static String result(String declarations, int name) {
        String before = declarations.substring(0, name).stripTrailing();
        String star = before.endsWith("*") ? "*" : "";
        String type = before.substring(0, before.length() - star.length()).stripTrailing();
        return type.substring(type.lastIndexOf(' ') + 1) + star;
    }

    private static Map<String, String> rows(String text) {
        Map<String, String> rows = new LinkedHashMap<>();
        text.lines().map(line -> line.split("\t", 2)).forEach(row -> rows.put(row[0], row[1]));
        return rows;
    }

    private String gcc(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("gcc", "-w"));
        command.addAll(folders);
        command.addAll(List.of(arguments));
        return run(command);
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }
}
