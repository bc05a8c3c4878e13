package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The evidence of a reboot that fails: the script of its Job, and the text of its condition. */
class RebootEvidenceTest {

    private static final String PLACE = "evidence from before it is in /var/lib/gpuwarden/bundles/bundle-reboot-r0.zip";

    private final JanitorWorld world = new JanitorWorld();
    private final WorldResource resource = world.add(MaintenanceKind.REBOOT_NODE);

    private String end() {
        resource.status.putAll(Map.of(
                "startTime",
                world.now.toString(),
                "observedGeneration",
                1L,
                "nodeUID",
                world.nodeUid,
                "bootID",
                "boot-1",
                "conditions",
                List.of(Map.of("type", "SignalSent", "status", "True", "lastTransitionTime", world.now.toString()))));
        WorldResource.Job job = new WorldResource.Job("j", world.now);
        job.suspended = false;
        job.succeeded = Optional.of(true);
        resource.job = Optional.of(job);
        world.now = world.now.plus(Duration.ofMinutes(31));
        return ((Step.End) RebootSteps.next(world.scene(resource, false), Optional.empty())).message();
    }

    @Test
    void conditionNamesTheArchive() {
        assertThat(end()).contains("another boot ID by", PLACE, "of Job reboot-r0 has the cause why not");
        world.now = world.now.minus(Duration.ofMinutes(31));
        world.bootId = "boot-2";
        world.ready = false;
        assertThat(end()).contains("seen another boot, but not ready; " + PLACE);
        world.now = world.now.minus(Duration.ofMinutes(31));
        world.ready = true;
        assertThat(end()).as("the fault may return").contains("the Node is ready; " + PLACE);
    }

    @Test
    void scriptOfTheJobRebootsWithAndWithoutEvidence() throws Exception {
        assertThat(run("echo evidence in /x.zip", 0)).isEqualTo("evidence in /x.zip\nreboot of /host\n");
        assertThat(run("echo gpuwarden: no room >&2; exit 1", 0))
                .isEqualTo("no evidence was kept (code 1): no room\nreboot of /host\n");
    }

    @Test
    void scriptOfTheJobDoesNotRebootAfterTheGateHasRefused() throws Exception {
        assertThat(run("echo evidence in /x.zip", 4)).isEqualTo("evidence in /x.zip\n");
    }

    /** Runs the script with other programs in place of those of the node. */
    @SuppressWarnings("unchecked")
    private String run(String bundle, int gate) throws Exception {
        Map<String, Object> pod = Jobs.of(resource.read(), JanitorWorld.SETTINGS);
        List<Map<String, Object>> containers = (List<Map<String, Object>>) ((Map<String, Object>)
                        ((Map<String, Object>) ((Map<String, Object>) pod.get("spec")).get("template")).get("spec"))
                .get("containers");
        String script = ((List<String>) containers.get(0).get("command"))
                .get(2)
                .replace("/host/proc", "/proc")
                .replace("exec chroot", "chroot")
                .replace("timeout -k 5 150 ", "");
        Process process = new ProcessBuilder(
                        "/bin/sh",
                        "-c",
                        "gpuwarden() { [ $1 != maintenance-gate ] || return " + gate + "; (" + bundle
                                + "); }; chroot() { echo \"reboot of $1\"; }\n"
                                + "BOOT_ID=$(cat /proc/sys/kernel/random/boot_id); RESOURCE=r0; FORCE=\n" + script)
                .redirectErrorStream(true)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(gate);
        return out;
    }
}
