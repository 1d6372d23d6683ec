"""Settings of the documentation site: `make site` builds it from README.md, docs/, config/README.md and the code.

The source folder is the root of the repository, so that the links between Markdown files are the same on the site
and in the repository.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "workflow")]

import anchors  # noqa: E402
import pages  # noqa: E402
from scalestudy import __version__  # noqa: E402

project = "scalestudy"
release = version = __version__
html_title = f"scalestudy {__version__}"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["../build/extra"] if (ROOT / "build/extra").exists() else []
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
templates_path = ["templates"]
html_additional_pages = {"index": "redirect.html"}  # the first page is docs/index.html

extensions = ["myst_parser"]
root_doc = "docs/index"
source_suffix = {".md": "markdown"}
SHOWN = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "config", "docs", "examples")
exclude_patterns = sorted(path.name for path in ROOT.iterdir() if path.name not in SHOWN)
include_patterns = [
    *(
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "config/README.md",
        "examples/README.md",
        "examples/*/README.md",
    ),
    *("docs/*.md", "docs/measurements/*.md", f"{pages.FOLDER}/**.md"),
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nitpicky = True
highlight_language = "text"
smartquotes = False  # options begin with two hyphens


def setup(app):
    """Write the generated pages before Sphinx looks for sources; give table rows anchors, and links titles."""
    pages.write(ROOT)
    app.add_object_type("column", "column", objname="column")
    app.connect("doctree-read", anchors.add)
    app.connect("doctree-resolved", anchors.name_pages)
    app.connect("doctree-resolved", anchors.link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
