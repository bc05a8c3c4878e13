package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaintenanceTest {

    private static final String NVSENTINELS =
            "GPUReset one has the finalizer janitor.dgxc.nvidia.com/finalizer of NVSentinel's janitor";
    private static final String WRITTEN = "the status of GPUReset one is written by janitor";

    /** @param reason the reason why another janitor carries it out; empty if none does */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "janitor.dgxc.nvidia.com/finalizer | gpuwarden-janitor | status | Ready | " + NVSENTINELS,
                "'' | janitor | status | Ready | " + WRITTEN,
                "'' | janitor | '' | Ready | ''",
                "'' | janitor | status | '' | " + WRITTEN,
                "gpuwarden.dev/janitor | janitor | status | Ready | " + WRITTEN,
                "'' | gpuwarden-janitor | status | Ready | ''",
            })
    void resourceOfAnotherJanitorIsRecognised(
            String finalizer, String manager, String subresource, String condition, String reason) throws Exception {
        Maintenance resource = Maintenance.of(MaintenanceKind.GPU_RESET, Json.readObject("""
                        {"metadata": {"name": "one", "finalizers": [%s],
                        "managedFields": [{"manager": "%s", "subresource": "%s", "fieldsV1": {"f:status": {}}}]},
                        "spec": {"nodeName": "n"}, "status": {"conditions": [%s]}}
                        """.formatted(
                        finalizer.isEmpty() ? "" : '"' + finalizer + '"',
                        manager,
                        subresource,
                        condition.isEmpty() ? "" : "{\"type\": \"" + condition + "\", \"status\": \"False\"}")));
        assertThat(resource.foreign().orElse("")).isEqualTo(reason);
    }
}
