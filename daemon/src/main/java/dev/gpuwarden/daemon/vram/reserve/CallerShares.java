package dev.gpuwarden.daemon.vram.reserve;

import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.watchdog.budget.Tenancy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The shares that a caller may have of the open calls of a node. A user, and the users of a namespace, can make any number of tenants, so
 * they have a share beside that of each tenant. The user of a process in a container of the system means nothing outside of it.
 */
public record CallerShares(List<Share> shares) {

    /** Open calls of one kind, of all callers. */
    public static final int MOST = 64;

    /** Requests of one tenant. */
    public static final int MOST_OF_TENANT = 8;

    /** Those of one user of the node, in all of the units, jobs and containers that the user starts. */
    public static final int MOST_OF_USER = 16;

    /** Those of the pods of one namespace. */
    public static final int MOST_OF_NAMESPACE = 32;

    private static final Pattern MANAGER = Pattern.compile("user@([0-9]{1,10})\\.service/.*", Pattern.DOTALL);
    private static final int ROOT = 0;

    /** @param holder in words; untrusted */
    record Share(String holder, int most) {}

    public CallerShares {
        shares = List.copyOf(shares);
    }

    /**
     * Returns the shares that the calls of a caller count for.
     *
     * @param mostOfTenant open calls of the caller's tenant
     */
    public static CallerShares of(Request.Caller caller, Owner owner, int mostOfTenant) {
        List<Share> shares = new ArrayList<>();
        shares.add(new Share(tenant(caller, owner), mostOfTenant));
        user(caller, owner).ifPresent(user -> shares.add(new Share(user, MOST_OF_USER)));
        if (owner instanceof Owner.Container container && container.ofUser()) {
            // Its user has many numbers on the node, and chooses among them.
            shares.add(new Share("rootless containers", MOST_OF_USER));
        } else if (owner instanceof Owner.Pod pod) {
            String namespace = pod.namespace()
                    .asOptional()
                    .map(name -> "namespace " + name)
                    .orElse("pods of unknown namespaces");
            shares.add(new Share(namespace, MOST_OF_NAMESPACE));
        }
        return new CallerShares(shares);
    }

    /** Returns the caller's tenant in words. */
    static String tenant(Request.Caller caller, Owner owner) {
        return owner instanceof Owner.Unknown ? "uid " + caller.uid() + " without a tenant" : Tenancy.id(owner);
    }

    private static Optional<String> user(Request.Caller caller, Owner owner) {
        boolean contained = owner instanceof Owner.Pod
                || owner instanceof Owner.Guest
                || owner instanceof Owner.Container container && !container.ofUser();
        Matcher manager = MANAGER.matcher(owner instanceof Owner.Unit unit ? unit.name() : "");
        if (manager.matches()) {
            return Optional.of("uid " + manager.group(1));
        }
        return contained || caller.uid() == ROOT ? Optional.empty() : Optional.of("uid " + caller.uid());
    }

    /** Returns these shares and another one. */
    public CallerShares and(String holder, int most) {
        List<Share> more = new ArrayList<>(shares);
        more.add(new Share(holder, most));
        return new CallerShares(more);
    }

    /**
     * Tests that one more call may be open.
     *
     * @param what the kind of calls, as a plural
     * @param open the shares of those that are open
     * @throws Refusal if a share is used up; it names the first one
     */
    public void require(String what, Collection<CallerShares> open) {
        for (Share share : shares) {
            long own = open.stream()
                    .filter(each -> each.shares().stream()
                            .anyMatch(other -> other.holder().equals(share.holder())))
                    .count();
            if (own >= share.most()) {
                throw Refusal.tooMany(own + " " + what + " of " + share.holder() + " are open, and " + open.size()
                        + " in all; at most " + share.most() + " and " + MOST + " may be");
            }
        }
        if (open.size() >= MOST) {
            throw Refusal.tooMany(open.size() + " " + what + " are open; at most " + MOST + " may be");
        }
    }
}
