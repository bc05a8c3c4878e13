package dev.gpuwarden.aggregator.breaker;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The nodes that a circuit breaker counts together.
 *
 * @param rate the number of nodes that may be taken out of service within the window
 * @param level the number of nodes that may be out of service at the same time, for any reason
 */
public record Pool(String name, NodeSelector selector, Limit rate, Duration window, Limit level) {

    /** NVSentinel's own limits: half of the nodes with the GPU label in five minutes, and half of them at the same time. */
    public static final Pool GPU_NODES = new Pool(
            "gpu-nodes",
            NodeSelector.parse("nvidia.com/gpu.present=true"),
            Limit.percent(50),
            Duration.ofMinutes(5),
            Limit.percent(50));

    /**
     * The number of a pool's nodes that may be out of service. If both values are present, the lower one holds.
     *
     * @param percent the share of the pool's nodes, 0 to 100 %, rounded up; empty for no limit in percent
     * @param nodes the number of nodes; empty for no limit as a number
     */
    public record Limit(OptionalInt percent, OptionalInt nodes) {

        public Limit {
            if (percent.isEmpty() && nodes.isEmpty()) {
                throw new IllegalArgumentException("expected a percentage, a number of nodes, or both; there is none");
            }
            if (percent.isPresent() && (percent.getAsInt() < 0 || percent.getAsInt() > 100)) {
                throw new IllegalArgumentException("expected a percentage of 0 to 100, found " + percent.getAsInt());
            }
            if (nodes.isPresent() && nodes.getAsInt() < 0) {
                throw new IllegalArgumentException("expected a number of nodes, found " + nodes.getAsInt());
            }
        }

        public static Limit percent(int percent) {
            return new Limit(OptionalInt.of(percent), OptionalInt.empty());
        }

        /** @param total the number of the pool's nodes, at least 1 */
        int allowed(int total) {
            long byPercent = percent.isPresent() ? ((long) total * percent.getAsInt() + 99) / 100 : total;
            return (int) Math.min(byPercent, Math.min(nodes.orElse(total), total));
        }
    }

    /** The reader and writer of pools in text: {@code gpu-nodes;nvidia.com/gpu.present=true;rate=50%,20/5m;level=50%}. */
    public static final class Parser {

        /** The permitted keys of a ConfigMap. */
        private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,63}");

        private static final int PARTS = 4;
        private static final Pattern RATE = Pattern.compile("rate=([^/]+)/(\\d+[smh])");
        private static final Pattern LEVEL = Pattern.compile("level=(.+)");
        private static final Pattern LIMIT = Pattern.compile("(?:(\\d{1,3})%)?,?(\\d{1,6})?");

        private Parser() {}

        /** Returns the pools of a list that was split at each comma, as settings are. A comma within a pool does not end it. */
        public static List<String> separate(List<String> pieces) {
            List<String> pools = new ArrayList<>();
            for (String piece : pieces) {
                int last = pools.size() - 1;
                boolean next =
                        last < 0 || piece.contains(";") && pools.get(last).split(";", -1).length >= PARTS;
                if (next) {
                    pools.add(piece);
                } else {
                    pools.set(last, pools.get(last) + "," + piece);
                }
            }
            return pools;
        }

        /**
         * Returns all pools of a list that was split at each comma.
         *
         * @throws IllegalArgumentException if {@link #parse} refuses a pool, or two pools have the same name
         */
        public static List<Pool> parseAll(List<String> pieces) {
            List<Pool> pools = separate(pieces).stream().map(Parser::parse).toList();
            if (pools.stream().map(Pool::name).distinct().count() != pools.size()) {
                throw new IllegalArgumentException("two pools have the same name");
            }
            return pools;
        }

        /** @throws IllegalArgumentException with the expected and the found text */
        public static Pool parse(String text) {
            String[] parts = text.split(";", -1);
            if (parts.length != PARTS) {
                throw new IllegalArgumentException(
                        "expected NAME;SELECTOR;rate=LIMIT/TIME;level=LIMIT, found \"" + text + "\"");
            }
            if (!NAME.matcher(parts[0]).matches()) {
                throw new IllegalArgumentException(
                        "expected a name of letters, digits and .-_, found \"" + parts[0] + "\"");
            }
            Matcher rate = RATE.matcher(parts[2].strip());
            Matcher level = LEVEL.matcher(parts[3].strip());
            if (!rate.matches()) {
                throw new IllegalArgumentException(
                        "expected rate=LIMIT/TIME as in rate=50%/5m, found \"" + parts[2] + "\"");
            }
            if (!level.matches()) {
                throw new IllegalArgumentException(
                        "expected level=LIMIT as in level=50%,20, found \"" + parts[3] + "\"");
            }
            return new Pool(
                    parts[0],
                    NodeSelector.parse(parts[1].strip()),
                    limit(rate.group(1)),
                    window(rate.group(2)),
                    limit(level.group(1)));
        }

        /** Returns the pools in text with commas between them. {@link #parseAll} reads the same pools from its parts. */
        public static String write(List<Pool> pools) {
            return pools.stream().map(Parser::write).collect(Collectors.joining(","));
        }

        private static String write(Pool pool) {
            return pool.name() + ";" + pool.selector() + ";rate=" + write(pool.rate()) + "/" + write(pool.window())
                    + ";level=" + write(pool.level());
        }

        private static String write(Limit limit) {
            List<String> parts = new ArrayList<>();
            limit.percent().ifPresent(percent -> parts.add(percent + "%"));
            limit.nodes().ifPresent(nodes -> parts.add(String.valueOf(nodes)));
            return String.join(",", parts);
        }

        private static String write(Duration window) {
            long seconds = window.toSeconds();
            return seconds % 3600 == 0 ? seconds / 3600 + "h" : seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
        }

        private static Limit limit(String text) {
            Matcher limit = LIMIT.matcher(text);
            if (text.isEmpty() || !limit.matches()) {
                throw new IllegalArgumentException("expected a limit as 50%, 20 or 50%,20, found \"" + text + "\"");
            }
            return new Limit(number(limit.group(1)), number(limit.group(2)));
        }

        private static OptionalInt number(@org.jspecify.annotations.Nullable String digits) {
            return digits == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(digits));
        }

        private static Duration window(String text) {
            try {
                Duration window = Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
                if (window.isZero()) {
                    throw new IllegalArgumentException("expected a time above 0, found " + text);
                }
                return window;
            } catch (DateTimeException e) {
                throw new IllegalArgumentException("expected a time as 5m, found \"" + text + "\"", e);
            }
        }
    }
}
