package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Faults that a malicious node could report, within the limits of an event. */
final class RandomFaults {

    private static final String[] LETTERS = {
        "a", "B", "7", "é", "<", "\"", "\n", "\u001b", "\u202e", "\ud83d\ude00", " "
    };

    private final Random random;

    RandomFaults(Random random) {
        this.random = random;
    }

    List<Fault> faults(int events) {
        FaultTable table = new FaultTable();
        for (int i = 0; i < events && table.size() < NodeHealthStatus.MOST_FAULTS - 12; i++) {
            table.apply(event(), random.nextInt(4), Instant.ofEpochMilli(random.nextInt(5_000)));
        }
        return table.faults();
    }

    private HealthEvent event() {
        return HealthEvent.of(text(3), text(3), text(3) + "x")
                .id(text(3))
                .nodeName("n1")
                .fatal(random.nextBoolean())
                .message(text(4))
                .action(any(RecommendedAction.values()))
                .customAction(text(3))
                .strategy(any(ProcessingStrategy.values()))
                .quarantine(new Overrides(random.nextBoolean(), random.nextBoolean()))
                .drain(new Overrides(random.nextBoolean(), random.nextBoolean()))
                .metadata(metadata())
                .entities(IntStream.range(0, random.nextInt(4))
                        .mapToObj(i -> new Entity(text(2), text(2)))
                        .toList())
                .errorCodes(IntStream.range(0, random.nextInt(4))
                        .mapToObj(i -> text(2))
                        .toList())
                .generated(Instant.ofEpochSecond(random.nextInt(100)))
                .build();
    }

    private Map<String, String> metadata() {
        Map<String, String> metadata = new HashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            metadata.put(text(3), text(3));
        }
        return metadata;
    }

    private <T> T any(T[] all) {
        return all[random.nextInt(all.length)];
    }

    /** Mostly short, so that some are equal; sometimes near the length at which texts are cut. */
    private String text(int most) {
        int length = random.nextInt(20) == 0 ? 250 + random.nextInt(300) : random.nextInt(most);
        return IntStream.range(0, length).mapToObj(i -> any(LETTERS)).collect(Collectors.joining());
    }
}
