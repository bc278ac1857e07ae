"""The canonical prompt, for adapters and codecs.

Its types are the reference's own: the reference speaks it natively.
"""

from forkproof.reference.prompt import Message, Part, Prompt, Reasoning, Role, Text, ToolCall, ToolResult, as_json

__all__ = ["Message", "Part", "Prompt", "Reasoning", "Role", "Text", "ToolCall", "ToolResult", "as_json"]
