"""Where a child's tools run: in the source's workspace, in a copy of it, or in another place."""

import asyncio

import pytest

from forkproof.reference.cut import Point
from forkproof.reference.fork import ForkRequest
from forkproof.reference.model import Reply
from tests.reference_models import Script, call, say
from tests.reference_stage import HEAD, SHARED, Stage


@pytest.mark.parametrize("workspace", ["shared", "isolated"])
def test_a_cut_edit_and_the_two_kinds_of_workspace(workspace: str) -> None:
    """ENV-2, ENV-3, REC-8, seed 000's concrete trace: the prompt forgets the edit; only isolation parts the files."""
    model = Script(
        {
            "write": [Reply((call("w", "write", {"parser.py": "v1"}),)), say("ok")],
            "other": [Reply((call("o", "write", {"parser.py": "v2"}), call("p", "run", "pwd"))), say("ok")],
        }
    )

    async def story() -> None:
        stage = Stage(model)
        await stage.turn("plan")
        write = await stage.turn("write")
        isolated = workspace == "isolated"
        request = ForkRequest("/alt", "isolated") if isolated else SHARED
        record = await stage.fork(Point("before", write), request)
        assert (record.workspace, record.directory) == (workspace, request.directory)
        assert record.snapshot == ("all files" if isolated else None)
        files = stage.harness.machine.workspace
        assert files(request.directory).files() == {"notes.md": "draft\n", "parser.py": "v1"}
        await stage.turn("other", record.session)
        assert stage.last()[:3] == ["plan", "ok", "other"]
        assert request.directory in str(model.prompts[-1].messages[0])
        assert f"\n{request.directory}\n" in str(model.prompts[-1].messages[-1].parts).replace("\\n", "\n")
        assert files(request.directory).files()["parser.py"] == "v2"
        assert files("/main").files()["parser.py"] == ("v1" if isolated else "v2")

    asyncio.run(story())


def test_a_copy_that_fails_is_a_fork_that_fails() -> None:
    """ENV-5, ATO-1: no child, no lineage, no directory; another place must be there already, and is called so."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        stage.harness.machine.create("/taken", {})
        assert (await stage.refused(HEAD, ForkRequest("/taken", "isolated"))).reason == "other"
        assert (await stage.refused(HEAD, ForkRequest("/none"))).reason == "other"
        assert (await stage.fork(HEAD, ForkRequest("/taken"))).workspace == "other"

    asyncio.run(story())


def test_a_refused_cut_makes_no_copy() -> None:
    """ATO-5: all is validated before the first change."""

    async def story() -> None:
        stage = Stage()
        await stage.refused(Point("before", "turn-9"), ForkRequest("/alt", "isolated"))
        assert not stage.harness.machine.exists("/alt")

    asyncio.run(story())
