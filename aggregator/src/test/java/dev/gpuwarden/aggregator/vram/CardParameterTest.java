package dev.gpuwarden.aggregator.vram;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.vram.CardParameter.Foreign;
import dev.gpuwarden.aggregator.vram.CardParameter.Unchanged;
import dev.gpuwarden.aggregator.vram.CardParameter.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The value of the largest card: up immediately, down after a day, and never over a value of another writer. */
class CardParameterTest {

    private static final String RESOURCE = "gpuwarden.dev/vram-mib";
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    /**
     * Returns the ConfigMap.
     *
     * @param since empty for no annotation
     */
    private static Map<String, Object> configMap(String value, String owner, String since) throws Exception {
        return Json.readObject("""
                {"metadata": {"name": "gpuwarden-vram", "uid": "u1", "resourceVersion": "7", "annotations": {%s},
                  "managedFields": [{"manager": "%s", "fieldsV1": {"f:data": {"f:largest-card-mib": {}}}}]},
                 "data": {"resource": "%s", "largest-card-mib": "%s"}}""".formatted(
                        since.isEmpty() ? "" : "\"" + CardParameter.SMALLER_SINCE + "\": \"" + since + "\"",
                        owner,
                        RESOURCE,
                        value));
    }

    private static CardParameter plan(String value, String owner, String since, long mib) throws Exception {
        return CardParameter.of(configMap(value, owner, since), RESOURCE, mib, NOW);
    }

    private static Write write(String value, String since) throws Exception {
        return new Write(Json.readObject("""
                {"apiVersion": "v1", "kind": "ConfigMap",
                 "metadata": {"name": "gpuwarden-vram", "uid": "u1", "resourceVersion": "7"%s},
                 "data": {"largest-card-mib": "%s"}}""".formatted(
                        since.isEmpty()
                                ? ""
                                : ", \"annotations\": {\"" + CardParameter.SMALLER_SINCE + "\": \"" + since + "\"}",
                        value)));
    }

    @ParameterizedTest
    @CsvSource({"'', gpuwarden-vram-card", "'', kubectl", "13374, gpuwarden-vram-card", "a lot, gpuwarden-vram-card"})
    void aLargerCardIsWrittenImmediately(String value, String owner) throws Exception {
        assertThat(plan(value, owner, "", 80000)).isEqualTo(write("80000", ""));
        assertThat(plan(value, owner, NOW.toString(), 80000)).isEqualTo(write("80000", ""));
    }

    @Test
    void aSmallerCardIsWrittenAfterADay() throws Exception {
        assertThat(plan("80k", CardParameter.MANAGER, "", 13374)).isEqualTo(write("80000", NOW.toString()));
        String almost = NOW.minus(Duration.ofDays(1)).plusSeconds(1).toString();
        assertThat(plan("80000", CardParameter.MANAGER, almost, 13374)).isEqualTo(new Unchanged());
        String day = NOW.minus(Duration.ofDays(1)).toString();
        assertThat(plan("80000", CardParameter.MANAGER, day, 13374)).isEqualTo(write("13374", ""));
        assertThat(plan("80000", CardParameter.MANAGER, "no time", 13374)).isEqualTo(write("80000", NOW.toString()));
    }

    @Test
    void anEqualCardEndsTheDay() throws Exception {
        assertThat(plan("80000", CardParameter.MANAGER, "", 80000)).isEqualTo(new Unchanged());
        assertThat(plan("80000", CardParameter.MANAGER, NOW.toString(), 80000)).isEqualTo(write("80000", ""));
    }

    @Test
    void aValueOfAnotherWriterOrForAnotherResourceStays() throws Exception {
        assertThat(plan("13374", "kubectl-client-side-apply", "", 80000))
                .isEqualTo(new Foreign("its largest-card-mib 13374 was written by kubectl-client-side-apply"));
        assertThat(CardParameter.of(configMap("", "kubectl", ""), "example.com/mib", 80000, NOW))
                .isInstanceOf(Foreign.class);
    }
}
