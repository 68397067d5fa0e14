"""The reference part of docs/robot-file.md, from the newest JSON schema of the robot file."""

import json
import re

from markdown_page import table

HEAD = ["key", "meaning", "unit", "value", "default", "since format"]
UNIT = re.compile(r"\s*\[([^\]]+)\]")


def newest_schema(root):
    """File of the newest format, its schema, and the schemas of older formats from 1."""
    files = (root / "resources").glob("limber-robot-*.schema.json")
    files = sorted(files, key=lambda file: int(re.search(r"-(\d+)\.", file.name)[1]))
    *older, newest = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    return files[-1], newest, older


class Schema:
    """A schema with its references resolved."""

    def __init__(self, document): self.document = document

    def resolve(self, node):
        """The node with what its $ref says; keys beside the $ref win."""
        while isinstance(node, dict) and "$ref" in node:
            target = self.document["$defs"][node["$ref"].rsplit("/", 1)[1]]
            beside = {key: value for key, value in node.items() if key != "$ref"}
            node = {**target, **beside, "name": node["$ref"].rsplit("/", 1)[1]}
        return node

    def members(self, node):
        """(key, member, conditions, required) of an object; conditional members follow the others."""
        for key, member in node.get("properties", {}).items():
            yield key, member, [], key in node.get("required", [])
        conditional = {}
        for branch in node.get("allOf", []):
            then = branch.get("then", {})
            for key, member in then.get("properties", {}).items():
                if not isinstance(member, dict) or not ("title" in member or "$ref" in member): continue
                entry = conditional.setdefault((key, json.dumps(member)), (key, member, [], key in then.get("required", [])))
                entry[2].extend(conditions(branch.get("if", {}).get("properties", {})))
        yield from conditional.values()


def conditions(rules):
    return [f"`{value}`" for rule in rules.values() for value in rule.get("enum") or [rule.get("const")]]


def as_json(value): return json.dumps(value)


def is_object(node): return node.get("type") == "object" or "properties" in node


