package dev.gpuwarden.packaging.words;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Prose of documents and of markup. */
final class TextProse {

    private static final Pattern FENCE = Pattern.compile("^\\s*(```+|~~~+)");
    private static final Pattern BLOCK = Pattern.compile("^\\s*(?:#+|[-*+]|\\d+[.)])\\s");
    private static final Pattern LINK_TARGET = Pattern.compile("\\]\\([^)\n]*\\)|<https?:[^>\n]*>");
    private static final Pattern RELEASED = Pattern.compile("^## \\[?v?\\d");
    private static final Pattern COMMENT = Pattern.compile("<!--([\\s\\S]*?)-->");
    private static final Pattern NO_TEXT =
            Pattern.compile("<!--[\\s\\S]*?-->|<(script|style)\\b[\\s\\S]*?</\\1>|<[^<>]*>");

    private TextProse() {}

    /** Marks a document; fences, block quotes and the sections of released versions in a changelog are quotations. */
    static void markdown(Mask mask) {
        String text = mask.text;
        String fence = "";
        boolean fresh = true;
        for (int at = 0; at < text.length(); ) {
            int end = text.indexOf('\n', at);
            end = end < 0 ? text.length() : end;
            String line = text.substring(at, end);
            Matcher fenced = FENCE.matcher(line);
            if (fenced.find()) {
                fence = fence.isEmpty() ? fenced.group(1) : line.strip().equals(fence) ? "" : fence;
                fresh = true;
            } else if (RELEASED.matcher(line).find()) {
                return;
            } else if (fence.isEmpty() && !line.stripLeading().startsWith(">")) {
                line(mask, line, at, fresh);
                fresh = line.isBlank() || line.startsWith("#");
            }
            at = end + 1;
        }
        mask.each(LINK_TARGET, target -> mask.quote(target.start() + 1, target.end()));
    }

    private static void line(Mask mask, String line, int at, boolean fresh) {
        Matcher block = BLOCK.matcher(line);
        boolean begins = block.find();
        int body = begins ? block.end() : 0;
        mask.keep(at + body, at + line.length());
        if (begins || fresh) {
            // A paragraph has no marker of its own: its start takes the place of the line break before it.
            mask.start(begins ? at + body - 1 : at - 1);
        }
        if (line.startsWith("|")) {
            for (int i = line.indexOf('|'); i >= 0; i = line.indexOf('|', i + 1)) {
                mask.start(at + i);
            }
        }
    }

    /** Marks the text of a page, without tags, scripts and comments. */
    static void page(Mask mask) {
        Matcher tag = NO_TEXT.matcher(mask.text);
        int from = 0;
        while (tag.find()) {
            mask.keep(from, tag.start());
            mask.start(tag.end() - 1);
            from = tag.end();
        }
        mask.keep(from, mask.text.length());
    }

    /** Marks the comments of XML. */
    static void xml(Mask mask) {
        Matcher comment = COMMENT.matcher(mask.text);
        while (comment.find()) {
            mask.keep(comment.start(1), comment.end(1));
            mask.start(comment.start());
        }
    }

    /** Marks a file that is all text, such as a command's usage. */
    static void all(Mask mask) {
        mask.keep(0, mask.text.length());
    }
}
