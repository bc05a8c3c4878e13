package dev.gpuwarden.aggregator.cel;

import java.util.Map;
import java.util.Set;

/**
 * The fields that the variables of an expression are known to have. Paths are as in an expression: `resource.metadata`.
 *
 * @param fields all fields of an object by its path; an object that is not listed can have any field
 * @param types the types of fields by their paths; a field that is not listed can have any type
 * @param available the variables in words, for the message of an expression that does not compile
 */
public record KnownFields(Map<String, Set<String>> fields, Map<String, Type> types, String available) {

    /** The type of a field's value. */
    public enum Type {
        BOOL("boolean"),
        INT("number"),
        TEXT("text"),
        LIST("list"),
        MAP("map");

        private final String noun;

        Type(String noun) {
            this.noun = noun;
        }

        String noun() {
            return noun;
        }
    }
}
