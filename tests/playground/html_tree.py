"""A strict reader of the page's HTML: elements balanced and rightly nested, attributes known.

`read(html)` gives the tree or raises `AssertionError`; browsers forgive, this does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"input", "br", "wbr"}
PHRASING = {"p", "h2", "h3", "b", "i", "em", "small", "sub", "sup", "span", "button", "label", "code", "pre", "output", "option", "legend", "a"}  # fmt: skip
BLOCK = {"div", "aside", "section", "p", "h2", "h3", "figure", "figcaption", "table", "fieldset", "legend", "pre", "details", "summary", "svg"}  # fmt: skip
SVG = {"g", "line", "polyline", "circle", "text"}
INLINE = {"b", "i", "em", "small", "sub", "sup", "span", "button", "label", "code", "output", "input", "canvas", "select", "option", "br", "wbr", "textarea"}  # fmt: skip
TABLE = {"tr", "td", "th"}
PARENT = {"tr": {"table"}, "td": {"tr"}, "th": {"tr"}, "option": {"select"}, "figcaption": {"figure"}, "legend": {"fieldset"}, "summary": {"details"}} | {key: {"svg", "g"} for key in SVG}  # fmt: skip
CHILDREN = {"table": {"tr"}, "tr": {"td", "th"}, "select": {"option"}, "option": set(), "canvas": set(), "textarea": set(), "svg": SVG, "g": SVG}  # fmt: skip
ATTRIBUTES = {
    "class", "id", "role", "title", "style", "tabindex", "type", "name", "value", "checked", "selected", "disabled",
    "min", "max", "step", "maxlength", "placeholder", "autocomplete", "scope", "rows",
    "spellcheck", "inputmode", "hidden", "colspan",
    "viewbox", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "points", "text-anchor", "transform", "stroke-dasharray",
}  # fmt: skip


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    @property
    def classes(self) -> set[str]:
        return set((self.attributes.get("class") or "").split())

    def all(self, tag: str = "", class_: str = "") -> Iterator[Element]:
        """Every element below, with that tag and class."""
        for child in self.children:
            if isinstance(child, Element):
                if tag in ("", child.tag) and (not class_ or class_ in child.classes):
                    yield child
                yield from child.all(tag, class_)

    def first(self, tag: str = "", class_: str = "") -> Element:
        return next(self.all(tag, class_))


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in BLOCK | INLINE | TABLE | SVG, f"<{tag}>"
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        strange = {n for n in names if n not in ATTRIBUTES and not n.startswith(("data-", "aria-"))}
        assert not strange, f"<{tag}> has {strange}"
        above = self.open[-1].tag
        assert above in PARENT.get(tag, {above}), f"<{tag}> in <{above}>"
        assert tag in CHILDREN.get(above, {tag}), f"<{tag}> in <{above}>"
        inside = {e.tag for e in self.open} & PHRASING
        assert not (inside and tag in BLOCK | TABLE), f"<{tag}> in {inside}"
        if tag in ("button", "label", "a", "input", "select"):
            assert "button" not in inside, f"<{tag}> in <button>"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        inside = self.open[-1].tag
        assert inside not in ("table", "tr", "select", "canvas") or not data.strip(), data
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    unknown_decl = handle_pi = handle_decl


def read(html: str) -> Element:
    """The tree of a piece of HTML; every id once, every element closed."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == [reader.root], [e.tag for e in reader.open]
    ids = [e.attributes["id"] for e in reader.root.all() if "id" in e.attributes]
    assert len(ids) == len(set(ids)), "an id twice"
    told = [
        i for e in reader.root.all() for i in (e.attributes.get("aria-describedby") or "").split()
    ]
    assert set(told) <= set(ids), f"described by what is not there: {set(told) - set(ids)}"
    return reader.root


def tables(root: Element) -> dict[tuple[str, int], Element]:
    """{(matrix, head): its table}."""
    found = {
        (t.attributes["data-matrix"], int(t.attributes["data-head"])): t for t in root.all("table")
    }
    assert len(found) == len(list(root.all("table")))
    return found


def cells(table: Element) -> dict[tuple[int, int], Element]:
    """{(row, column): its cell}, each place once."""
    found = [td for td in table.all("td") if "data-row" in td.attributes]
    made = {(int(td.attributes["data-row"]), int(td.attributes["data-col"])): td for td in found}
    assert len(made) == len(found)
    return made
