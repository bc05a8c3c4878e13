package dev.gpuwarden.packaging.words;

import java.util.Set;

/** The prose of a file: what a person reads in it. The kind of file decides, never its module. */
final class Prose {

    private static final Set<String> HASH = Set.of("awk", "conf", "service", "toml", "properties", "yaml", "yml");

    private Prose() {}

    /**
     * Returns the file's prose at its places, with all else masked. Empty where the file has none: data, recorded output, and text
     * of other projects.
     *
     * @param path from the repository's root, with slashes
     */
    static String of(String path, String text) {
        Mask mask = new Mask(text);
        String name = path.substring(path.lastIndexOf('/') + 1);
        String extension = name.contains(".") ? name.substring(name.lastIndexOf('.') + 1) : "";
        boolean test = path.contains("src/test/");
        if (isQuotation(path, text)) {
            return "";
        } else if (Set.of("java", "proto", "c", "h").contains(extension)) {
            CodeProse.mark(mask, !test && extension.equals("java"), false);
        } else if (extension.equals("js")) {
            CodeProse.mark(mask, !test, true);
        } else if (extension.equals("md")) {
            TextProse.markdown(mask);
        } else if (extension.equals("html")) {
            TextProse.page(mask);
        } else if (extension.equals("xml")) {
            TextProse.xml(mask);
        } else if (name.endsWith("usage.txt")) {
            TextProse.all(mask);
        } else if (extension.equals("py") || text.startsWith("#!/usr/bin/env python")) {
            ScriptProse.comments(mask);
            ScriptProse.docstrings(mask);
        } else if (extension.equals("sh") || text.startsWith("#!") || (extension.isEmpty() && text.startsWith("# "))) {
            ScriptProse.comments(mask);
            ScriptProse.messages(mask);
        } else if (HASH.contains(extension)) {
            ScriptProse.comments(mask);
            if (!test) {
                ScriptProse.descriptions(mask);
            }
        } else {
            return "";
        }
        return mask.prose();
    }

    /** Expected output, recorded results, and files that another project holds the copyright of. */
    private static boolean isQuotation(String path, String text) {
        String head = text.substring(0, Math.min(text.length(), 1500));
        return path.contains("/src/test/resources/")
                || path.contains("/results/")
                || (head.contains("Copyright ") && !head.contains("gpuwarden"));
    }
}
