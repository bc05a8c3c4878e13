package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.util.TsvResource;
import java.util.List;

/** A row of xid-lines.tsv: a line of a log and its expected reading; "-" for a value that the line does not have. */
record CorpusLine(
        String id, String text, String signal, String code, String pci, String pid, String process, String note) {

    static List<CorpusLine> all() {
        return TsvResource.read(
                CorpusLine.class,
                "xid-lines.tsv",
                10,
                c -> new CorpusLine(
                        c[0], c[1].replace("\\n", "\n").replace("\\t", "\t"), c[2], c[3], c[4], c[5], c[6], c[7]));
    }

    @Override
    public String toString() {
        return id + " " + text;
    }
}
