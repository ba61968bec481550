"""Which image each annotation means, decided for all of a source at once: nothing lands on another's image.

An exact path wins, then the one image whose path ends so. What is left is looked for without its extension or in
another letter case, and never takes an image that another entry names. What stays ambiguous is told with its
candidates.
"""

import collections
import os
import posixpath
import unicodedata
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from data_prep.source import image_names, splits
from data_prep.source.image_index import ImageIndex
from data_prep.source.image_names import is_tail, without_kinds
from data_prep.source.reading import Entry
from data_prep.wording import some

_SHOWN = 3


class Match(NamedTuple):
    """An entry and the file it means, relative to the source; None where there is none, and then problem says why.

    note: how the name in the annotation differs from the file's, "" where it does not. loose: the name led to it only
    without its extension or in another letter case. refused: the file that the problem is about, where that is one.
    """

    entry: Entry
    image: Optional[str]
    problem: str = ""
    note: str = ""
    loose: bool = False
    refused: Optional[str] = None


def match(entries: Sequence[Entry], index: ImageIndex) -> List[Match]:
    """A Match for each entry, in their order."""
    search = _Search(index)
    found = [Match(entry, None, entry.problem) if entry.problem else search.exactly(entry) for entry in entries]
    found = [each if each.image or each.problem else search.by_tail(each.entry) for each in found]
    taken = {each.image for each in found if each.image}
    found = [each if each.image or each.problem else search.loosely(each.entry, taken) for each in found]
    return _without_conflicts([each for each in found if each.image or not each.entry.optional])


def _without_conflicts(found):
    """An image that several names lead to, all of them loosely, belongs to none of them."""
    names: Dict[str, Set[str]] = collections.defaultdict(set)
    for each in found:
        if each.loose:
            names[each.image].add(image_names.read(each.entry.name).path)
    return [_refused(each, names[each.image]) if each.loose and len(names[each.image]) > 1 else each for each in found]


def _refused(each, names):
    problem = f"{each.image} is meant by several names: {_some(sorted(names))}"
    return each._replace(image=None, problem=problem, refused=each.image)


def _some(names):
    return some(names, len(names), _SHOWN)


