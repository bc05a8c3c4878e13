package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import dev.gpuwarden.api.datamodels.HealthEventProto;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Other programs are compiled against these names and numbers. */
class HealthEventContractTest {

    private static final FileDescriptor FILE = HealthEventProto.getDescriptor();

    @Test
    void theServiceIsCalledAsNvsentinelsIs() {
        assertThat(FILE.findServiceByName("PlatformConnector").getFullName()).isEqualTo("datamodels.PlatformConnector");
        assertThat(FILE.findServiceByName("PlatformConnector").getMethods())
                .singleElement()
                .satisfies(method -> {
                    assertThat(method.getName()).isEqualTo("HealthEventOccurredV1");
                    assertThat(method.getInputType().getFullName()).isEqualTo("datamodels.HealthEvents");
                    assertThat(method.getOutputType().getFullName()).isEqualTo("google.protobuf.Empty");
                    assertThat(method.isClientStreaming() || method.isServerStreaming())
                            .isFalse();
                });
    }

    @Test
    void everyFieldHasItsNumberAndType() {
        assertThat(fields("HealthEvents")).isEqualTo("1 version uint32, 2 events repeated message");
        assertThat(fields("HealthEvent"))
                .isEqualTo(
                        "1 version uint32, 2 agent string, 3 componentClass string, 4 checkName string, 5 isFatal bool,"
                                + " 6 isHealthy bool, 7 message string, 8 recommendedAction enum, 9 errorCode repeated string,"
                                + " 10 entitiesImpacted repeated message, 11 metadata map, 12 generatedTimestamp message,"
                                + " 13 nodeName string, 14 quarantineOverrides message, 15 drainOverrides message,"
                                + " 16 processingStrategy enum, 17 id string, 18 customRecommendedAction string");
        assertThat(fields("Entity")).isEqualTo("1 entityType string, 2 entityValue string");
        assertThat(fields("BehaviourOverrides")).isEqualTo("1 force bool, 2 skip bool");
    }

    @Test
    void everyActionAndStrategyHasItsNumberInBothForms() {
        assertThat(values("RecommendedAction"))
                .isEqualTo("NONE=0 COMPONENT_RESET=2 CONTACT_SUPPORT=5 RUN_FIELDDIAG=6 RESTART_VM=15 RESTART_BM=24"
                        + " REPLACE_VM=25 RUN_DCGMEUD=26 CUSTOM=27 REMEDIATE=28 UNKNOWN=99");
        assertThat(values("ProcessingStrategy"))
                .isEqualTo("UNSPECIFIED=0 EXECUTE_REMEDIATION=1 STORE_ONLY=2 STORE_AND_ANALYSE=3");
        for (RecommendedAction action : RecommendedAction.values()) {
            assertThat(FILE.findEnumTypeByName("RecommendedAction")
                            .findValueByName(action.name())
                            .getNumber())
                    .isEqualTo(action.number());
        }
        for (ProcessingStrategy strategy : ProcessingStrategy.values()) {
            assertThat(FILE.findEnumTypeByName("ProcessingStrategy")
                            .findValueByName(strategy.name())
                            .getNumber())
                    .isEqualTo(strategy.ordinal());
        }
    }

    private static String fields(String message) {
        Descriptor type = FILE.findMessageTypeByName(message);
        return type.getFields().stream()
                .map(field -> field.getNumber() + " " + field.getName() + " " + type(field))
                .collect(Collectors.joining(", "));
    }

    private static String type(FieldDescriptor field) {
        if (field.isMapField()) {
            return "map";
        }
        return (field.isRepeated() ? "repeated " : "") + field.getType().name().toLowerCase(java.util.Locale.ROOT);
    }

    private static String values(String type) {
        return FILE.findEnumTypeByName(type).getValues().stream()
                .map(value -> value.getName() + "=" + value.getNumber())
                .collect(Collectors.joining(" "));
    }
}
