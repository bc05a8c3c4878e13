package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.aggregator.ingest.TokenAuthenticator.TokenVerdict;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TokenVerdictTest {

    private static final String NODE = "authentication.kubernetes.io/node-name";
    private static final String POD = "authentication.kubernetes.io/pod-name";

    private static TokenVerdict judge(Map<String, Object> status) {
        return TokenVerdict.of(status, "aud", "ns:daemon", Set.of("watch/all"));
    }

    private static Map<String, Object> good() {
        return new HashMap<>(Map.of(
                "authenticated",
                true,
                "audiences",
                List.of("aud"),
                "user",
                Map.of(
                        "username",
                        "system:serviceaccount:ns:daemon",
                        "extra",
                        Map.of(NODE, List.of("n1"), POD, List.of("p1")))));
    }

    private static Map<String, Object> with(String key, Object value) {
        Map<String, Object> status = good();
        status.put(key, value);
        return status;
    }

    private static Map<String, Object> user(String name, Map<String, Object> extra) {
        return with("user", Map.of("username", name, "extra", extra));
    }

    @Test
    void daemonsTokenIsValidForItsNodeAlone() {
        Caller caller = judge(good()).caller().orElseThrow();
        assertThat(caller.speaksFor("n1")).isTrue();
        assertThat(caller.speaksFor("n2")).isFalse();
        assertThat(caller.speaksFor("")).isFalse();
    }

    @Test
    void otherTokensAreRefusedWithAReason() {
        String daemon = "system:serviceaccount:ns:daemon";
        List<Map<String, Object>> bad = List.of(
                Map.of(),
                with("authenticated", false),
                with("authenticated", "true"),
                with("audiences", List.of("https://kubernetes.default.svc")),
                with("audiences", List.of()),
                user("system:serviceaccount:ns:other", Map.of(NODE, List.of("n1"), POD, List.of("p1"))),
                user("system:node:n1", Map.of(NODE, List.of("n1"), POD, List.of("p1"))),
                user(daemon, Map.of()),
                user(daemon, Map.of(POD, List.of("p1"))),
                user(daemon, Map.of(NODE, List.of("n1"))),
                user(daemon, Map.of(NODE, List.of("n1", "n2"), POD, List.of("p1"))));
        for (Map<String, Object> status : bad) {
            TokenVerdict verdict = judge(status);
            assertThat(verdict.caller()).as(status.toString()).isEmpty();
            assertThat(verdict.why()).as(status.toString()).isNotBlank();
        }
    }

    @Test
    void monitorOpensNoStreamAndMayReportOfAnyNode() {
        Caller caller = judge(user("system:serviceaccount:watch:all", Map.of()))
                .caller()
                .orElseThrow();
        assertThat(caller.monitor()).contains("watch/all");
        assertThat(caller.speaksFor("n1")).isFalse();
        assertThat(judge(user("system:serviceaccount:watch:other", Map.of())).caller())
                .isEmpty();
        assertThat(judge(user("watch:all", Map.of())).caller()).isEmpty();
        assertThat(judge(good()).caller().orElseThrow().monitor()).isEmpty();
    }
}
