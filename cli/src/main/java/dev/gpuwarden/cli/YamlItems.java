package dev.gpuwarden.cli;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.events.DocumentEndEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.parser.Parser;

/**
 * A parser that makes a document of each item of a Kubernetes list, so that the objects of a cluster are never in memory together. The
 * other keys of the list become documents before and behind. An alias must not name an anchor of another item.
 */
final class YamlItems implements Parser {

    private static final String ITEMS = "items";

    private final Parser parser;
    private final Deque<Event> ready = new ArrayDeque<>();
    private Optional<Event> root = Optional.empty();
    private int depth;
    private boolean inItems;
    /** True if the next node of the root mapping is a key. */
    private boolean keyIsNext;

    YamlItems(Parser parser) {
        this.parser = parser;
    }

    private void fill() {
        while (ready.isEmpty() && parser.hasNext()) {
            Event event = parser.next();
            switch (event.getEventId()) {
                case DocumentStart -> root = Optional.empty();
                case MappingStart, SequenceStart -> start(event);
                case MappingEnd, SequenceEnd -> depth--;
                default -> {}
            }
            if (inItems && depth == 1) {
                leaveItems(event);
            } else {
                pass(event);
            }
        }
    }

    private void start(Event event) {
        depth++;
        if (depth == 1) {
            boolean mapping = event.getEventId() == Event.ID.MappingStart;
            root = mapping ? Optional.of(event) : Optional.empty();
            keyIsNext = mapping;
        }
    }

    /** Hands on an event outside a list, or of an item. */
    private void pass(Event event) {
        if (inItems && startsNode(event, 2)) {
            ready.add(new DocumentStartEvent(true, Optional.empty(), Map.of()));
        }
        ready.add(event);
        if (inItems && endsNode(event, 2)) {
            ready.add(new DocumentEndEvent(true));
        } else if (!inItems && root.isPresent() && endsNode(event, 1)) {
            boolean key = keyIsNext;
            keyIsNext = !keyIsNext;
            if (key && event instanceof ScalarEvent scalar && scalar.getValue().equals(ITEMS)) {
                enterItems();
            }
        }
    }

    /** Returns whether a node begins whose parent has this depth. */
    private boolean startsNode(Event event, int parent) {
        return switch (event.getEventId()) {
            case Scalar, Alias -> depth == parent;
            case MappingStart, SequenceStart -> depth == parent + 1;
            default -> false;
        };
    }

    private boolean endsNode(Event event, int parent) {
        return switch (event.getEventId()) {
            case Scalar, Alias, MappingEnd, SequenceEnd -> depth == parent;
            default -> false;
        };
    }

    private void enterItems() {
        if (parser.checkEvent(Event.ID.SequenceStart)) {
            parser.next();
            depth++;
            inItems = true;
            ready.removeLast();
            ready.add(new MappingEndEvent());
            ready.add(new DocumentEndEvent(true));
        }
    }

    private void leaveItems(Event end) {
        inItems = false;
        keyIsNext = true;
        ready.add(new DocumentStartEvent(true, Optional.empty(), Map.of()));
        ready.add(root.orElse(end));
    }

    @Override
    public Event next() {
        fill();
        return ready.remove();
    }

    @Override
    public boolean hasNext() {
        fill();
        return !ready.isEmpty();
    }

    @Override
    public Event peekEvent() {
        fill();
        return ready.element();
    }

    @Override
    public boolean checkEvent(Event.ID choice) {
        fill();
        return !ready.isEmpty() && ready.element().getEventId() == choice;
    }
}
