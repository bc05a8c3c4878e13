package dev.gpuwarden.aggregator.vram;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Amounts of pods, as the scheduler counts them. */
class RequestedBudgetTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "0    | 'containers': [{'name': 'a'}]",
                "5000 | 'containers': [{'resources': {'limits': {'x/mib': '5k'}}}]",
                "7    | 'containers': [{'resources': {'requests': {'x/mib': 7}, 'limits': {'x/mib': 7}}}]",
                "9    | 'containers': [{'resources': {'limits': {'x/mib': '4'}}}, {'resources': {'limits': {'x/mib': '5'}}}]",
                "8    | 'initContainers': [{'resources': {'limits': {'x/mib': '8'}}}],"
                        + " 'containers': [{'resources': {'limits': {'x/mib': '4'}}}]",
                // A sidecar counts with the containers, and with an init container after it.
                "6    | 'initContainers': [{'restartPolicy': 'Always', 'resources': {'limits': {'x/mib': '2'}}}],"
                        + " 'containers': [{'resources': {'limits': {'x/mib': '4'}}}]",
                "11   | 'initContainers': [{'restartPolicy': 'Always', 'resources': {'limits': {'x/mib': '2'}}},"
                        + " {'resources': {'limits': {'x/mib': '9'}}}],"
                        + " 'containers': [{'resources': {'limits': {'x/mib': '4'}}}]",
                "5    | 'overhead': {'x/mib': '1'}, 'containers': [{'resources': {'limits': {'x/mib': '4'}}}]",
                "4    | 'containers': [{'resources': {'limits': {'x/mib': 'a lot'}}}, {'resources': {'limits': {'x/mib': '4'}}}]",
            })
    void theLargerOfInitContainersAndTheSumCounts(long mib, String spec) throws Exception {
        assertThat(RequestedBudget.mib(Json.readObject("{\"spec\": {" + spec.replace('\'', '"') + "}}"), "x/mib"))
                .isEqualTo(mib);
    }
}
