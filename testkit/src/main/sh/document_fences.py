"""The shell fences of a Markdown document, and the marks before them. `documents` names the marks."""
import collections
import re

MARKS = [
    ("skip", r"not run(?: `(?P<text>.*)`)?: (?P<reason>.+)"),
    ("first", r"run `(?P<command>.*)` first: (?P<reason>.+)"),
    ("instead", r"run `(?P<command>.*)` for `(?P<text>.*)`: (?P<reason>.+)"),
    ("beside", r"until stopped `(?P<text>.*)`, ready at `(?P<ready>.*)`"),
    ("code", r"exit code (?P<code>\d+) `(?P<text>.*)`: (?P<reason>.+)"),
    ("cluster", r"in a cluster: (?P<reason>.+)"),
    ("node", r"on a node of scenario (?P<scenario>\S+): (?P<reason>.+)"),
]

Mark = collections.namedtuple("Mark", "kind line values")
Command = collections.namedtuple("Command", "line text")
Fence = collections.namedtuple("Fence", "line commands marks")


def parse_mark(text, line):
    for kind, pattern in MARKS:
        match = re.fullmatch(pattern, text)
        if match:
            return Mark(kind, line, match.groupdict())
    raise ValueError(f"line {line}: expected a mark, seen: {text}")


def fences(text):
    """The shell fences of a document, each with the marks before it."""
    marks, inside, found = [], None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\w*)\s*$", line)
        comment = re.fullmatch(r"<!-- ((?:not run|run|until stopped|exit code|on a node|in a cluster)\b.*) -->", line.strip())
        if inside is not None:
            if fence:
                if inside[1] in ("sh", "bash", "shell", "console"):
                    found.append(Fence(inside[0], commands(inside[2], inside[1] == "console"), marks))
                elif marks:
                    raise ValueError(f"line {inside[0]}: a mark, and no shell fence after it")
                inside, marks = None, []
            else:
                inside[2].append((number, line))
        elif fence:
            inside = (number, fence.group(1), [])
        elif comment:
            marks.append(parse_mark(comment.group(1), number))
        elif marks:
            raise ValueError(f"line {marks[0].line}: a mark, and no fence after it")
    return found


def commands(lines, console):
    if console:
        return [Command(number, line[2:]) for number, line in lines if line.startswith("$ ")]
    if lines and lines[0][1].startswith("#!"):
        return [Command(lines[0][0], "\n".join(line for _, line in lines))]
    found, open_line = [], False
    for number, line in lines:
        if open_line:
            found[-1] = Command(found[-1].line, found[-1].text + "\n" + line)
        elif line.strip() and not line.lstrip().startswith("#"):
            found.append(Command(number, line))
        else:
            continue
        open_line = line.endswith("\\")
    return found
