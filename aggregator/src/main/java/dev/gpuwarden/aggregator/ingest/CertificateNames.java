package dev.gpuwarden.aggregator.ingest;

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

/** Which nodes a client certificate, already verified, names: its DNS names, and its common name where it has none. */
final class CertificateNames {

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
