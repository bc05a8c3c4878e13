package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.reset.KernelClients.Module;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelClientsTest {

    @TempDir
    Path sysfs;

    private static Module module(String name, long uses, int users) {
        return new Module(name, Reading.of(uses), users, Reading.absent(Absence.NO_DATA));
    }

    private static KernelClients of(Module... modules) {
        return new KernelClients(List.of(modules), List.of());
    }

    private void load(String name, String uses, String... users) throws Exception {
        Path folder = sysfs.resolve("module").resolve(name);
        Files.createDirectories(folder.resolve("holders"));
        for (String user : users) {
            Files.createSymbolicLink(folder.resolve("holders").resolve(user), Path.of("../..", user));
        }
        if (!uses.isEmpty()) {
            Files.writeString(folder.resolve("refcnt"), uses + "\n");
        }
    }

    @ParameterizedTest(name = "{0}, used {1} times, by {2} modules")
    @CsvSource({
        "nvidia, 40, 2, false",
        "nvidia_uvm, 8, 0, false",
        "nvidia_modeset, 1, 1, false",
        "nvidia_modeset, 2, 1, true",
        "nvidia_peermem, 0, 0, false",
        "nvidia_peermem, 1, 0, true",
        "gdrdrv, 3, 0, true",
        "nvidia_fs, 1, 0, true",
        "nvidia_vgpu_vfio, 1, 0, true"
    })
    void moduleInUseIsAProbableCauseAndNoReasonToExpectARefusal(String name, long uses, int users, boolean cause) {
        KernelClients clients = of(module(name, uses, users));
        assertThat(clients.expected()).isEmpty();
        assertThat(clients.probable().filter(text -> text.contains(name)).isPresent())
                .isEqualTo(cause);
    }

    @Test
    void displayModuleIsExpectedToHoldTheGpuByModesetOrByItsUsers() {
        Reading<Boolean> off = Reading.of(false);
        Module idle = new Module("nvidia_drm", Reading.of(0L), 0, off);
        assertThat(of(idle).expected()).as("as on most servers").isEmpty();
        assertThat(of(idle).probable())
                .as("NVIDIA names it without its parameter")
                .isPresent();
        assertThat(of(new Module("nvidia_drm", Reading.of(2L), 0, off)).expected())
                .isPresent();
        assertThat(of(new Module("nvidia_drm", Reading.absent(Absence.NO_DATA), 0, Reading.of(true)))
                        .expected())
                .contains(
                        "kernel module nvidia_drm (modeset=Y, use count unknown) can hold the GPU without an open file;"
                                + " end what shows pictures on the node (display manager, console on its framebuffer), then run"
                                + " modprobe -r nvidia_drm");
    }

    @Test
    void modulesAreFoundThroughOthers() throws Exception {
        assertThat(KernelClients.read(sysfs)).as("no driver").isEqualTo(Reading.of(List.of()));
        load("nvidia", "20", "nvidia_uvm", "nvidia_modeset");
        load("nvidia_uvm", "4");
        load("nvidia_modeset", "2", "nvidia_drm");
        load("nvidia_drm", "");
        load("snd", "1");
        List<Module> modules = KernelClients.read(sysfs).asOptional().orElseThrow();
        assertThat(modules)
                .extracting(Module::name)
                .containsExactlyInAnyOrder("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm");
        Module drm = modules.stream()
                .filter(each -> each.name().equals("nvidia_drm"))
                .findFirst()
                .orElseThrow();
        assertThat(drm.uses().asOptional()).isEmpty();
        assertThat(drm.modeset().asOptional()).as("only root may read it").isEqualTo(Optional.empty());
        assertThat(new KernelClients(modules, List.of("process 7")).probable().orElseThrow())
                .contains("nvidia_drm (modeset unknown, use count unknown), kernel module nvidia_modeset", "process 7");
    }
}
