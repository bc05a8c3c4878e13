package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.ingest.TokenAuthenticator.TokenVerdict;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * An interceptor that admits only callers with proof of their identity: a token, or else a client certificate. Blocks while a
 * token is judged.
 */
record AuthInterceptor(TokenAuthenticator tokens, IngestMetrics metrics) implements ServerInterceptor {

    static final Context.Key<Caller> CALLER = Context.key("caller");

    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    private static final String BEARER = "Bearer ";

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        Status no;
        try {
            TokenVerdict verdict = judge(headers.get(AUTHORIZATION), call);
            if (verdict.caller().isPresent()) {
                Context context =
                        Context.current().withValue(CALLER, verdict.caller().get());
                return Contexts.interceptCall(context, call, headers, next);
            }
            no = Status.UNAUTHENTICATED.withDescription(verdict.why());
        } catch (ApiException e) {
            no = Status.UNAVAILABLE.withDescription("the cluster cannot be asked about the token: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            no = Status.UNAVAILABLE.withDescription("the aggregator stops");
        }
        metrics.ended(no.getCode());
        call.close(no, new Metadata());
        return new ServerCall.Listener<>() {};
    }

    private static Object address(ServerCall<?, ?> call) {
        SocketAddress address = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
        return address instanceof InetSocketAddress internet ? internet.getAddress() : "unknown";
    }

    private TokenVerdict judge(@Nullable String authorization, ServerCall<?, ?> call)
            throws ApiException, InterruptedException {
        if (authorization != null) {
            return authorization.startsWith(BEARER)
                    ? tokens.review(authorization.substring(BEARER.length()), address(call))
                    : TokenVerdict.no("expected 'Bearer' and a token in the header 'authorization'");
        }
        SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
        try {
            if (session != null && session.getPeerCertificates()[0] instanceof X509Certificate shown) {
                return CertificateNames.verdict(shown);
            }
        } catch (SSLPeerUnverifiedException e) {
            // The caller showed no certificate.
        }
        return TokenVerdict.no("expected a token in the header 'authorization', or a client certificate");
    }

    /** The node names in a client certificate, already verified: its DNS names, or its common name if it has none. */
    static final class CertificateNames {

        private static final int DNS_NAME = 2;

        private CertificateNames() {}

        static TokenVerdict verdict(X509Certificate certificate) {
            Set<String> names = names(certificate);
            return names.isEmpty()
                    ? TokenVerdict.no("the client certificate names no node")
                    : new TokenVerdict(Optional.of(Caller.node(names, "client certificate")), "");
        }

        static Set<String> names(X509Certificate certificate) {
            Set<String> names = new LinkedHashSet<>();
            try {
                Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
                for (List<?> name : alternatives == null ? List.<List<?>>of() : alternatives) {
                    if (Integer.valueOf(DNS_NAME).equals(name.get(0))) {
                        names.add(String.valueOf(name.get(1)));
                    }
                }
                if (names.isEmpty()) {
                    for (Rdn part :
                            new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
                        if (part.getType().equalsIgnoreCase("CN")) {
                            names.add(String.valueOf(part.getValue()));
                        }
                    }
                }
            } catch (CertificateParsingException | InvalidNameException e) {
                return Set.of();
            }
            return names;
        }
    }

    /**
     * @param nodes nodes for which it may open a stream; it chooses one with Hello
     * @param monitor name of a monitor that may report faults of any node of the cluster; empty for a node
     * @param proof proof of its identity, for the log
     */
    record Caller(Set<String> nodes, Optional<String> monitor, String proof) {

        static Caller node(Set<String> nodes, String proof) {
            return new Caller(nodes, Optional.empty(), proof);
        }

        static Caller monitor(String name) {
            return new Caller(Set.of(), Optional.of(name), "token of " + name);
        }

        boolean speaksFor(String node) {
            return nodes.contains(node);
        }
    }
}
