package dev.gpuwarden.cli;

import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.ParserException;
import org.snakeyaml.engine.v2.parser.Parser;

/** A parser that refuses deep nesting: the composer behind it calls itself for each level, and would exhaust its stack. */
final class YamlDepth implements Parser {

    private static final int DEEPEST = 100;

    private final Parser parser;
    private int depth;

    YamlDepth(Parser parser) {
        this.parser = parser;
    }

    @Override
    public Event next() {
        Event event = parser.next();
        switch (event.getEventId()) {
            case MappingStart, SequenceStart -> depth++;
            case MappingEnd, SequenceEnd -> depth--;
            default -> {}
        }
        if (depth > DEEPEST) {
            throw new ParserException("more than " + DEEPEST + " levels of nesting", event.getStartMark());
        }
        return event;
    }

    @Override
    public boolean hasNext() {
        return parser.hasNext();
    }

    @Override
    public boolean checkEvent(Event.ID choice) {
        return parser.checkEvent(choice);
    }

    @Override
    public Event peekEvent() {
        return parser.peekEvent();
    }
}
