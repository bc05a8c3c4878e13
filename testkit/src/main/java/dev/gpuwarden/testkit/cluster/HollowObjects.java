package dev.gpuwarden.testkit.cluster;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** The JSON of the objects of {@link HollowNodes}. */
final class HollowObjects {

    private static final DateTimeFormatter MICROSECONDS = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final String prefix;
    private final String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    private final String node = form("node");
    private final String lease = form("lease");
    private final String pod = form("pod");
    private final String podStatus = form("pod-status");

    HollowObjects(String prefix) {
        this.prefix = prefix;
    }

    private static String form(String name) {
        return Resource.text("load/" + name + ".json").replaceAll("\n *", "");
    }

    String name(int node) {
        return prefix + "-" + node;
    }

    String node(int number) {
        return of(number, node)
                .replace("@ZONE@", "zone-" + number % 3)
                .replace("@UUID@", String.format(Locale.ROOT, "00000000-0000-4000-8000-%012x", number))
                .replace("@MACHINE@", String.format(Locale.ROOT, "%032x", number));
    }

    String lease(int number, Instant now) {
        return lease.replace("@TIME@", MICROSECONDS.format(now)).replace("@NAME@", name(number));
    }

    /** Returns the patch that renews any lease. */
    String renewal(Instant now) {
        return "{\"spec\": {\"renewTime\": \"" + MICROSECONDS.format(now) + "\"}}";
    }

    String pod(int number, String name) {
        return of(number, pod).replace("@POD@", name);
    }

    String podStatus(int number) {
        return of(number, podStatus);
    }

    private String of(int number, String form) {
        return form.replace("@PREFIX@", prefix)
                .replace("@NAME@", name(number))
                .replace(
                        "@ADDRESS@",
                        "172." + (16 + number / 65_536 % 16) + "." + number / 256 % 256 + "." + number % 256)
                .replace("@TIME@", started);
    }
}
