package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The files of a node's GPUs, which processes hold open while they use a GPU: `nvidiaN` in the folders `dev` and `lib`, two names of
 * one file, so that device and inode identify it on every mount. N is the minor number.
 */
record GpuFiles(NodeFolder folder) {

    /** Creates the file of a GPU; does nothing where it exists or the GPU has no minor number. */
    void create(long minor) {
        Path file = folder.lib.resolve("nvidia" + minor);
        if (minor == SimLayout.ABSENT || Files.exists(file)) {
            return;
        }
        Tree.folder(folder.dev);
        Tree.write(file, "");
        Unchecked.run(() -> Files.createLink(folder.dev.resolve("nvidia" + minor), file));
    }
}
