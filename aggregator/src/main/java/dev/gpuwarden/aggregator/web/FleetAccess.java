package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.PageAuthorizer;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.Request;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The access control of the fleet page: by a Kubernetes token over loopback or TLS, or by the headers of a trusted proxy.
 * Thread-safe.
 */
final class FleetAccess {

    private final PageAuthorizer visitors;
    private final PageOptions options;
    private final Set<InetAddress> proxies;

    FleetAccess(KubeClient api, PageOptions options) {
        this.visitors = new PageAuthorizer(api, System::nanoTime);
        this.options = options;
        this.proxies = options.trusted();
    }

    /** Returns the refusal of a request; empty if it is permitted. Blocks for the API server's answer. */
    Optional<HttpAnswer> refused(Request request) throws InterruptedException {
        boolean near = request.from().isLoopbackAddress();
        boolean proxy = proxies.isEmpty() ? near : proxies.contains(request.from());
        try {
            String user = options.userHeader.isEmpty() ? "" : request.header().apply(options.userHeader);
            if (proxy && !user.isEmpty()) {
                return judged(visitors.user(user, groups(request)));
            }
            if (!near && !proxy && !request.isSecure()) {
                return Optional.of(HttpAnswer.text(
                        403,
                        "this page is not shown over an open network: kubectl port-forward to a pod of the aggregator,"
                                + " serve it over TLS (--web.config.file), or use a trusted proxy (--page.proxy)\n"));
            }
            String token = request.token();
            return token.isEmpty() ? Optional.of(unknown("")) : judged(visitors.token(token));
        } catch (ApiException e) {
            return Optional.of(HttpAnswer.text(
                    503, "your identity cannot be verified at the API server: " + e.getMessage() + "\n"));
        }
    }

    private List<String> groups(Request request) {
        return options.groupsHeader.isEmpty()
                ? List.of()
                : Stream.of(request.header().apply(options.groupsHeader).split(","))
                        .map(String::strip)
                        .filter(group -> !group.isEmpty())
                        .toList();
    }

    private static Optional<HttpAnswer> judged(PageAuthorizer.Verdict verdict) {
        return verdict.welcome() ? Optional.empty() : Optional.of(unknown(verdict.why() + "\n"));
    }

    private static HttpAnswer unknown(String why) {
        return HttpAnswer.text(
                        401,
                        why
                                + "expected a Kubernetes token that may list nodehealths.gpuwarden.dev, as password or bearer:"
                                + " kubectl create token NAME\n")
                .with(
                        "WWW-Authenticate",
                        "Basic realm=\"gpuwarden: any name, and a Kubernetes token\", charset=\"UTF-8\"");
    }
}
