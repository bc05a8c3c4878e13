package dev.gpuwarden.daemon.vram.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class WatchdogRulesTest {

    /** A value that no rule has by default, and that every rule of its kind permits. */
    private static final Map<RuleKind, String> OTHER = Map.of(
            RuleKind.BYTES, "77MiB",
            RuleKind.SHARE, "0.37",
            RuleKind.COUNT, "3",
            RuleKind.TIME, "1m1s",
            RuleKind.TRIGGERS, "demand");

    @ParameterizedTest
    @EnumSource(Rule.class)
    void aChangedRuleHasItsValueAndNoOtherRuleChanges(Rule rule) {
        WatchdogRules before = WatchdogRules.DEFAULT.with(Map.of("attempts", "4", "samples", "5"));
        String text = OTHER.get(rule.kind());
        WatchdogRules changed = before.with(Map.of(rule.key(), text));
        for (Rule each : Rule.values()) {
            assertThat(each.text(changed)).isEqualTo(each == rule ? text : each.text(before));
        }
        assertThat(rule.meaning()).isNotBlank();
        assertThat(WatchdogRules.DEFAULT.with(changed.texts())).isEqualTo(changed);
    }

    @Test
    void valuesAreReadInTheirUnits() {
        WatchdogRules rules = WatchdogRules.DEFAULT.with(Map.of(
                "floor", "2GiB", "samples", "5", "triggers", "demand,floor", "floor-share", "5%", "cooldown", "1h30m"));
        assertThat(rules.pressure().floorBytes()).isEqualTo(2L << 30);
        assertThat(rules.pressure().floorShare()).isEqualTo(0.05);
        assertThat(rules.pressure().samples()).isEqualTo(5);
        assertThat(rules.pressure().triggers()).containsExactlyInAnyOrder(Trigger.FLOOR, Trigger.DEMAND);
        assertThat(rules.recycle().cooldown()).isEqualTo(Duration.ofMinutes(90));
    }

    @Test
    void changesCountTogether() {
        assertThat(WatchdogRules.DEFAULT
                        .with(Map.of("samples", "1", "least", "1"))
                        .pressure()
                        .samples())
                .isEqualTo(1);
        assertThatThrownBy(() -> WatchdogRules.DEFAULT.with(Map.of("samples", "1")))
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith("rules samples: expected")
                .hasMessageEndingWith("seen 2 of 1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "flor | 1GiB | rule flor: expected one of triggers, floor, floor-share",
                "floor | 1536 | rule floor: expected a size such as 512MiB or 2GiB, seen '1536'",
                "floor | -1MiB | rule floor: expected a size",
                "floor-share | 10 | rule floor-share: expected a share from 0 to 1 such as 0.1, or from 0% to 100%, seen '10'",
                "floor-share | NaN | rule floor-share: expected a share",
                "samples | five | rule samples: expected a whole number from 0 to 999, seen 'five'",
                "samples | 65 | rules samples: expected 1 to 64 samples",
                "attempts | 0 | rules attempts: expected",
                "cooldown | 10 | rule cooldown: expected a duration such as 500ms or 10m, at most 365d, seen '10'",
                "cooldown | 999999999999d | rule cooldown: expected a duration",
                "triggers | floor,hunger | rule triggers: expected a list of these, separated by + or commas: floor,deficit,demand, seen 'floor,hunger'",
                "triggers | FLOOR | rule triggers: expected a list",
            })
    void anErrorNamesTheRuleTheExpectedAndTheSeen(String key, String text, String message) {
        assertThatThrownBy(() -> WatchdogRules.DEFAULT.with(Map.of(key, text)))
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith(message);
    }
}
