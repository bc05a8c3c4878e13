package dev.gpuwarden.aggregator.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.PageAuthorizer.PageRight;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PageAuthorizerTest {

    @Test
    void reviewContainsAllFieldsOfTheTokensUser() {
        Map<String, Object> extra = Map.of("scopes.example.com", List.of("read-nothing"));
        Map<String, Object> token = Map.of("username", "ann", "uid", "7", "groups", List.of("sre"), "extra", extra);
        assertThat(PageAuthorizer.asks(token, PageRight.FLEET))
                .containsEntry("user", "ann")
                .containsEntry("uid", "7")
                .containsEntry("groups", List.of("sre"))
                .containsEntry("extra", extra)
                .containsKey("resourceAttributes");
        assertThat(PageAuthorizer.asks(Map.of("username", "bob"), PageRight.FLEET))
                .containsOnlyKeys("user", "resourceAttributes");
    }
}
