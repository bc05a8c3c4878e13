package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.rehearsal.PipelineSettings;
import dev.gpuwarden.aggregator.rehearsal.PipelineSettings.Mode;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeployedSettingsTest {

    /** @param rest the fields of the container after its name */
    private static PipelineSettings of(String rest) throws IOException {
        return DeployedSettings.of(
                Json.readObject("""
                    {"spec": {"template": {"spec": {"containers": [
                    {"name": "proxy", "args": ["run"]}, {"name": "main", %s}]}}}}\
                    """.formatted(rest)), "ns", "Deployment" + " ns/a", Optional.empty());
    }

    @Test
    void variablesAndArgumentsGiveTheSettings() throws IOException {
        PipelineSettings armed = of("""
            "args": ["aggregator", "--drain.namespaces=*=Immediate", "--remediation.attempts", "1",
            "--drain.system-namespaces=mine", "--other=x"],
            "env": [{"name": "GPUWARDEN_QUARANTINE_MODE", "value": "armed"}, {"name": "GPUWARDEN_DRAIN_MODE", "value": "armed"},
            {"name": "GPUWARDEN_REMEDIATION_MODE", "value": "armed"}, {"name": "GPUWARDEN_REMEDIATION_APPROVAL", "value": "manual"},
            {"name": "GPUWARDEN_JANITOR_IMAGE", "value": "i:1"}, {"name": "GPUWARDEN_DRAIN_GRACE", "value": "20s"},
            {"name": "GPUWARDEN_INGEST_TLS_CERT", "value": "/x"}, {"name": "HOME", "value": "/"}]\
            """);
        assertThat(armed.unread()).isEmpty();
        assertThat(armed.quarantine()).isEqualTo(Mode.ARMED);
        assertThat(armed.drain()).isEqualTo(Mode.ARMED);
        assertThat(armed.repair()).isEqualTo(Mode.ARMED);
        assertThat(armed.policies().grace()).contains(Duration.ofSeconds(20));
        assertThat(armed.policies().namespaces().toString()).contains("IMMEDIATE");
        assertThat(armed.repairs().manual()).isTrue();
        assertThat(armed.repairs().attempts()).isEqualTo(1);
        assertThat(armed.janitor().orElseThrow().image()).isEqualTo("i:1");
        assertThat(armed.janitor().orElseThrow().lockNamespace()).isEqualTo("ns");
        assertThat(armed.janitor().orElseThrow().system().has("of-mine-2"))
                .isEqualTo(armed.policies().system().has("of-mine-2"))
                .isTrue();
        assertThat(armed.needs())
                .extracting(Need.Rights::source)
                .containsExactly(
                        "their component components/quarantine-armed",
                        "their component components/drain-armed",
                        "their component components/remediation-armed",
                        "their component components/remediation-armed",
                        "a Role for them in the namespace ns; components/remediation-armed has one for the"
                                + " aggregator's own namespace");
    }

    @Test
    void shippedDeploymentIsADryRunWithoutAJanitor() throws IOException {
        PipelineSettings shipped = of("\"args\": [\"aggregator\"]");
        assertThat(shipped.unread()).isEmpty();
        assertThat(shipped.quarantine()).isEqualTo(Mode.DRY_RUN);
        assertThat(shipped.repair()).isEqualTo(Mode.DRY_RUN);
        assertThat(shipped.janitor()).isEmpty();
        assertThat(shipped.needs()).hasSize(3);
    }

    @Test
    void valueThatTheProgramRefusesIsNamed() throws IOException {
        assertThat(of("\"args\": [\"aggregator\", \"--janitor.job-timeout=1s\"]")
                        .unread()
                        .orElseThrow())
                .endsWith(": --janitor.job-timeout: expected 10s to 7d, found 1s");
        assertThat(of("\"args\": [\"aggregator\", \"--ingest.listen=anything\", \"--vram.capacity=later\"]")
                        .unread())
                .as("no setting of the pipeline")
                .isEmpty();
    }

    @Test
    void settingsInOtherPlacesMakeTheModesUnknown() throws IOException {
        for (String elsewhere : new String[] {
            "\"args\": [\"aggregator\"], \"env\": [{\"name\": \"GPUWARDEN_DRAIN_MODE\", \"valueFrom\": {}}]",
            "\"args\": [\"--config=/x\", \"aggregator\"]",
            "\"args\": [\"aggregator\"], \"envFrom\": [{\"configMapRef\": {\"name\": \"x\"}}]",
            "\"args\": [\"aggregator\", \"--drain.mode=sometimes\"]",
            "\"args\": [\"aggregator\", \"--janitor.job-timeout=1s\"]",
            "\"args\": [\"aggregator\"], \"env\": [{\"name\": \"GPUWARDEN_DRAIN_GRACE\", \"value\": \"48h\"}]",
            "\"args\": [\"aggregator\", \"--remediation.templates=/x\"]",
            "\"args\": [\"daemon\"]"
        }) {
            PipelineSettings unknown = of(elsewhere);
            assertThat(unknown.unread()).as(elsewhere).isPresent();
            assertThat(unknown.drain()).isEqualTo(Mode.UNKNOWN);
            assertThat(unknown.janitor())
                    .as("assumed, so that its Job is validated")
                    .isPresent();
        }
    }
}
