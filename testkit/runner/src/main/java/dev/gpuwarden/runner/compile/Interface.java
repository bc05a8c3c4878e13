package dev.gpuwarden.runner.compile;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.spi.ToolProvider;

/** The interface of compiled classes: members that are not private, with their types and constants. */
final class Interface {

    private static final ToolProvider JAVAP = ToolProvider.findFirst("javap").orElseThrow();

    private Interface() {}

    /** Returns true when the interface of a class has changed, or a class that others may use was added or removed. */
    static boolean differs(Path before, Path after, List<Path> classFilesBefore, List<Path> classFilesAfter) {
        return !of(before, classFilesBefore).equals(of(after, classFilesAfter));
    }

    private static Map<String, String> of(Path folder, List<Path> classFiles) {
        Map<String, String> texts = new TreeMap<>();
        List<Path> visible =
                classFiles.stream().filter(file -> !anonymous(file)).toList();
        if (visible.isEmpty()) {
            return texts;
        }
        StringWriter out = new StringWriter();
        String[] arguments = java.util.stream.Stream.concat(
                        java.util.stream.Stream.of("-package", "-constants"),
                        visible.stream().map(Path::toString))
                .toArray(String[]::new);
        JAVAP.run(new PrintWriter(out), new PrintWriter(out), arguments);
        String[] parts = out.toString().split("Compiled from [^\n]*\n");
        for (int i = 1; i < parts.length && i <= visible.size(); i++) {
            texts.put(folder.relativize(visible.get(i - 1)).toString(), parts[i]);
        }
        return texts;
    }

    private static boolean anonymous(Path classFile) {
        return classFile.getFileName().toString().matches(".*\\$\\d.*");
    }
}
