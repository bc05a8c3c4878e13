package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.scenario.Vocabulary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds the simulated driver libraries and the layout of their table. */
public final class NativeFiles {

    private static final String LAYOUT = "sim-layout.tsv";

    private final Path folder;

    private NativeFiles(Path folder) {
        this.folder = folder;
    }

    /**
     * Searches the folders of the system properties `gpuwarden.native.dir` and `gpuwarden.home` (source tree or installation).
     *
     * @throws UserError when neither contains them
     */
    public static NativeFiles find() {
        List<Path> candidates = new ArrayList<>();
        String direct = System.getProperty("gpuwarden.native.dir");
        if (direct != null) {
            candidates.add(Path.of(direct));
        }
        String home = System.getProperty("gpuwarden.home");
        if (home != null) {
            candidates.add(Path.of(home, "native/target/c"));
            candidates.add(Path.of(home, "lib"));
        }
        return candidates.stream()
                .filter(folder -> Files.isRegularFile(folder.resolve(LAYOUT)))
                .findFirst()
                .map(NativeFiles::new)
                .orElseThrow(() -> new UserError("simulated drivers: expected " + LAYOUT + " in one of " + candidates
                        + "; build them with `make -C native sim`"));
    }

    public SimLayout layout() {
        return SimLayout.read(layoutFile());
    }

    Path layoutFile() {
        return folder.resolve(LAYOUT);
    }

    /** Returns the names that scenarios may use. */
    public Vocabulary vocabulary() {
        return layout().vocabulary();
    }

    /** Returns the simulated libnvidia-ml.so.1 of a generation. */
    Path library(Generation generation) {
        return require("driver " + generation.label(), generation.label() + "/libnvidia-ml.so.1");
    }

    /** Returns the simulated libcuda.so.1, which is one for all generations. */
    Path cudaLibrary() {
        return require("CUDA", "libcuda.so.1");
    }

    /** Returns the simulated libnccl.so.2, which opens the libcuda.so.1 beside it. */
    Path ncclLibrary() {
        return require("NCCL", "libnccl.so.2");
    }

    /** Returns the program `nvidia-smi`, which is one for all generations. */
    Path smi() {
        return require("nvidia-smi", "nvidia-smi");
    }

    /** Returns the program `gpu-service`, which uses all GPUs of a node. */
    Path service() {
        return require("gpu-service", "gpu-service");
    }

    private Path require(String subject, String name) {
        Path library = folder.resolve("sim").resolve(name);
        if (!Files.isRegularFile(library)) {
            throw new UserError(
                    subject + ": expected its simulated file at " + library + "; build it with `make -C native sim`");
        }
        return library;
    }
}
