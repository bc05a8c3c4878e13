package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.runner.jvm.Tier;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ArgumentsTest {

    @Test
    void modulesClassesAndTiers() {
        assertThat(Arguments.parse(List.of())).isEqualTo(new Arguments(Set.of(), Optional.empty(), Optional.empty()));
        assertThat(Arguments.parse(List.of("--soak")).tiers()).containsExactly(Tier.SOAK);
        assertThat(Arguments.parse(List.of("daemon", "PageTest", "--tier", "unit,api")))
                .isEqualTo(new Arguments(Set.of(Tier.UNIT, Tier.API), Optional.of("daemon"), Optional.of("PageTest")));
    }

    @Test
    void errorNamesTheWrongArgument() {
        assertThatThrownBy(() -> Arguments.parse(List.of("--tier", "untit"))).hasMessageContaining("seen untit");
        assertThatThrownBy(() -> Arguments.parse(List.of("--fast"))).hasMessageContaining("unknown option --fast");
        assertThatThrownBy(() -> Arguments.parse(List.of("a", "b", "c"))).hasMessageContaining("[a, b, c]");
        assertThatThrownBy(() -> Arguments.parse(List.of("--tier"))).hasMessageContaining("--tier");
    }
}
