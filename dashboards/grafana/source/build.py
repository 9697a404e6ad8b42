"""Writes the dashboards beside this folder: python3 dashboards/grafana/source/build.py

`--check` writes nothing and fails if a file is not what the source makes.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True

import delivery  # noqa: E402
import overview  # noqa: E402
import provider  # noqa: E402
import store  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent.parent


def main():
    stale = []
    for module in (overview, provider, delivery, store):
        file = FOLDER / f"{module.__name__}.json"
        text = json.dumps(module.BOARD, indent=2, ensure_ascii=False) + "\n"
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(file.name)
    if stale:
        sys.exit(f"{', '.join(stale)}: not what the source makes; run python3 dashboards/grafana/source/build.py")


main()
