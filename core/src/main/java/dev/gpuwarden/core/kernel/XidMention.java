package dev.gpuwarden.core.kernel;

/** The words that the driver prints with each XID and SXid, wherever a line has them and in any case. A line that has them is about one. */
public enum XidMention {
    NONE("", ""),
    XID("NVRM:", "NVRM: Xid"),
    SXID("nvidia-nvswitch", "nvidia-nvswitch: SXid");

    private static final String CODE = "xid";

    /** The largest distance of the driver's name and the word: newer drivers print the GPU's address between them. */
    private static final int FARTHEST = 64;

    private final String driver;
    private final String label;

    XidMention(String driver, String label) {
        this.driver = driver;
        this.label = label;
    }

    /** Returns the words in their usual form. */
    public String label() {
        return label;
    }

    /** Returns the first mention in the text. Allocates nothing. */
    public static XidMention of(String text) {
        return of(text, 0);
    }

    /** Returns the mention behind the first one, with a driver's name of its own: a line can have two messages. */
    public static XidMention second(String text) {
        return of(text, 1);
    }

    /** @param skipped the number of mentions before the one to return */
    private static XidMention of(String text, int skipped) {
        int before = skipped;
        int floor = 0;
        // Each third character suffices, since the word has three.
        for (int i = CODE.length() - 1; i < text.length(); i += CODE.length()) {
            int small = text.charAt(i) | 0x20;
            int letter = small == 'x' ? 0 : small == 'i' ? 1 : 2;
            if ((letter < 2 || small == 'd') && text.regionMatches(true, i - letter, CODE, 0, CODE.length())) {
                XidMention found = at(text, i - letter, floor);
                if (found != NONE && before-- == 0) {
                    return found;
                }
                floor = found == NONE ? floor : i - letter;
            }
        }
        return NONE;
    }

    private static XidMention at(String text, int xid, int floor) {
        int behind = xid + CODE.length();
        if (behind < text.length() && Cursor.isWord(text.charAt(behind))) {
            return NONE;
        }
        boolean switches = xid > 0 && (text.charAt(xid - 1) | 0x20) == 's';
        int start = switches ? xid - 1 : xid;
        if (start > 0 && Cursor.isWord(text.charAt(start - 1))) {
            return NONE;
        }
        XidMention mention = switches ? SXID : XID;
        int length = mention.driver.length();
        for (int i = start - length; i >= floor && i > start - FARTHEST; i--) {
            if (text.regionMatches(true, i, mention.driver, 0, length)) {
                return mention;
            }
        }
        return NONE;
    }
}
