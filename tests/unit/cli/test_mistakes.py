"""Mistyped words: the nearest one is suggested, on stderr, with exit status 2 and no traceback."""

from __future__ import annotations

import pytest
from scalestudy.cli.main import STAGES, VERBS, main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sumary"], "scalestudy: no command sumary; did you mean `scalestudy summary`?"),
        (["plot", "--study", "x"], "scalestudy: no command plot; did you mean `scalestudy stage plot`?"),
        (["agregate"], "scalestudy: no command agregate; did you mean `scalestudy stage aggregate`?"),
        (["stage", "polt"], "scalestudy stage: no command polt; did you mean `scalestudy stage plot`?"),
        (["stage", "number"], "scalestudy stage: no command number; did you mean `scalestudy number`?"),
        (["xyz"], "scalestudy: no command xyz; the commands are new, plan, run"),
        (
            ["summary", "--resluts", "x"],
            "scalestudy summary: No such option '--resluts'. Did you mean '--results'?",
        ),
        (["--verison"], "scalestudy: No such option '--verison'. Did you mean '--version'?"),
        (["new", "--hiden-dim", "3"], "scalestudy new: No such option '--hiden-dim'. Did you mean "),
        (["new", "--model", "mpl"], "scalestudy new: Invalid value for '--model': 'mpl' is not one of 'mlp'"),
        (["retry", "--outcome", "failde"], "Invalid value for '--outcome': failde: did you mean failed?"),
        (["demo", "--fault", "lek"], "scalestudy demo: Invalid value for '--fault': lek: did you mean leak?"),
        (["plan", "--study"], "scalestudy plan: Option '--study' requires an argument."),
        (["number"], "scalestudy number: Missing argument 'KEY'."),
    ],
)
def test_the_nearest_is_suggested(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", sorted(set(STAGES) - {*VERBS, "train"}))
def test_a_stage_that_was_a_verb_says_how_it_is_called(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 2
    assert f"did you mean `scalestudy stage {name}`?" in capsys.readouterr().err
