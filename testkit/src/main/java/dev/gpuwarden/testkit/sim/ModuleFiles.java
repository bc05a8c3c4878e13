package dev.gpuwarden.testkit.sim;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The driver's kernel modules in a simulated node's /sys/module, as a server with the driver's packages loads them: nvidia_drm among
 * them, without modeset.
 */
final class ModuleFiles {

    /** The modules that use each module. */
    private static final Map<String, List<String>> USERS = Map.of(
            "nvidia", List.of("nvidia_uvm", "nvidia_modeset"),
            "nvidia_uvm", List.of(),
            "nvidia_modeset", List.of("nvidia_drm"),
            "nvidia_drm", List.of());

    private final Path modules;

    ModuleFiles(NodeFolder folder) {
        modules = folder.sys.resolve("module");
    }

    /** Writes the files of a node that has just started. */
    void write() {
        USERS.forEach((name, users) -> {
            Path holders = modules.resolve(name).resolve("holders");
            Tree.folder(holders);
            users.forEach(user -> Tree.link(holders.resolve(user), Path.of("../..", user)));
            uses(name, users.size());
        });
        modeset(false);
    }

    /** Loads nvidia_drm with its parameter modeset on or off. With it, the console's framebuffer is one more user. */
    void modeset(boolean on) {
        Path parameters = modules.resolve("nvidia_drm/parameters");
        Tree.folder(parameters);
        Tree.write(parameters.resolve("modeset"), on ? "Y\n" : "N\n");
        uses("nvidia_drm", on ? 1 : 0);
    }

    private void uses(String module, int count) {
        Tree.write(modules.resolve(module).resolve("refcnt"), count + "\n");
    }
}