class _Search:
    """Looks for the images of one source."""

    def __init__(self, index: ImageIndex):
        self._index = index
        self._root = image_names.read(os.path.realpath(index.root)).parts
        self._only_folder: Optional[bool] = None

    def exactly(self, entry: Entry) -> Match:
        """The image at the very path that the entry names; a Match without image or problem if there is none."""
        if entry.stem:
            return self._beside(entry)
        for path in self._paths(entry):
            image = self._index.exact(path)
            if image:
                return Match(entry, image)
        return Match(entry, None)

    def _paths(self, entry: Entry) -> Iterator[str]:
        """Where the image may lie by its name: seen from the annotation's file, then from the source."""
        name = image_names.read(entry.name)
        if not name.foreign:
            yield posixpath.join(_nfc(entry.folder), name.path)
            yield name.path
        elif is_tail(self._root, name.parts[: len(self._root)]):
            yield "/".join(name.parts[len(self._root) :])
        yield _nfc(entry.name)  # a backslash may be part of a file's name

    def _beside(self, entry):
        """The image in the annotation's own folder that is called as the annotation is."""
        images = self._index.of_stem(_nfc(entry.name))
        if len(images) > 1:
            said = {posixpath.basename(image_names.read(other).path) for other in entry.others}
            images = [image for image in images if posixpath.basename(_nfc(image)) in said] or images
        if len(images) > 1:
            return Match(entry, None, f"several images of this name: {_some(images)}")
        return Match(entry, images[0]) if images else Match(entry, None)

    def by_tail(self, entry: Entry) -> Match:
        """The image whose path ends as the name does that the entry gives first; a Match without if there is none."""
        name = image_names.read(entry.name)
        return (
            self._first(entry, entry.name, self._tails(name, _same))
            if name.parts and not entry.stem
            else Match(entry, None)
        )

    def loosely(self, entry: Entry, taken: Set[str]) -> Match:
        """The image, of those not taken, that a name of the entry leads to where its extension or case may differ."""
        for text, stem in [(entry.name, entry.stem)] + [(other, False) for other in entry.others]:
            name = image_names.read(text)
            if name.parts:
                match = self._first(entry, text, self._loose_rules(name, stem), taken, stem)
                if match.image or match.problem:
                    return match._replace(loose=True) if match.image else match
        return Match(entry, None, self._why_none(entry))

    def _first(self, entry, text, rules, taken=frozenset(), stem=False) -> Match:
        """What the first rule finds that finds anything: an image, or a problem where there are several."""
        path = image_names.read(text).path
        alike = self._index.alike(path if stem else posixpath.splitext(path)[0])
        free = [image for image in alike if image not in taken and not _of_another_split(entry, image)]
        for fits in rules if free else ():
            images = [image for image in free if fits(image)]
            if len(images) > 1:
                return Match(entry, None, f"several images of this name: {_some(images)}")
            if images:
                return Match(entry, images[0], note=_difference(text, images[0]))
        return Match(entry, None)

    def _loose_rules(self, name, stem) -> Iterator[Callable[[str], bool]]:
        """Functions of a candidate, strictest first."""
        for form in () if stem else (_same, _folded):
            yield from self._tails(name, form)
        for form in (_stem, _folded_stem):
            if stem:
                yield _same_but_for_kinds(_of_stem(name.parts, form), form)
            yield from self._tails(name, form, stem)

    def _tails(self, name, form, is_stem=False):
        wanted = form(name.parts) if not is_stem else _of_stem(name.parts, form)
        yield lambda image: is_tail(wanted, form(self._root + _parts(image)))
        bare = without_kinds(wanted)
        yield lambda image: is_tail(bare, without_kinds(form(self._root + _parts(image))))
        if name.foreign:
            yield lambda image: is_tail(without_kinds(form(_parts(image))), bare)
        if is_stem and self._one_folder():
            yield lambda image: form(_parts(image))[-1] == wanted[-1]

    def _one_folder(self):
        """Whether all images lie in one folder, so that an annotation elsewhere can mean no other's."""
        if self._only_folder is None:
            self._only_folder = len(self._index.folders()) == 1
        return self._only_folder

    def _why_none(self, entry):
        names = [image_names.read(text) for text in (entry.name,) + entry.others]
        stems = [
            name.path if entry.stem and not at else posixpath.splitext(name.path)[0] for at, name in enumerate(names)
        ]
        elsewhere = sorted({image for stem in stems if stem for image in self._index.alike(stem)})
        nor = ", nor of the name that the annotation gives" if entry.others else ""
        hint = f" ({_some(elsewhere)} is another's, or in another folder)" if elsewhere else ""
        return f"no image of this name{nor}{hint}"


def _nfc(text):
    return unicodedata.normalize("NFC", text)


def _parts(image) -> Tuple[str, ...]:
    return tuple(_nfc(image).split("/"))


def _same(parts):
    return parts


def _folded(parts):
    return tuple(part.casefold() for part in parts)


def _stem(parts):
    return parts[:-1] + (posixpath.splitext(parts[-1])[0],)


def _folded_stem(parts):
    return _folded(_stem(parts))


def _of_stem(parts, form):
    """A stem's parts in the form, which would take what follows a dot in it for an extension."""
    return form(parts[:-1] + (parts[-1] + ".x",))


def _same_but_for_kinds(wanted, form):
    bare = without_kinds(wanted)
    return lambda image: without_kinds(form(_parts(image))) == bare


def _of_another_split(entry, image):
    """Whether the folder of an image is called as a split that the entry is not of."""
    own = entry.split or splits.of_path(entry.folder) or splits.of_folders(entry.name)
    return bool(own) and splits.of_folders(image) not in ("", own)


def _difference(text, image):
    name = image_names.read(text).parts[-1]
    last = posixpath.basename(_nfc(image))
    return "" if name in (last, posixpath.splitext(last)[0]) else f"the annotation says {name}"
