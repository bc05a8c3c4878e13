package dev.gpuwarden.packaging.words;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Prose of scripts, manifests and settings: comments after #, and the texts that users read. */
final class ScriptProse {

    private static final Pattern COMMENT = Pattern.compile("(?m)(?:^|(?<=[ \t]))#(?!!)([^\n]*)");
    private static final Pattern DOCSTRING = Pattern.compile("\"\"\"([\\s\\S]*?)\"\"\"");
    private static final Pattern DESCRIPTION = Pattern.compile(
            "(?m)(^[ \t-]*)?\\b(?:description|summary|runbook|message|Description)[:=][ \t]*(?:\"((?:[^\"\\\\\n]|\\\\.)*)\"|'((?:[^'\n]|'')*)'|([^\\s>|{\\[][^\n]*))");
    private static final Pattern SAYS = Pattern.compile(
            "(?m)\\b(?:say|fail|echo|printf|step|die)\\b[^\n\"']*(?:'([^'\n]*)'[^\n\"']*)?(?:\"((?:[^\"\\\\]|\\\\.){2,500})\")");
    private static final Pattern HERE =
            Pattern.compile("<<-?['\"]?(\\w+)['\"]?[^\n]*\n([\\s\\S]*?)\n[ \t]*\\1(?=\n|$)");
    private static final Pattern SUBSTITUTION = Pattern.compile("\\$\\([^()\n]*\\)");
    private static final Pattern USAGE = Pattern.compile("(?i)^\\s*usage:");

    private ScriptProse() {}

    /** Marks comments; a comment over several lines is one paragraph. */
    static void comments(Mask mask) {
        Matcher comment = COMMENT.matcher(mask.text);
        int last = -1;
        while (comment.find()) {
            String line = mask.text.substring(mask.text.lastIndexOf('\n', comment.start()) + 1, comment.start());
            if (!balanced(line)) {
                continue;
            }
            mask.keep(comment.start(1), comment.end(1));
            if (last < 0
                    || !line.isBlank()
                    || !mask.text.substring(last, comment.start()).isBlank()) {
                mask.start(comment.start());
            }
            last = comment.end();
        }
    }

    /** Marks the descriptions in manifests, alert rules and units. */
    static void descriptions(Mask mask) {
        Matcher description = DESCRIPTION.matcher(mask.text);
        while (description.find()) {
            for (int group = 2; group <= 4; group++) {
                int from = description.start(group);
                if (from >= 0) {
                    int end = description.end(group);
                    if (group == 4 && description.group(1) == null) {
                        // In a flow mapping a plain text ends at its next key.
                        end = from + description.group(4).split("[,}]", 2)[0].length();
                    }
                    mask.keep(from, end);
                    mask.start(from - 1);
                }
            }
        }
    }

    /** Marks the messages of a shell script, and its usage. */
    static void messages(Mask mask) {
        Matcher says = SAYS.matcher(mask.text);
        while (says.find()) {
            for (int group = 1; group <= 2; group++) {
                if (says.start(group) > 0) {
                    mask.keep(says.start(group), says.end(group));
                    mask.start(says.start(group) - 1);
                }
            }
        }
        mask.each(SUBSTITUTION, command -> mask.quote(command.start(), command.end()));
        Matcher here = HERE.matcher(mask.text);
        while (here.find()) {
            if (USAGE.matcher(here.group(2)).find()) {
                mask.keep(here.start(2), here.end(2));
            }
        }
    }

    /** Marks the docstrings of Python. */
    static void docstrings(Mask mask) {
        Matcher docstring = DOCSTRING.matcher(mask.text);
        while (docstring.find()) {
            mask.keep(docstring.start(1), docstring.end(1));
            mask.start(docstring.start());
        }
    }

    /** A # within quotes begins no comment. */
    private static boolean balanced(String line) {
        return line.chars().filter(c -> c == '"').count() % 2 == 0
                && line.chars().filter(c -> c == '\'').count() % 2 == 0;
    }
}
