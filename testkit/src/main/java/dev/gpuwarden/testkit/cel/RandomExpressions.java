package dev.gpuwarden.testkit.cel;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Random expressions that a CEL compiler accepts, of any cost: texts that grow, lists in lists, patterns, loops in loops. Equal seeds
 * give equal expressions. Not thread-safe.
 */
public final class RandomExpressions {

    private static final int LONGEST = 4000;
    private static final List<String> PATTERNS =
            List.of("'x+y'", "'(x|y)*z'", "'(x?){30}x{30}'", "'.*a.*b.*c.*d'", "'^(x+)+$'", "'[xy]{0,50}z'");

    private final Random random;
    private final List<String> texts;
    private final List<String> lists;
    private final List<String> variables = new ArrayList<>();
    private int names;

    /**
     * @param texts expressions of texts, for example `event.message`
     * @param lists expressions of lists of texts
     */
    public RandomExpressions(long seed, List<String> texts, List<String> lists) {
        this.random = new Random(seed);
        this.texts = List.copyOf(texts);
        this.lists = List.copyOf(lists);
    }

    /** Returns the next boolean expression. */
    public String next() {
        while (true) {
            names = 0;
            String expression = truth(2 + random.nextInt(6));
            if (expression.length() <= LONGEST) {
                return expression;
            }
        }
    }

    private static String call(String form, Object... parts) {
        return String.format(Locale.ROOT, form, parts);
    }

    private String truth(int depth) {
        if (depth <= 0) {
            return call("%s != %s", text(0), text(0));
        }
        int less = depth - 1;
        return switch (random.nextInt(10)) {
            case 0 -> call("(%s || %s)", truth(less), truth(less));
            case 1 -> call("(%s && %s)", truth(less), truth(less));
            case 2 -> "!(" + truth(less) + ")";
            case 3 -> call("%s.matches(%s)", text(less), PATTERNS.get(random.nextInt(PATTERNS.size())));
            case 4 -> call("%s.contains(%s)", text(less), text(less));
            case 5 -> call("(%s == %s)", list(less), list(less));
            case 6 -> call("(%s in %s)", text(less), list(less));
            case 7 -> call("(%s.size() > %d)", random.nextBoolean() ? text(less) : list(less), random.nextInt(9));
            default -> loop(random.nextBoolean() ? "all" : "exists", less, true);
        };
    }

    private String text(int depth) {
        if (depth <= 0) {
            int choice = random.nextInt(4);
            if (choice == 0) {
                return "'" + "xyz".substring(random.nextInt(3)) + "'";
            }
            return choice == 1 && !variables.isEmpty()
                    ? "string(" + variables.get(random.nextInt(variables.size())) + ")"
                    : texts.get(random.nextInt(texts.size()));
        }
        int less = depth - 1;
        return switch (random.nextInt(8)) {
            case 0 -> call("(%s + %s)", text(less), text(less));
            case 1 -> call("%s.replace(%s, %s)", text(less), random.nextBoolean() ? "''" : "'x'", text(less));
            case 2 -> call("%s.join(%s)", list(less), text(less));
            case 3 -> text(less) + (random.nextBoolean() ? ".lowerAscii()" : ".trim()");
            case 4 -> call("(%s ? %s : %s)", truth(less), text(less), text(less));
            case 5 -> call("%s.substring(%d)", text(less), random.nextInt(3));
            case 6 -> call("string(%s.indexOf(%s))", text(less), text(less));
            default -> text(0);
        };
    }

    private String list(int depth) {
        if (depth <= 0) {
            return lists.get(random.nextInt(lists.size()));
        }
        int less = depth - 1;
        return switch (random.nextInt(6)) {
            case 0 -> call("(%s + %s)", list(less), list(less));
            case 1 -> call("%s.split(%s)", text(less), random.nextBoolean() ? "''" : text(less));
            case 2 -> call("[%s, %s, %s]", text(less), text(less), text(less));
            case 3 -> loop("filter", less, true);
            case 4 -> loop("map", less, false);
            default -> list(0);
        };
    }

    private String loop(String macro, int depth, boolean truth) {
        String items = list(depth);
        String name = "v" + names++;
        variables.add(name);
        String body = truth ? truth(depth) : text(depth);
        variables.remove(name);
        return call("%s.%s(%s, %s)", items, macro, name, body);
    }
}
