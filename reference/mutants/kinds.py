"""The kinds of fault that public bug reports about forks show, each with the reports that show it.

A report's id is its product and its number there, e.g. `codex-21025`; traces name the same ids under `from:`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["KINDS"]

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "abandoned-branch-leak": ("claude-58631", "adk-4930", "adk-4169", "cline-2866", "lobe-6683", "renfield-821"),
    "accounting": ("ccswitch-5694",),
    "approvals-leaked": ("claude-89911", "opencode-30797", "vscode-320828"),
    "attachments-lost": ("claude-84635", "kimi-3688"),
    "cache-affinity": ("opencode-36098", "omp-5035", "codex-44716"),
    "child-writes-parent": ("claude-37739", "lobe-9628"),
    "compaction-boundary": ("pi-8989", "opencode-24781", "magicctx-263", "omnigent-5384"),
    "compaction-undone": ("openfox-334", "jp-847", "hermes-18870"),
    "concurrency": ("vscode-295641", "hermes-56391", "hapi-1399"),
    "cwd-worktree": ("codex-21432", "codex-42001"),
    "dup-ids": ("opencode-44011", "qwen-5099", "agents-4152", "gollem-251"),
    "dup-messages": ("pi-3745",),
    "empty-fork": (
        "claude-85875",
        "opencode-33763",
        "opencode-27288",
        "acp-1110",
        "omnigent-708",
        "lobe-14390",
        "craft-454",
    ),
    "encrypted-reasoning": ("opencodex-2269", "codex-13497"),
    "file-rollback": (
        "claude-14002",
        "claude-93045",
        "pi-5522",
        "opencode-10287",
        "opencode-7774",
        "opencode-29520",
        "gemini-11243",
        "t3code-12306",
        "adk-6391",
        "kilo-11864",
        "iterion-380",
    ),
    "hooks": ("claude-39355", "claude-93458", "codex-39951"),
    "id-remap": ("opencode-6445", "t3code-4390c"),
    "interrupted-as-complete": ("codex-9042", "codex-15239", "codex-14125", "openclaw-111019"),
    "lineage": ("claude-60845", "pi-4799", "hermes-68510", "dust-24790", "claude-9804"),
    "missing-source-silent": ("omp-11944", "agents-5007", "garcon-370", "happy-1205"),
    "mixed-snapshot": ("claude-44684", "garcon-418", "octo-1731", "opendesign-3648"),
    "orphan-call": ("openclaw-93321", "dsh-10114", "glmacp-117", "kimi-3007", "agno-8092", "pydantic-6319"),
    "orphan-result": ("fastagent-401", "pinet-941"),
    "parent-mutated": ("agents-3755", "lobe-16076", "xum-3372", "llmchat-58"),
    "partial-fork": ("fastagent-335", "goose-9799", "qwen-5357", "openhands-2841", "dust-25643", "nac-215"),
    "performance": ("kilo-11075", "codex-31198"),
    "precompaction-lost": ("codex-26739", "vellum-19371", "roo-8295", "roo-9842", "letta-2601"),
    "provider-identity": ("goose-10763", "gajae-3841", "kit-85", "agenta-5860", "openresearch-206"),
    "queued-messages": ("codex-36074", "dsh-6262"),
    "refork-on-resume": ("t3code-4390b",),
    "runtime-ownership": ("codex-42189", "lop-501"),
    "settings-lost": ("omp-9860", "vscode-313372", "garcon-571", "zeph-5373", "intendant-626"),
    "settings-stale": ("codeg-587",),
    "stale-resume": ("langgraph-7038",),
    "state-restore": ("adk-4933",),
    "subagent-leak": ("claude-89101",),
    "thinking-signature": ("omp-2851", "llxprt-2335"),
    "timestamp-tie": ("t3code-4390a", "vellum-32116", "avibe-1161"),
    "todo-state": ("claude-10095", "cindy-2632"),
    "tree-structure": ("librechat-13611", "librechat-4772", "owui-29299", "lobe-14124"),
    "view-context-divergence": ("goose-9460", "gemini-25646", "copilot-3285"),
    "wrong-cut": ("codex-21025", "agents-2069", "cline-4718", "vscode-297761", "hope-551", "vicoa-90"),
    "wrong-leaf": ("claude-48270", "langgraph-7498", "langgraph-4987"),
}
"""Kind -> the ids of its reports."""
