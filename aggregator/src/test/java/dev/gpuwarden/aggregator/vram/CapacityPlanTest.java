package dev.gpuwarden.aggregator.vram;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.api.vram.CapacityPlan;
import dev.gpuwarden.api.vram.CapacityPlan.Refused;
import dev.gpuwarden.api.vram.CapacityPlan.Remove;
import dev.gpuwarden.api.vram.CapacityPlan.Unchanged;
import dev.gpuwarden.api.vram.CapacityPlan.Write;
import dev.gpuwarden.api.vram.CapacityRules;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CapacityPlanTest {

    private static final String RESOURCE = "gpuwarden.dev/vram-mib";
    private static final CapacityRules RULES = new CapacityRules(RESOURCE, true, ExtendedResource::parse);
    private static final OptionalLong WANTED = OptionalLong.of(14000);

    /** Returns a Node with this value by this manager; empty texts for none. */
    private static Map<String, Object> node(String value, String manager, boolean marked) throws Exception {
        String owner = manager.isEmpty() ? "" : """
                {"manager": "%s", "subresource": "status", "fieldsV1": {"f:status": {"f:capacity": {"f:%s": {}}}}}""".formatted(manager, RESOURCE);
        return Json.readObject("""
                {"metadata": {"name": "n1", "uid": "u1", "annotations": {%s}, "managedFields": [%s]},
                 "status": {"capacity": {"cpu": "8"%s}}}""".formatted(
                        marked ? "\"" + CapacityPlan.MARK + "\": \"" + RESOURCE + "\"" : "",
                        owner,
                        value.isEmpty() ? "" : ", \"" + RESOURCE + "\": \"" + value + "\""));
    }

    @Test
    void aNodeWithoutTheResourceGetsItWithAMark() throws Exception {
        assertThat(CapacityPlan.of(node("", "", false), RULES, WANTED, false))
                .isEqualTo(new Write(Json.readObject("""
                        {"apiVersion": "v1", "kind": "Node",
                         "metadata": {"name": "n1", "uid": "u1", "annotations": {"%s": "%s"}},
                         "status": {"capacity": {"%s": "14000"}}}""".formatted(CapacityPlan.MARK, RESOURCE, RESOURCE))));
    }

    @ParameterizedTest
    @CsvSource({"14000, gpuwarden-vram", "14k, gpuwarden-vram", "14k, kubectl-edit"})
    void anEqualValueIsNotWrittenAgain(String value, String manager) throws Exception {
        assertThat(CapacityPlan.of(node(value, manager, true), RULES, WANTED, false))
                .isInstanceOf(Unchanged.class);
    }

    @ParameterizedTest
    @CsvSource({
        "0, kubelet, a kubelet that starts resets it",
        "9, kubectl-edit, a person changed it",
        "80000, gpuwarden-vram, the card before was larger",
        "nonsense, kubectl-edit, it is no number",
        "500m, kubectl-edit, it is a fraction"
    })
    void anOwnValueThatDiffersIsReplaced(String value, String manager, String why) throws Exception {
        assertThat(CapacityPlan.of(node(value, manager, true), RULES, WANTED, false))
                .as(why)
                .isInstanceOf(Write.class);
    }

    @Test
    void aResourceOfAnotherWriterIsRefusedWithItsOwner() throws Exception {
        CapacityPlan plan = CapacityPlan.of(node("14k", "kubelet", false), RULES, WANTED, false);
        assertThat(plan).isInstanceOf(Refused.class);
        assertThat(((Refused) plan).text()).contains("14k").contains("written by kubelet");
        assertThat(((Refused) CapacityPlan.of(node("5", "", false), RULES, WANTED, false)).text())
                .contains("an unknown owner");
    }

    @Test
    void onlyAnOwnResourceIsRemoved() throws Exception {
        assertThat(CapacityPlan.of(node("14k", "kubelet", false), RULES, OptionalLong.empty(), false))
                .isInstanceOf(Unchanged.class);
        assertThat(CapacityPlan.of(node("", "", false), RULES, OptionalLong.empty(), false))
                .isInstanceOf(Unchanged.class);
        CapacityPlan own = CapacityPlan.of(node("14k", "gpuwarden-vram", true), RULES, OptionalLong.empty(), false);
        assertThat(((Remove) own).bodies()).hasSize(1);
        assertThat(((Remove) own).bodies().get(0)).doesNotContainKey("status");
        CapacityPlan reset = CapacityPlan.of(node("0", "kubelet", true), RULES, OptionalLong.empty(), false);
        assertThat(((Remove) reset).bodies()).as("takes it over first").hasSize(2);
    }

    // ---- without the right to annotations ----

    private static CapacityPlan planWithoutMark(Map<String, Object> node, OptionalLong mib, boolean written) {
        return CapacityPlan.of(node, new CapacityRules(RESOURCE, false, ExtendedResource::parse), mib, written);
    }

    @ParameterizedTest
    @CsvSource({
        "14k, gpuwarden-vram, false, Unchanged",
        "9, gpuwarden-vram, false, Write",
        "9, kubectl-edit, true, Write",
        "9, kubectl-edit, false, Refused",
        "0, kubelet, false, Write",
        "0, another-plugin, false, Refused",
        "3, kubelet, false, Refused",
        "'', '', false, Write",
    })
    void theRecordOfManagersAndTheMemoryOfAWriteProveTheOwner(
            String value, String manager, boolean written, String plan) throws Exception {
        assertThat(planWithoutMark(node(value, manager, false), WANTED, written))
                .extracting(each -> each.getClass().getSimpleName())
                .isEqualTo(plan);
    }

    @Test
    void theMarkOfAnotherProgramIsKept() throws Exception {
        Write write = (Write) planWithoutMark(node("9", "gpuwarden-vram", true), WANTED, false);
        assertThat(write.body().toString()).contains(CapacityPlan.MARK);
        Remove remove = (Remove) planWithoutMark(node("9", "gpuwarden-vram", true), OptionalLong.empty(), false);
        assertThat(remove.bodies()).hasSize(1);
        assertThat(remove.bodies().get(0).toString()).contains(CapacityPlan.MARK);
        assertThat(planWithoutMark(node("", "", true), OptionalLong.empty(), false))
                .isInstanceOf(Unchanged.class);
        assertThat(((Write) planWithoutMark(node("", "", false), WANTED, false))
                        .body()
                        .toString())
                .doesNotContain("annotations");
    }
}
