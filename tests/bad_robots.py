"""Robot files with errors. tests/data/bad.json lists them by topic; each is a change of a file in tests/data/good:

base           name of that file
set            {path: value}; the index after the last item of an array appends an item
drop           [path, ...], after `set`
replace        [old, new]: a change of the text of the file instead, for what is not JSON
text           the whole file instead
errors         {path: pattern of the message}, one for each error
beyond_schema  why the JSON schema does not refuse the file; absent if it does

Paths are those of messages, such as links[1].beam.EIz."""

import json
import re
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"


def unique(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key occurs twice among {[key for key, _ in pairs]}"
    return dict(pairs)


TOPICS = json.loads((DATA / "bad.json").read_text(encoding="utf-8"), object_pairs_hook=unique)
CASES = unique([pair for topic in TOPICS.values() for pair in topic.items()])


def find(robot, path):
    """(object or array, key or index) of a path"""
    *outer, last = [int(index) if index else key for key, index in re.findall(r"(\w+)|\[(\d+)\]", path)]
    for step in outer: robot = robot[step]
    return robot, last


def changed(robot, case):
    for path, value in case.get("set", {}).items():
        owner, key = find(robot, path)
        if isinstance(owner, list) and key == len(owner): owner.append(value)
        else: owner[key] = value
    for path in case.get("drop", []):
        owner, key = find(robot, path)
        del owner[key]
    return robot


def file_text(case):
    if "text" in case: return case["text"]
    base = (DATA / f"good/{case['base']}.json").read_text(encoding="utf-8")
    if "replace" not in case: return json.dumps(changed(json.loads(base), case), ensure_ascii=False)
    old, new = case["replace"]
    assert base.count(old) == 1, f"{old!r} must occur once in {case['base']}"
    return base.replace(old, new)
