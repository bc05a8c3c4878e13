package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Value;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Folders of counters, one file each. Until a device counts something it shows a shared folder of zeros, which saves hundreds of
 * files per node.
 */
final class CounterFiles {

    private CounterFiles() {}

    /**
     * Resets the folder to zeros.
     *
     * @param shared parent of the folders of zeros
     */
    static void zero(Path shared, Path folder, List<String> names) {
        Path zeros = shared.resolve(String.valueOf(folder.getFileName()));
        if (!Files.isDirectory(zeros)) {
            names.forEach(name -> Tree.write(zeros.resolve(name), "0\n"));
        }
        Tree.delete(folder);
        Tree.link(folder, zeros);
    }

    /** Sets or adds to one counter. */
    static void set(Path file, Value value) {
        Path folder = file.getParent();
        if (folder != null && Files.isSymbolicLink(folder)) {
            List<Path> zeros = Tree.children(folder);
            Tree.delete(folder);
            zeros.forEach(zero -> Tree.write(zero, "0\n"));
        }
        long number = value instanceof Value.Added added
                ? Long.parseLong(Tree.read(file).strip()) + added.number()
                : value instanceof Value.Numbers n ? n.numbers().get(0) : 0;
        Tree.write(file, number + "\n");
    }
}
