package dev.gpuwarden.cli;

import java.nio.file.Path;

/** The origin of a setting's value; the earlier kinds override the later ones. */
sealed interface Origin {

    record Flag(String name) implements Origin {
        @Override
        public String toString() {
            return "flag " + name;
        }
    }

    record Variable(String name) implements Origin {
        @Override
        public String toString() {
            return "environment " + name;
        }
    }

    record FileLine(Path file, int line) implements Origin {
        @Override
        public String toString() {
            return file + ":" + line;
        }
    }

    record Default() implements Origin {
        @Override
        public String toString() {
            return "default";
        }
    }
}
