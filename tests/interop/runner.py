"""Answers questions with the providers' own Python packages.

One JSON object a line on standard input, one on standard output. See tests/interop/README.md for the questions.
"""

import base64
import importlib
import importlib.metadata
import json
import pathlib
import sys
import warnings

# Packages that tell what they do tell it on standard error: standard output is for answers.
answers, sys.stdout = sys.stdout, sys.stderr
warnings.simplefilter("ignore")

FOLDER = pathlib.Path(__file__).parent / "python"
sys.path.insert(0, str(FOLDER))

CASES = {}
sys.dont_write_bytecode = True  # nothing is left beside the sources
for file in sorted(FOLDER.glob("*_cases.py")):
    CASES.update(importlib.import_module(file.stem).CASES)
sys.dont_write_bytecode = False

# What an entry says beside its functions.
FACTS = ("secret", "private_key", "settings", "sample", "headers", "query", "tamper", "plain")


class Request:
    """What the questions say of a request: `secret`, `method`, `url`, `headers`, `now`; and its body."""

    def __init__(self, question):
        self.__dict__.update(question)
        self.bytes = base64.b64decode(question["body"])
        self.text = self.bytes.decode("utf-8", "surrogateescape")


def installed(package):
    try:
        return {"version": importlib.metadata.version(package)}
    except importlib.metadata.PackageNotFoundError as error:
        return {"error": str(error)}


def describe(name, case):
    facts = {key: case[key] for key in FACTS if key in case}
    return {
        "name": name,
        "provider": case["provider"],
        "package": case["package"],
        **installed(case["package"]),
        "calls": case["calls"],
        "signs": "sign" in case,
        "verifies": "verify" in case,
        "makes": "make" in case,
        **facts,
    }


def answer(question):
    if question["ask"] == "cases":
        return {"cases": [describe(name, case) for name, case in CASES.items()]}
    found = CASES[question["case"]][question["ask"]](Request(question))
    if question["ask"] == "verify":
        if found is False:
            raise ValueError("said no")
        return {}
    if "body" in found:
        found = {**found, "body": base64.b64encode(found["body"].encode()).decode()}
    return found


for line in sys.stdin:
    try:
        told = {"ok": True, **answer(json.loads(line))}
    except Exception as error:  # the packages have no common class of their own
        told = {"ok": False, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(told), file=answers, flush=True)
