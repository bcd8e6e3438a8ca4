"""Imports inside functions are there because they bring a heavy library, or for a reason that is named here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {
    *("torch", "torchvision", "ray", "timm", "faiss", "numba", "sklearn", "pandas", "matplotlib", "transformers"),
    *("sentence_transformers", "safetensors", "tokenizers", "huggingface_hub", "optuna", "scipy", "pyarrow", "PIL"),
    *("grpc", "numpy", "rich", "yaml", "IPython", "tueplots", "tensorboardX", "wandb", "trackio"),
}
"""What takes long to import. numpy, rich and yaml do not where something is computed, but do where a name is refused."""
LATE = {
    "actors/worker.py": "a worker says that it is there before it imports what trains",
    "protocols/cli/__main__.py": "signals are handled first",
}
"""Files whose imports of light modules inside functions stay there, and why."""
Import = ast.Import | ast.ImportFrom


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


PATHS = {
    name_of(p): p for top in ("actors", "protocols", "seqsearch", "tools") for p in sorted((ROOT / top).rglob("*.py"))
}


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(PATHS[module].read_text())


def of_functions(tree: ast.AST) -> set[Import]:
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {n for f in functions for n in ast.walk(f) if isinstance(n, Import)}


def for_types(tree: ast.AST) -> set[Import]:
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    return {n for b in blocks for n in ast.walk(b) if isinstance(n, Import)}


def modules(node: Import) -> Iterator[str]:
    """What an import names, with all packages above it."""
    if isinstance(node, ast.Import):
        named = [a.name for a in node.names]
    else:
        named = [f"{node.module}.{a.name}" for a in node.names]
        named = [n if n in PATHS else str(node.module) for n in named]
    for name in named:
        parts = name.split(".")
        yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


@cache
def at_once(module: str) -> frozenset[str]:
    """What a module imports when it is imported itself."""
    tree = tree_of(module)
    late = of_functions(tree) | for_types(tree)
    return frozenset(m for n in ast.walk(tree) if isinstance(n, Import) and n not in late for m in modules(n))


@cache
def heavy(module: str) -> frozenset[str]:
    """Heavy libraries that are imported with a module."""
    seen, left = set[str](), [module]
    while left:
        if (name := left.pop()) not in seen:
            seen.add(name)
            left += at_once(name) if name in PATHS else ()
    return frozenset(name for name in seen if name in HEAVY)


def test_imports_inside_functions_bring_something_heavy() -> None:
    found: dict[str, list[str]] = {}
    for module in PATHS:
        tree = tree_of(module)
        for node in sorted(of_functions(tree) - for_types(tree), key=lambda n: n.lineno):
            if not any(heavy(m) - heavy(module) for m in modules(node)):
                found.setdefault(module, []).append(f"{node.lineno}: {ast.unparse(node)}")
    late = {name_of(ROOT / path) for path in LATE}
    assert {m: lines for m, lines in found.items() if m not in late} == {}
    assert late <= found.keys()
