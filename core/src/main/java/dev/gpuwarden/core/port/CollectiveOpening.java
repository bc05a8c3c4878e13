package dev.gpuwarden.core.port;

/** The outcome of opening a library of collectives. A missing one names the library and the places that were searched. */
public sealed interface CollectiveOpening permits CollectiveOpening.Opened, DriverOpening.Unavailable {

    record Opened(CollectiveDriver driver) implements CollectiveOpening {}
}
