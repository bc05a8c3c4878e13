package dev.gpuwarden.benchmarks;

import dev.gpuwarden.benchmarks.HttpAttacker.Manner;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Attacks on the pages of both programs, from seven addresses: slow readers, connections without a request, requests sent
 * byte by byte, and fast readers. A turn takes a second; fast readers have four turns a second.
 */
final class HostileBrowsers {

    private static final int TICKS_PER_SECOND = 20;
    private static final int BRISK_TICKS = 5;
    private static final int SLOW = 160;
    private static final int IDLE = 400;
    private static final int DRIPPING = 64;
    private static final int BRISK = 8;
    private static final int TLS_IDLE = 200;

    private final List<HttpAttacker> attackers = new ArrayList<>();
    private final AttackTally tally;
    private int tick;

    HostileBrowsers(AttackTargets targets, AttackTally tally) {
        this.tally = tally;
        String token = "Authorization: Bearer " + targets.pageToken() + "\r\n";
        program(
                "daemon's page",
                targets.daemon(),
                List.of(
                        get("/metrics", ""),
                        get("/api/v1/node", ""),
                        get("/api/v1/events", ""),
                        get("/api/v1/faults", "")));
        program(
                "fleet page",
                targets.aggregator(),
                List.of(
                        get("/metrics", ""),
                        get("/api/v1/fleet", token),
                        get("/api/v1/fleet/news", token),
                        get("/api/v1/fleet", "Authorization: Bearer " + UUID.randomUUID() + "\r\n")));
        many("ingest", new InetSocketAddress("127.0.0.1", targets.ingest()), Manner.IDLE, TLS_IDLE, List.of(""));
    }

    private static String get(String path, String header) {
        return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + header + "\r\n";
    }

    private void program(String name, InetSocketAddress target, List<String> requests) {
        many(name, target, Manner.SLOW, SLOW, requests);
        many(name, target, Manner.IDLE, IDLE, List.of("G"));
        many(name, target, Manner.DRIPPING, DRIPPING, requests);
        many(name, target, Manner.BRISK, BRISK, requests);
    }

    private void many(String name, InetSocketAddress target, Manner manner, int count, List<String> requests) {
        for (int i = 0; i < count; i++) {
            InetSocketAddress from = new InetSocketAddress("127.0.0." + (2 + i % 7), 0);
            String request = requests.get(i % requests.size());
            String who = name + ", " + manner.name().toLowerCase(java.util.Locale.ROOT);
            attackers.add(new HttpAttacker(who, target, from, manner, request.isEmpty() ? "\u0016" : request, tally));
        }
    }

    void begin(ScheduledExecutorService timer) {
        tally.repeat(timer, 1000 / TICKS_PER_SECOND, this::turns);
    }

    private void turns() {
        tick++;
        for (int i = 0; i < attackers.size(); i++) {
            HttpAttacker attacker = attackers.get(i);
            int apart = attacker.manner() == Manner.BRISK ? BRISK_TICKS : TICKS_PER_SECOND;
            if ((tick + i) % apart == 0) {
                attacker.turn();
            }
        }
    }
}
