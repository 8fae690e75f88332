"""Bundles in folders: the files of one, and those of the base that a layer comes with or is given.

Reads files and nothing else; a folder that is none is told by its path.
"""

from collections.abc import Mapping
from pathlib import Path

from policy.bundle import BUNDLES, read_folder
from policy.manifest import MANIFEST, read_manifest


class NoFolder(ValueError):
    """There is no bundle where one was said to be; str() says what is wrong and what would be right."""


def files_in(folder: Path) -> dict[str, str]:
    """Return the files of the bundle in `folder`. Raises NoFolder, and BundleInvalid for a file that is no text."""
    if not folder.is_dir():
        raise NoFolder(f"there is no folder {folder}; give a bundle's folder, which holds {MANIFEST} and *.cedar")
    files = read_folder(folder)
    if MANIFEST not in files:
        raise NoFolder(f"the folder {folder} has no {MANIFEST}; every bundle has one, which says whose it is")
    return files


def base_of(files: Mapping[str, str], given: Path | None) -> dict[str, str] | None:
    """Return the files of the base of a layer: those in `given`, or else those that come with Interlock.

    None for a base. Raises NoFolder and BundleInvalid.
    """
    ident = read_manifest(files[MANIFEST]).base
    if ident is None:
        return None
    if given is not None:
        return files_in(given)
    coming_along = sorted(path.name for path in BUNDLES.iterdir() if path.is_dir())
    if ident not in coming_along:
        raise NoFolder(
            f"its base {ident!r} does not come with Interlock, as {' and '.join(coming_along)} do; "
            "give its folder with --base, or take the base in force for a tenant with --tenant"
        )
    return files_in(BUNDLES / ident)
