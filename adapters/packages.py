"""What each installable harness is made of: its npm package, the program inside it, and the version that is pinned.

Data first: a new harness is one more `Package`. Everything else here turns a package, a version and a platform into a
`Release`, the exact thing that npm is asked for. Facts come from the packages themselves (their `package.json`, and the
launcher of `@openai/codex`, which maps platforms to folders).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from forkproof.adapters.errors import InstallFailed, UnknownHarness
from forkproof.adapters.registry import find, known

__all__ = ["PACKAGES", "Package", "Release", "pinned", "platform_tag", "request"]

_SYSTEMS = {"linux": "linux", "darwin": "darwin"}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}

# A version that can't be mistaken for an npm tag, range, option or path.
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)?")


Source: TypeAlias = Literal["npm", "pypi"]
"""Which registry a package comes from."""


@dataclass(frozen=True, slots=True)
class Release:
    """One version of one harness for one platform.

    `spec` is what `npm install` gets, `asked` what `npm view` gets; `folder` lies below `node_modules`, and `programs`
    are the places below it where the program may be, the newest layout first. From PyPI, `spec` is for pip, and the
    programs are launchers that are made. `unpacked` is the size on disk in bytes
    where it is known, for the progress bar, as registries often leave it out.
    """

    name: str
    version: str
    platform: str
    spec: str
    asked: str
    folder: str
    programs: tuple[str, ...]
    needs_node: bool
    unpacked: int | None
    source: Source = "npm"


@dataclass(frozen=True, slots=True)
class Package:
    """How one harness is published. The templates take `{package}`, `{version}`, `{platform}` and `{triple}`.

    `package` is the npm package, where a template asks for it; `renamed` is what it was called once, by the beginning
    of those versions. `platforms` maps a platform tag to the compiler's triple; `tested` are further versions that
    forkproof was run on; `sizes` maps (version, platform) to bytes once unpacked. `needs_node` says that the program is
    a script for Node.
    """

    name: str
    pinned: str
    spec: str
    asked: str
    folder: str
    programs: tuple[str, ...]
    platforms: Mapping[str, str]
    tested: tuple[str, ...] = ()
    sizes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    needs_node: bool = False
    source: Source = "npm"
    package: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked_for(self) -> str:
        """The name that a person types: `codex`, `acp:kimi-code`."""
        return next(entry.name for entry in known() if entry.name.removeprefix("acp:") == self.name)

    @property
    def variable(self) -> str:
        """The environment variable that points to a user's own program, e.g. `FORKPROOF_CODEX_BINARY`."""
        return f"FORKPROOF_{self.name.upper().replace('-', '_')}_BINARY"

    def release(self, version: str | None, tag: str) -> Release:
        """This version (the pinned one for None) for this platform. Raises `InstallFailed` where none is published."""
        if tag not in self.platforms:
            raise InstallFailed(
                f"{self.name} is not published for this platform ({tag}), only for {', '.join(self.platforms)}",
                f"use a machine of one of these, or build {self.name} yourself and point {self.variable} to it",
            )
        chosen = version or self.pinned

        package = next((name for prefix, name in self.renamed.items() if chosen.startswith(prefix)), self.package)

        def fill(template: str) -> str:
            return template.format(package=package, version=chosen, platform=tag, triple=self.platforms[tag])

        return Release(
            name=self.name,
            version=chosen,
            platform=tag,
            spec=fill(self.spec),
            asked=fill(self.asked),
            folder=fill(self.folder),
            programs=tuple(map(fill, self.programs)),
            needs_node=self.needs_node,
            unpacked=self.sizes.get((chosen, tag)),
            source=self.source,
        )


