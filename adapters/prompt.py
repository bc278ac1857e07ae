"""The canonical prompt, for adapters and codecs.

Its types are the reference's own: the reference speaks it natively.
"""

from forkproof.reference.prompt import (
    Blob,
    Message,
    Part,
    Prompt,
    Reasoning,
    Role,
    Stored,
    Text,
    ToolCall,
    ToolResult,
    as_json,
)

__all__ = [
    "Blob", "Message", "Part", "Prompt", "Reasoning", "Role", "Stored", "Text", "ToolCall", "ToolResult", "as_json",
]  # fmt: skip
