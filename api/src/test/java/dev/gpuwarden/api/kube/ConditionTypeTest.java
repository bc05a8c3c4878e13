package dev.gpuwarden.api.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConditionTypeTest {

    private static final NodeView EMPTY = new NodeView(Map.of(), Set.of(), Map.of());

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', textBlock = """
                    SysLogsXIDError,            SysLogsXIDError
                    my-check.v2_x,              my-check.v2_x
                    example.com/Fabric,         example.com/Fabric
                    Ready,                      gpuwarden.dev/Ready
                    ready,                      gpuwarden.dev/ready
                    PIDPressure,                gpuwarden.dev/PIDPressure
                    node.kubernetes.io/Ready,   gpuwarden.dev/node.kubernetes.io-Ready
                    a check!,                   gpuwarden.dev/a-check
                    ` -x- `,                    gpuwarden.dev/x
                    ü,                          gpuwarden.dev/unnamed
                    a/b/c,                      gpuwarden.dev/a-b-c
                    """)
    void invalidOrForeignNameGoesBelowOurDomain(String check, String type) {
        assertThat(ConditionType.of(check, EMPTY)).isEqualTo(type);
    }

    @ParameterizedTest
    @CsvSource({"64", "1000"})
    void longNamesAreTruncated(int length) {
        assertThat(ConditionType.of("x".repeat(length), EMPTY)).isEqualTo("gpuwarden.dev/" + "x".repeat(63));
    }
}