PACKAGES: Mapping[str, Package] = {
    "codex": Package(
        name="codex",
        pinned="0.171.0",
        # The native package alone: the main one adds a launcher that needs Node and is slower to start.
        spec="@openai/codex-{platform}@npm:@openai/codex@{version}-{platform}",
        asked="@openai/codex@{version}-{platform}",
        folder="@openai/codex-{platform}",
        programs=("vendor/{triple}/bin/codex", "vendor/{triple}/codex/codex"),
        platforms={
            "linux-x64": "x86_64-unknown-linux-musl",
            "linux-arm64": "aarch64-unknown-linux-musl",
            "darwin-x64": "x86_64-apple-darwin",
            "darwin-arm64": "aarch64-apple-darwin",
        },
        sizes={("0.171.0", "linux-x64"): 443_900_000},
    ),
    "goose": Package(
        name="goose",
        pinned="1.52.0",
        tested=("1.50.0",),
        # The binary package alone: `@aaif/goose` is a terminal interface that brings a second, older binary.
        spec="@aaif/goose-binary-{platform}@{version}",
        asked="@aaif/goose-binary-{platform}@{version}",
        folder="@aaif/goose-binary-{platform}",
        programs=("bin/goose",),
        platforms={"linux-x64": "", "linux-arm64": "", "darwin-x64": "", "darwin-arm64": ""},
        sizes={("1.52.0", "linux-x64"): 300_800_000, ("1.50.0", "linux-x64"): 314_500_000},
    ),
    "opencode": Package(
        name="opencode",
        pinned="1.18.33",
        # The native package alone: `opencode-ai` adds a launcher, and names every platform as an optional dependency.
        spec="opencode-{platform}@{version}",
        asked="opencode-{platform}@{version}",
        folder="opencode-{platform}",
        programs=("bin/opencode",),
        platforms={"linux-x64": "", "linux-arm64": "", "darwin-x64": "", "darwin-arm64": ""},
        sizes={("1.18.33", "linux-x64"): 185_000_000},
    ),
    "codex-acp": Package(
        name="codex-acp",
        pinned="2.6.0",
        spec="@agentclientprotocol/codex-acp@{version}",
        asked="@agentclientprotocol/codex-acp@{version}",
        folder="@agentclientprotocol/codex-acp",
        programs=("dist/index.js",),
        platforms={"linux-x64": "", "linux-arm64": "", "darwin-x64": "", "darwin-arm64": ""},
        sizes={("2.6.0", "linux-x64"): 478_000_000},
        needs_node=True,
    ),
    "claude-agent-acp": Package(
        name="claude-agent-acp",
        pinned="0.101.0",
        spec="@agentclientprotocol/claude-agent-acp@{version}",
        asked="@agentclientprotocol/claude-agent-acp@{version}",
        folder="@agentclientprotocol/claude-agent-acp",
        programs=("dist/index.js",),
        platforms={"linux-x64": "", "linux-arm64": "", "darwin-x64": "", "darwin-arm64": ""},
        sizes={("0.101.0", "linux-x64"): 421_000_000},
        needs_node=True,
    ),
    "kimi-code": Package(
        name="kimi-code",
        pinned="2.1.0",
        spec="@moonshot-ai/kimi-code@{version}",
        asked="@moonshot-ai/kimi-code@{version}",
        folder="@moonshot-ai/kimi-code",
        programs=("dist/main.mjs",),
        platforms={"linux-x64": "", "linux-arm64": "", "darwin-x64": "", "darwin-arm64": ""},
        sizes={("2.1.0", "linux-x64"): 126_000_000},
        needs_node=True,
    ),
    "pi": Package(
        name="pi",
        pinned="1.6.0",
        tested=("1.5.0", "0.73.1"),
        spec="{package}@{version}",
        asked="{package}@{version}",
        folder="{package}",
        programs=("dist/bundle/cli.js", "dist/cli.js"),
        platforms={"linux-x64": "", "linux-arm64": "", "darwin-x64": "", "darwin-arm64": ""},
        needs_node=True,
        package="@earendil-works/pi-coding-agent",
        # The package moved with release 0.74.0.
        renamed={"0.73.": "@mariozechner/pi-coding-agent"},
    ),
    "mistral-vibe": Package(
        name="mistral-vibe",
        pinned="3.0.2",
        source="pypi",
        spec="mistral-vibe=={version}",
        asked="mistral-vibe=={version}",
        folder="",
        programs=("bin/vibe-acp",),
        platforms={"linux-x64": "", "linux-arm64": "", "darwin-x64": "", "darwin-arm64": ""},
        sizes={("3.0.2", "linux-x64"): 416_000_000},
    ),
}


def platform_tag(system: str | None = None, machine: str | None = None) -> str:
    """This platform as npm packages name it, e.g. `linux-x64`; an unknown one in Python's words: `linux-riscv64`."""
    words = (system or platform.system()).lower(), (machine or platform.machine()).lower()
    return f"{_SYSTEMS.get(words[0], words[0])}-{_MACHINES.get(words[1], words[1])}"


def pinned(name: str) -> str | None:
    """The version of this harness that forkproof is tested with; None for one that needs no installation."""
    package = PACKAGES.get(name.removeprefix("acp:"))
    return package.pinned if package else None


def request(text: str) -> tuple[Package, str | None]:
    """The package and version that `NAME` or `NAME@VERSION` asks for; no version means the pinned one.

    Raises `UnknownHarness` for a name that is not known or needs no installation, and for a version that isn't one.
    """
    entry = find(text)
    package = PACKAGES.get(entry.name.removeprefix("acp:"))
    if package is None:
        raise UnknownHarness(
            f"{entry.name} is part of forkproof: there is nothing to install",
            f"`forkproof run {entry.name}` works as it is; installable are {', '.join(PACKAGES)}",
        )
    version = text.partition("@")[2]
    if "@" in text and not _VERSION.fullmatch(version):
        raise UnknownHarness(
            f"{version!r} is no version of {package.name}",
            f"write a full version, such as {package.asked_for}@{package.pinned}",
        )
    return package, version or None
