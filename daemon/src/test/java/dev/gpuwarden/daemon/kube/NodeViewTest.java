package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.api.kube.Condition;
import dev.gpuwarden.api.kube.NodeView;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeViewTest {

    /** The answer of API server 1.36, shortened. */
    private static final String NODE = """
            {"kind": "Node", "apiVersion": "v1",
             "metadata": {"name": "node-a", "labels": {"autopilot.ibm.com/gpuhealth": "EVICT", "keep": "me"},
              "managedFields": [
               {"manager": "gpuwarden", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:status": {"f:conditions": {
                 "k:{\\"type\\":\\"GpuState\\"}": {".": {}, "f:type": {}},
                 "k:{\\"type\\":\\"Gone\\"}": {".": {}, "f:type": {}}}}}, "subresource": "status"},
               {"manager": "gpuwarden", "operation": "Update", "apiVersion": "v1",
                "fieldsV1": {"f:metadata": {"f:labels": {"f:autopilot.ibm.com/gpuhealth": {}}}}},
               {"manager": "kubelet", "operation": "Update", "apiVersion": "v1",
                "fieldsV1": {"f:status": {"f:conditions": {"k:{\\"type\\":\\"Ready\\"}": {}}}}, "subresource": "status"}]},
             "spec": {"podCIDRs": ["10.0.0.0/24"]},
             "status": {"conditions": [
               {"type": "GpuState", "status": "True", "lastHeartbeatTime": "2026-11-22T01:59:50Z",
                "lastTransitionTime": "2026-11-22T01:00:00Z", "reason": "GpuStateIsNotHealthy", "message": "lost;"},
               {"type": "Ready", "status": "True", "lastHeartbeatTime": null, "reason": "KubeletReady"}],
              "images": [{"names": ["a", "b"], "sizeBytes": 12}], "nodeInfo": {"kubeletVersion": ""}}}
            """;

    private static Map<?, ?> read(String json) throws IOException {
        return KubeClient.USED.readObject(json);
    }

    @Test
    void readsConditionsLabelsAndWhoseTheyAre() throws IOException {
        NodeView view = NodeView.of(read(NODE), ApiRequest.MANAGER);
        assertThat(view.labels()).isEqualTo(Map.of("autopilot.ibm.com/gpuhealth", "EVICT", "keep", "me"));
        assertThat(view.own()).as("by apply, and there").containsExactly("GpuState");
        assertThat(view.conditions()).containsOnlyKeys("GpuState", "Ready");
        assertThat(view.conditions().get("GpuState"))
                .isEqualTo(new Condition(
                        "GpuState",
                        "True",
                        "GpuStateIsNotHealthy",
                        "lost;",
                        Instant.parse("2026-11-22T01:00:00Z"),
                        Instant.parse("2026-11-22T01:59:50Z")));
        assertThat(view.conditions().get("Ready").heartbeat()).isEqualTo(Instant.EPOCH);
        assertThat(view.foreign("Ready")).isTrue();
        assertThat(view.foreign("GpuState")).isFalse();
        assertThat(view.foreign("Other")).isFalse();
    }

    @Test
    void otherJsonThanAnObjectIsAnError() {
        assertThatThrownBy(() -> read("[]")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> read("<html>")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> read("{\"a\": [1,")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> read("{\"a\": {\"b\": 1")).isInstanceOf(IOException.class);
    }
}