class Reference:
    """Walks the newest schema depth first; every object is a section."""

    def __init__(self, newest, older):
        self.newest, self.older = Schema(newest), [Schema(one) for one in older]
        self.sections, self.seen, self.written, self.gaps = [], {}, set(), []

    def make(self):
        self.section(self.newest.document, "", [one.document for one in self.older], "robot file")
        return "\n\n".join(section() for section in self.sections)

    def section(self, node, path, old, title):
        """Writes the section of an object and then those of the objects below it. What older formats have in place of something is a list,
        None where one has nothing."""
        place = len(self.sections)
        self.sections.append(None)
        rows, later = [], []
        old_members = [{} if one is None else {key: member for key, member, _, _ in schema.members(one)} for schema, one in zip(self.older, old)]
        for key, member, condition, required in self.newest.members(node):
            member = self.newest.resolve(member)
            earlier = [schema.resolve(members[key]) if key in members else None for schema, members in zip(self.older, old_members)]
            here = f"{path}.{key}" if path else key
            rows.append(self.row(key, member, condition, required, earlier, here))
            later += self.objects(member, here, earlier)
        self.sections[place] = lambda: self.text(title, node, path, rows)
        for member, here, earlier in later: self.visit(member, here, earlier)

    def text(self, title, node, path, rows):
        name = node.get("name")
        about = (node if name is None else self.newest.document["$defs"][name]).get("description", "")
        if about: about = capital(about) + ("" if about.endswith(".") else ".")
        places = self.seen.get(name, [path])
        at = "At " + ", ".join(f"`{place}`" for place in places) + "." if path else ""
        parts = f"### {capital(title)}", " ".join(filter(None, (at, about))), table(HEAD, rows)
        return "\n\n".join(filter(None, parts))

    def visit(self, member, here, earlier):
        name = member.get("name")
        if name is not None:
            self.seen.setdefault(name, []).append(here)
            if len(self.seen[name]) > 1: return
            title = self.newest.document["$defs"][name].get("title", name)
        else:
            title, content = member.get("title", here.rsplit(".", 1)[-1]), json.dumps(member)
            if content in self.written: return
            self.written.add(content)
        self.section(member, here, earlier, title)

    def objects(self, member, here, earlier):
        """Objects inside a member, directly, as items or as alternatives."""
        if member is None or not isinstance(member, dict): return []
        found = [(member, here, earlier)] if is_object(member) and member.get("properties") else []
        for node, place in self.inner(member, here):
            found += self.objects(node, place, [self.counterpart(node, *one) for one in zip(self.older, earlier)])
        return found

    def counterpart(self, node, schema, earlier):
        """What an older schema has in place of an object inside a member."""
        if not isinstance(earlier, dict): return None
        inside = [one for one, _ in self.inner(earlier, "", schema)]
        named = [one for one in inside if one.get("name") == node.get("name") and is_object(one)]
        if named: return named[0]
        return earlier if is_object(earlier) or inside and not is_object(node) else None

    def inner(self, member, here, schema=None):
        schema = schema or self.newest
        if isinstance(member.get("items"), dict): yield schema.resolve(member["items"]), here + "[]"
        for node in alternatives(schema, member): yield node, here

    def row(self, key, member, condition, required, earlier, here):
        description = meaning_of(key, member)
        if description.lower() == key: self.gaps.append(f"{here}: no description")
        unit = UNIT.search(description)
        if not unit and has_numbers(self.newest, member): self.gaps.append(f"{here}: no unit in the description")
        meaning = capital(UNIT.sub("", description, count=1))
        if condition: meaning = f"{', '.join(condition)}: {meaning[:1].lower() + meaning[1:]}"
        return [f"`{key}`", meaning, unit[1] if unit else "", self.value(member, earlier), self.default(member, required, earlier),
                str(since(earlier, lambda one: True))]

    def value(self, member, earlier):
        if "const" in member: return f"`{as_json(member['const'])}`"
        if "enum" in member:
            first = since(earlier, lambda one: True)
            parts = {}
            for value in member["enum"]:
                parts.setdefault(since(earlier, lambda one: value in one.get("enum", [])), []).append(f"`{value}`")
            return "; ".join((f"format {n}: " if n != first else "") + ", ".join(words) for n, words in sorted(parts.items()))
        options = alternatives(self.newest, member)
        if not options: return self.plain_value(member)
        return " or ".join(dict.fromkeys(self.value({"type": member.get("type"), **node}, []) for node in options))

    def plain_value(self, member):
        kind = member.get("type")
        if isinstance(member.get("additionalProperties"), dict): return "object of numbers"
        if is_object(member): return self.link(member)
        if kind == "array":
            item, least, most = self.newest.resolve(member.get("items", {})), member.get("minItems"), member.get("maxItems")
            if item.get("type") == "number" and least == most and least is not None: return f"{least} numbers"
            if item.get("items", {}).get("type") == "array": return f"{least} matrices"
            if item.get("type") == "array": return "rows of numbers" if least != most else f"{least} rows of numbers"
            plural = {"number": "numbers", "integer": "integers", "string": "names"}
            fixed = least == most and least is not None
            if item.get("type") in plural: return f"{least if fixed else 'array of'} {plural[item['type']]}"
            return f"{least if fixed else 'array'} of {self.value(item, [])}"
        if isinstance(kind, list): return " or ".join(kind)
        return {"boolean": "`true`, `false`", "null": "`null`"}.get(kind, kind or "any")

    def link(self, member):
        """To the section of a named definition; other objects have theirs below the table."""
        name = member.get("name")
        title = member.get("title", "object") if name is None else self.newest.document["$defs"][name].get("title", name)
        return f"[{title}](#{anchor(title)})"

    def default(self, member, required, earlier):
        if required: return "required"
        if "default" not in member: return ""
        text = f"`{as_json(member['default'])}`"
        for n, one in enumerate(earlier, 1):
            if isinstance(one, dict) and one.get("default", member["default"]) != member["default"]: text += f"; in format {n} `{as_json(one['default'])}`"
        return text


def since(earlier, has):
    """The first format whose counterpart is there and has something."""
    return next((n for n, one in enumerate(earlier, 1) if isinstance(one, dict) and has(one)), len(earlier) + 1)


def alternatives(schema, member):
    """The nodes of oneOf or anyOf, without those that only say which keys are required."""
    nodes = [node for kind in ("oneOf", "anyOf") for node in member.get(kind, []) if set(node) - {"required"}]
    return [schema.resolve(node) for node in nodes]


def has_numbers(schema, member):
    member = schema.resolve(member)
    if any(has_numbers(schema, node) for node in alternatives(schema, member)): return True
    if member.get("type") == "number": return True
    if member.get("type") == "array":
        inner = schema.resolve(member.get("items", {}))
        return has_numbers(schema, inner) and "pattern" not in inner
    return False


def meaning_of(key, member):
    """Title and description, where the one does not repeat the other."""
    title, description = member.get("title", ""), member.get("description", "")
    if not description: return title or key
    repeated = not title or title.lower() == key or title.lower() in description.lower()
    return description if repeated else f"{title}: {description}"


def anchor(title): return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def capital(text):
    """Not of a symbol such as `a` or `d`."""
    return text[:1].upper() + text[1:] if len(text.split(" ")[0]) > 1 or text[:2] == "a " else text


def reference(root):
    """(Markdown, source, gaps in the schema)."""
    file, newest, older = newest_schema(root)
    walk = Reference(newest, older)
    text = walk.make()
    return text, f"resources/{file.name}", walk.gaps
