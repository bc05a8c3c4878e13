package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.checks.node.Sysfs;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The clients of the driver in the kernel: modules that can keep a GPU in use without a process that has its file open. No source
 * states which of them do so in which state, so they are a probable cause beside the refusal of nvidia-smi, and never a refusal by
 * themselves. Sources: known issues of NVIDIA/mig-parted (#181), where a reset is refused until nvidia_drm is unloaded; comments of
 * NVIDIA's developers in open-gpu-kernel-modules #341, where nvidia_drm with modeset takes the display from its load on.
 *
 * @param modules those that use the module nvidia, directly or through another
 * @param dri processes that have a DRM device of the GPUs open, for operators
 */
public record KernelClients(List<Module> modules, List<String> dri) {

    private static final String DRIVER = "nvidia";
    private static final String DRM = "nvidia_drm";

    /** Modules whose use by programs is usual, and shown by the open files of the GPU. */
    private static final Set<String> USUAL = Set.of(DRIVER, "nvidia_uvm");

    /**
     * A loaded module.
     *
     * @param uses its use count; absent if it cannot be read
     * @param users the number of modules among its users
     * @param modeset whether nvidia_drm shows pictures itself; absent for other modules, and where only root may read it
     */
    public record Module(String name, Reading<Long> uses, int users, Reading<Boolean> modeset) {

        private boolean isShowing() {
            return modeset.equals(Reading.of(true));
        }

        /** Returns true if something besides other modules uses it. */
        private boolean inUse() {
            return uses.asOptional().filter(count -> count > users).isPresent();
        }

        private String text() {
            String parameter = !name.equals(DRM)
                    ? ""
                    : modeset instanceof Reading.Present<Boolean> known
                            ? "modeset=" + (known.value() ? "Y" : "N") + ", "
                            : "modeset unknown, ";
            return "kernel module " + name + " (" + parameter + "use count "
                    + uses.asOptional().map(String::valueOf).orElse("unknown") + ")";
        }
    }

    public KernelClients {
        modules = List.copyOf(modules);
        dri = List.copyOf(dri);
    }

    /** Returns what may make a reset fail, before one is tried; empty if nothing is a reason to expect that. */
    public Optional<String> expected() {
        return text(modules.stream()
                .filter(each -> each.name().equals(DRM) && (each.isShowing() || each.inUse()))
                .toList());
    }

    /** Returns the probable causes after nvidia-smi has found another client, the likeliest first; empty if none is known. */
    public Optional<String> probable() {
        List<Module> causes = new ArrayList<>();
        modules.stream().filter(each -> each.name().equals(DRM)).forEach(causes::add);
        modules.stream()
                .filter(each -> !each.name().equals(DRM) && !USUAL.contains(each.name()) && each.inUse())
                .forEach(causes::add);
        return text(causes);
    }

    /** Returns sentences about what holds a GPU after a refusal of nvidia-smi; empty if nothing is found. */
    static String found(Reading<List<String>> open, Reading<KernelClients> kernel) {
        String files = open instanceof Reading.Present<List<String>> names
                ? names.value().isEmpty() ? "" : "open by " + String.join(", ", names.value()) + ". "
                : "who has the GPU open is not known: " + ((Reading.Absent<List<String>>) open).text() + ". ";
        return files
                + (kernel instanceof Reading.Present<KernelClients> clients
                        ? clients.value()
                                .probable()
                                .map(cause -> "probable cause: " + cause + ". ")
                                .orElse("")
                        : "which kernel modules use the driver is not known: "
                                + ((Reading.Absent<KernelClients>) kernel).text() + ". ");
    }

    private Optional<String> text(List<Module> causes) {
        if (causes.isEmpty()) {
            return Optional.empty();
        }
        StringBuilder text = new StringBuilder(
                String.join(", ", causes.stream().map(Module::text).toList()));
        text.append(causes.size() == 1 ? " can hold the GPU" : " can hold the GPU each")
                .append(" without an open file");
        if (!dri.isEmpty()) {
            text.append("; its DRM devices are open by ").append(String.join(", ", dri));
        }
        boolean display = causes.get(0).name().equals(DRM);
        text.append(
                        display
                                ? "; end what shows pictures on the node (display manager, console on its framebuffer)"
                                : "")
                .append(
                        display
                                ? ", then run modprobe -r " + DRM
                                : "; end what uses it, or unload it with modprobe -r");
        return Optional.of(text.toString());
    }

    // ---- the edge ----

    /**
     * Reads the loaded modules.
     *
     * @param sysfs the node's /sys
     * @return absent if they cannot be read; no modules if the driver's is not loaded
     */
    public static Reading<List<Module>> read(Path sysfs) {
        Path folder = sysfs.resolve("module");
        Set<String> seen = new LinkedHashSet<>(Set.of(DRIVER));
        Deque<String> next = new ArrayDeque<>(seen);
        List<Module> modules = new ArrayList<>();
        while (!next.isEmpty()) {
            String name = next.remove();
            Reading<List<String>> holders = Sysfs.names(folder.resolve(name).resolve("holders"));
            if (holders instanceof Reading.Absent<List<String>> absent) {
                if (absent.cause() == Absence.NO_DATA) {
                    continue;
                }
                return Reading.absent(
                        absent.cause(),
                        0,
                        "the users of kernel module " + name + " cannot be read: " + absent.detail());
            }
            List<String> users = holders.asOptional().orElseThrow();
            users.stream().filter(seen::add).forEach(next::add);
            Reading<Boolean> modeset = Sysfs.text(folder.resolve(name).resolve("parameters/modeset"))
                    .map(text -> text.equals("Y") || text.equals("1"));
            modules.add(new Module(name, Sysfs.number(folder.resolve(name).resolve("refcnt")), users.size(), modeset));
        }
        return Reading.of(modules);
    }
}
