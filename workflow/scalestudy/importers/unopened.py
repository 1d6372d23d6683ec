"""Files that are no text and are never opened: reading a pickle runs the code in it."""

from __future__ import annotations

_EXPORT = "export it as CSV or JSON lines"
_COPY = "copy its table into a text file, with a line for each row"
_KINDS = {
    b"\x80\x02": ("a pickle", _EXPORT),
    b"\x80\x03": ("a pickle", _EXPORT),
    b"\x80\x04": ("a pickle", _EXPORT),
    b"\x80\x05": ("a pickle", _EXPORT),
    b"PK\x03\x04": ("a zip archive, as torch.save and Excel write it", _EXPORT),
    b"PAR1": ("a parquet file", _EXPORT),
    b"\x89HDF\r\n": ("an HDF5 file", _EXPORT),
    b"SQLite format 3\x00": ("an SQLite database", _EXPORT),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("a file of an older Office", _EXPORT),
    b"%PDF-": ("a PDF document", _COPY),
    b"\x89PNG\r\n": ("an image", _COPY),
    b"\xff\xd8\xff": ("an image", _COPY),
    b"GIF8": ("an image", _COPY),
}
"""Beginning of a file -> (what it is, what to do instead)."""
STARTS = tuple(_KINDS)


def why_unopened(head: bytes) -> str:
    """Return what the file is that begins so, and what to do instead; '' if it may be text."""
    found = next((kind for start, kind in _KINDS.items() if head.startswith(start)), None)
    return f"is {found[0]}, which is never opened; {found[1]}" if found else ""
