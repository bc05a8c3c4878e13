package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.v1.AccessOutcome;
import dev.gpuwarden.api.v1.AccessVerdict;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import dev.gpuwarden.testkit.cluster.JsonPath;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The review of a token that a caller shows to a node, through the node's stream. */
@ExtendWith(UsedRights.class)
class AccessClusterTest extends IngestSetup {

    private static final Predicate<ApiCall> REVIEWS =
            ApiCall.of("POST", "/tokenreviews").or(ApiCall.of("POST", "/subjectaccessreviews"));

    private FaultyApi between;
    private TestUplink uplink;
    private int asked;

    private String token(String account, String audience) {
        plane.client()
                .apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: %s, namespace: default}}"
                        .formatted(account));
        String audiences = audience.isEmpty() ? "" : "\"audiences\": [\"" + audience + "\"]";
        return JsonPath.text(
                plane.client().post("serviceaccount/default/" + account + "/token", "{\"spec\": {" + audiences + "}}"),
                ".status.token");
    }

    private AccessVerdict ask(String token) throws InterruptedException {
        uplink.send(AccessCodec.report("q-" + ++asked, token));
        AccessVerdict verdict = uplink.receive().getAccessVerdict();
        assertThat(verdict.getId()).isEqualTo("q-" + asked);
        return verdict;
    }

    private void assertDenied(String token, String why) throws InterruptedException {
        AccessVerdict verdict = ask(token);
        assertThat(verdict.getReason()).contains(why);
        assertThat(verdict.getOutcome()).isEqualTo(AccessOutcome.ACCESS_OUTCOME_DENIED);
    }

    @Test
    void onlyCallersWithTheRightMayGetTheNodesPage() throws Exception {
        plane.client().apply("""
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRole
                metadata: {name: %1$s-page}
                rules:
                  - {apiGroups: [gpuwarden.dev], resources: [nodehealths/page], resourceNames: [%1$s], verbs: [get]}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: %1$s-page}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %1$s-page}
                subjects: [{kind: ServiceAccount, name: page-reader, namespace: default}]
                """.formatted(node));
        // The API server's authorizer sees the change some moments later.
        until(() -> JsonPath.text(plane.client().create("""
                apiVersion: authorization.k8s.io/v1
                kind: SubjectAccessReview
                spec:
                  user: system:serviceaccount:default:page-reader
                  resourceAttributes: {group: gpuwarden.dev, resource: nodehealths, subresource: page, name: %s, verb: get}
                """.formatted(node)), ".status.allowed")
                .equals("true"));
        between = parts.add(new FaultyApi(plane));
        IngestServer server =
                aggregator(api(between.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator"))), "a");
        String good = token("page-reader", AccessCodec.AUDIENCE);
        uplink = parts.add(connect(server));
        assertThat(uplink.receive().getWelcome().getAnswersAccessReviews()).isTrue();

        between.fail(REVIEWS, ApiFault.unavailable());
        assertThat(ask(good).getOutcome()).isEqualTo(AccessOutcome.ACCESS_OUTCOME_UNKNOWN);
        between.heal();
        AccessVerdict verdict = ask(good);
        assertThat(verdict.getReason()).isEmpty();
        assertThat(verdict.getOutcome()).isEqualTo(AccessOutcome.ACCESS_OUTCOME_ALLOWED);
        long before = between.count(REVIEWS);
        assertThat(ask(good).getOutcome()).isEqualTo(AccessOutcome.ACCESS_OUTCOME_ALLOWED);
        assertThat(between.count(REVIEWS)).as("cached for a while").isEqualTo(before);

        assertDenied(token("page-reader", ""), "it is not for the audience 'gpuwarden-page'");
        assertDenied(
                token("stranger", AccessCodec.AUDIENCE),
                "system:serviceaccount:default:stranger may not get nodehealths.gpuwarden.dev/" + node
                        + " --subresource=page");
        assertDenied(TestTokens.signedByAnother(good), "does not accept this token");

        String other = node + "-other";
        TestCluster.node(plane, other);
        uplink = parts.add(connect(server, TestCluster.token(plane, other)).hello(other));
        assertThat(uplink.receive().hasWelcome()).isTrue();
        assertDenied(good, "may not get nodehealths.gpuwarden.dev/" + other);
    }
}
