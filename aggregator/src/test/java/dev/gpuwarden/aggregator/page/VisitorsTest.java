package dev.gpuwarden.aggregator.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VisitorsTest {

    @Test
    void allThatTheTokenSaysOfItsOwnerIsAskedAbout() {
        Map<String, Object> extra = Map.of("scopes.example.com", List.of("read-nothing"));
        Map<String, Object> token = Map.of("username", "ann", "uid", "7", "groups", List.of("sre"), "extra", extra);
        assertThat(Visitors.asks(token, Right.FLEET))
                .containsEntry("user", "ann")
                .containsEntry("uid", "7")
                .containsEntry("groups", List.of("sre"))
                .containsEntry("extra", extra)
                .containsKey("resourceAttributes");
        assertThat(Visitors.asks(Map.of("username", "bob"), Right.FLEET))
                .containsOnlyKeys("user", "resourceAttributes");
    }
}
