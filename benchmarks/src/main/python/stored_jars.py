"""Rewrites the jars below a folder without compression, in which form an archive of all of them becomes smaller."""

import pathlib
import sys
import zipfile


def store(jar):
    stored = jar.with_suffix(".stored")
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            entry.compress_type = zipfile.ZIP_STORED
            new.writestr(entry, content)
    stored.replace(jar)


for path in pathlib.Path(sys.argv[1]).rglob("*.jar"):
    store(path)
