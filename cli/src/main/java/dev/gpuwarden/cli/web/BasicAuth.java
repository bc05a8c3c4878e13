package dev.gpuwarden.cli.web;

import at.favre.lib.crypto.bcrypt.BCrypt;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Password checks for the users of `basic_auth_users`. A check costs a tenth of a second of processor time by design.
 * So only one password is checked at a time, and none for half a second after a wrong one. A correct password is
 * remembered. Thread-safe.
 */
final class BasicAuth {

    /** The result of a login. */
    enum Verdict {
        KNOWN,
        WRONG,
        /** Another password is being checked, or a wrong one was checked within the last half second. */
        NOT_NOW
    }

    private static final int MOST_KNOWN = 64;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Bcrypt ignores further bytes of a password. */
    private static final int LONGEST_PASSWORD_BYTES = 72;

    private final Supplier<Map<String, String>> users;
    private final LongSupplier nanoTime;
    private final Set<String> known = Collections.newSetFromMap(new BoundedMap<>(MOST_KNOWN, false));
    private boolean tries;
    private long notBeforeNanos;

    /** @param users bcrypt hashes by name */
    BasicAuth(Supplier<Map<String, String>> users, LongSupplier nanoTime) {
        this.users = users;
        this.nanoTime = nanoTime;
        this.notBeforeNanos = nanoTime.getAsLong();
    }

    boolean asksForNames() {
        return !users.get().isEmpty();
    }

    boolean has(Request.Login login) {
        return users.get().containsKey(login.user());
    }

    Verdict check(Request.Login login) {
        String hash = users.get().get(login.user());
        byte[] password = login.password().getBytes(StandardCharsets.UTF_8);
        if (hash == null || password.length > LONGEST_PASSWORD_BYTES) {
            return Verdict.WRONG;
        }
        String digest = Sha256.hex(hash + '\0' + login.user() + '\0' + login.password());
        synchronized (this) {
            if (known.contains(digest)) {
                return Verdict.KNOWN;
            }
            if (tries || nanoTime.getAsLong() - notBeforeNanos < 0) {
                return Verdict.NOT_NOW;
            }
            tries = true;
        }
        boolean right = false;
        try {
            right = BCrypt.verifyer().verify(password, hash.getBytes(StandardCharsets.UTF_8)).verified;
        } finally {
            ended(digest, right);
        }
        return right ? Verdict.KNOWN : Verdict.WRONG;
    }

    private synchronized void ended(String digest, boolean right) {
        tries = false;
        if (right) {
            known.add(digest);
        } else {
            notBeforeNanos = nanoTime.getAsLong() + PAUSE_NANOS;
        }
    }
}
