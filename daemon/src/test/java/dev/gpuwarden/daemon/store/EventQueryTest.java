package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Filters against a history of six events, a minute apart, named a to f. */
class EventQueryTest extends StoreFixture {

    private static final String HOSTILE = "') OR 1=1; DROP TABLE events; --";

    private final Filter filter = new Filter();
    private Instant start = Instant.EPOCH;

    /** A filter with everything open, to be narrowed. */
    private static final class Filter {
        private List<String> agents = List.of();
        private List<String> checks = List.of();
        private List<String> codes = List.of();
        private Optional<String> entity = Optional.empty();
        private Optional<Boolean> fatal = Optional.empty();
        private Optional<Boolean> healthy = Optional.empty();
        private Optional<Instant> from = Optional.empty();
        private Optional<Instant> until = Optional.empty();
        private long after;
        private boolean newestFirst;
        private int limit;

        EventFilter build() {
            return new EventFilter(
                    agents, checks, codes, entity, fatal, healthy, from, until, after, newestFirst, limit);
        }
    }

    @BeforeEach
    void history() {
        start = clock.instant();
        tell("a", "syslog", "XID", true, List.of("79"), Events.PCI, Events.UUID);
        tell("b", "syslog", "XID", false, List.of("13", "31"), Events.UUID);
        tell("c", "gpuwarden", "ecc", true, List.of("dbe"), Entity.gpu("GPU-2"));
        tell("d", "gpuwarden", "link", false, List.of(), new Entity("NIC", "mlx5_0"));
        tell("e", HOSTILE, "x", false, List.of(HOSTILE), new Entity(HOSTILE, HOSTILE));
        store().accept(Events.builder(9).id("f").healthy(true).build());
    }

    private void tell(String id, String agent, String check, boolean fatal, List<String> codes, Entity... entities) {
        store().accept(HealthEvent.of(agent, "GPU", check)
                .id(id)
                .fatal(fatal)
                .errorCodes(codes)
                .entities(List.of(entities))
                .build());
        clock.advance(Duration.ofMinutes(1));
    }

    private String found() {
        return String.join(
                "",
                store().events(filter.build()).stream()
                        .map(one -> one.event().id())
                        .toList());
    }

    @Test
    void everythingIsFoundOldestFirst() {
        assertThat(found()).isEqualTo("abcdef");
    }

    @Test
    void byAgentAndCheck() {
        filter.agents = List.of("syslog", "nobody");
        assertThat(found()).isEqualTo("ab");
        filter.agents = List.of("gpuwarden");
        filter.checks = List.of("link", "XID");
        assertThat(found()).isEqualTo("d");
    }

    @Test
    void byAnyOfItsCodes() {
        filter.codes = List.of("31", "dbe");
        assertThat(found()).isEqualTo("bc");
        filter.codes = List.of("3");
        assertThat(found()).isEmpty();
    }

    @Test
    void byTheValueOfAnyEntity() {
        filter.entity = Optional.of(Events.UUID.value());
        assertThat(found()).isEqualTo("abf");
        filter.entity = Optional.of("NIC");
        assertThat(found()).isEmpty();
    }

    @Test
    void byFatalAndHealthy() {
        filter.fatal = Optional.of(true);
        assertThat(found()).isEqualTo("ac");
        filter.fatal = Optional.of(false);
        filter.healthy = Optional.of(true);
        assertThat(found()).isEqualTo("f");
    }

    @Test
    void byTimeOfFirstAndLastReport() {
        filter.from = Optional.of(start.plusSeconds(60));
        filter.until = Optional.of(start.plusSeconds(180));
        assertThat(found()).isEqualTo("bc");
        store().accept(HealthEvent.of("syslog", "GPU", "XID")
                .id("again")
                .fatal(true)
                .errorCodes(List.of("79"))
                .entities(List.of(Events.PCI, Events.UUID))
                .build());
        assertThat(found()).isEqualTo("abc");
        filter.from = Optional.of(Instant.MIN);
        filter.until = Optional.of(Instant.MAX);
        assertThat(found()).isEqualTo("abcdef");
    }

    @Test
    void pagesGoOnInBothDirections() {
        filter.limit = 2;
        StringBuilder pages = new StringBuilder();
        for (String page = found(); !page.isEmpty(); page = found()) {
            pages.append(page).append(' ');
            filter.after = store().event(page.substring(page.length() - 1))
                    .map(StoredEvent::sequence)
                    .orElseThrow();
        }
        assertThat(pages).hasToString("ab cd ef ");
        filter.newestFirst = true;
        filter.after = 0;
        assertThat(found()).isEqualTo("fe");
        filter.after = store().event("e").orElseThrow().sequence();
        assertThat(found()).isEqualTo("dc");
    }

    @Test
    void hostileValuesAreValues() {
        filter.agents = List.of(HOSTILE);
        filter.codes = List.of(HOSTILE);
        filter.entity = Optional.of(HOSTILE);
        assertThat(found()).isEqualTo("e");
        filter.codes = List.of("\"]'", "\u0000", "\ud800");
        assertThat(found()).isEmpty();
        assertThat(all()).hasSize(6);
    }

    @Test
    void limitsAreBounded() {
        filter.limit = 0;
        assertThat(EventQuery.of(filter.build()).limit()).isEqualTo(EventQuery.USUAL);
        filter.limit = Integer.MAX_VALUE;
        assertThat(EventQuery.of(filter.build()).limit()).isEqualTo(EventQuery.MOST);
        filter.limit = -1;
        assertThat(EventQuery.of(filter.build()).limit()).isEqualTo(EventQuery.USUAL);
        filter.agents = Collections.nCopies(100_000, "x");
        assertThat(found()).isEmpty();
    }

    @Test
    void anAnswerIsBoundedInItsText() {
        for (int i = 0; i < 600; i++) {
            store().accept(Events.builder(i)
                    .errorCodes(List.of("big" + i))
                    .message("m".repeat(16_000))
                    .build());
        }
        filter.limit = EventQuery.MOST;
        List<StoredEvent> page = store().events(filter.build());
        assertThat(page).hasSizeBetween(500, 540);
        filter.after = page.get(page.size() - 1).sequence();
        assertThat(store().events(filter.build())).hasSize(606 - page.size());
    }
}
