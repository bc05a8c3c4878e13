package dev.gpuwarden.aggregator.drain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyTextTest {

    @Test
    void commasWithinASelectorBelongToIt() {
        assertThat(DrainPolicies.Parser.pods(List.of("a=b", "!c;Immediate", "d;AllowCompletion;team-*")))
                .extracting(rule -> rule.selector() + " " + rule.mode() + " "
                        + rule.namespace().map(DrainPolicies.Glob::text).orElse("-"))
                .containsExactly("a=b,!c IMMEDIATE -", "d ALLOW_COMPLETION team-*");
    }

    @ParameterizedTest
    @CsvSource({
        "team, expected NAMESPACE=MODE",
        "team=immediate, expected one of Immediate",
        "Team!=Immediate, expected a namespace",
        "=Immediate, expected a namespace"
    })
    void errorOfAnInvalidNamespaceRuleNamesTheExpectedForm(String text, String message) {
        assertThatThrownBy(() -> DrainPolicies.Parser.namespace(text))
                .hasMessageContaining(message)
                .hasMessageContaining("found");
    }

    @ParameterizedTest
    @CsvSource({
        "a=b, expected SELECTOR;MODE",
        ";Immediate, expected SELECTOR;MODE",
        "a=b;Now, expected one of Immediate",
        "a=b;Immediate;x;y, expected SELECTOR;MODE",
        "a b;Immediate, expected key=value"
    })
    void errorOfAnInvalidPodRuleNamesTheExpectedForm(String text, String message) {
        assertThatThrownBy(() -> DrainPolicies.Parser.pods(List.of(text))).hasMessageContaining(message);
    }
}
