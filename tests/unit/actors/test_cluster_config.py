"""``cluster.yaml`` and the manifests and scripts of the pages on clusters: valid for their readers, and closed to strangers."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
CLUSTER = ROOT / "cluster.yaml"
PAGES = ("cluster.md", "kubernetes.md", "slurm.md")
OPEN_PORTS = ("0.0.0.0", "::")


@pytest.fixture
def config() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(CLUSTER.read_text())
    return read


def as_launched(config: dict[str, Any]) -> dict[str, Any]:
    """What ``ray up`` does to a config before it calls the cloud, checks included."""
    from ray.autoscaler._private.util import prepare_config, validate_config

    prepared: dict[str, Any] = prepare_config(copy.deepcopy(config))
    validate_config(prepared)
    return prepared


def test_ray_accepts_the_config(config: dict[str, Any]) -> None:
    ready = as_launched(config)
    head, worker = ready["available_node_types"]["head"], ready["available_node_types"]["gpu_worker"]
    assert ready["head_node_type"] == "head"
    assert head["resources"] == {"CPU": 0}
    assert worker["resources"] == {"CPU": 8, "GPU": 1}
    assert worker["node_config"]["InstanceMarketOptions"] == {"MarketType": "spot"}
    assert "InstanceMarketOptions" not in head["node_config"], "the journal is on the head: it must not be taken away"


def test_ray_refuses_what_it_does_not_know(config: dict[str, Any]) -> None:
    import jsonschema

    with pytest.raises(jsonschema.ValidationError, match="min_wokers"):
        as_launched({**config, "min_wokers": 1})


@pytest.mark.parametrize(
    "provider",
    [
        {"type": "local", "head_ip": "10.0.0.1", "worker_ips": ["10.0.0.2", "10.0.0.3"]},
        {"type": "gcp", "region": "us-west1", "availability_zone": "us-west1-a", "project_id": "mine"},
    ],
)
def test_the_other_providers_of_its_comments(config: dict[str, Any], provider: dict[str, Any]) -> None:
    config["provider"] = provider
    if provider["type"] == "local":
        del config["available_node_types"], config["head_node_type"]
    assert as_launched(config)["provider"]["type"] == provider["type"]


def test_every_node_asks_for_the_token(config: dict[str, Any]) -> None:
    ready = as_launched(config)
    starts = [c for key in ("head", "worker") for c in ready[f"{key}_start_ray_commands"] if "ray start" in c]
    assert len(starts) == 2
    assert all(re.search(r"\bRAY_AUTH_MODE=token \S*ray start ", c) for c in starts)
    assert ready["file_mounts"]["~/.ray/auth_token"] == "~/.ray/auth_token"
    assert any("chmod 600 ~/.ray/auth_token" in c for c in ready["head_setup_commands"])
    assert any("chmod 600 ~/.ray/auth_token" in c for c in ready["worker_setup_commands"])


def test_the_dashboard_listens_on_loopback_only(config: dict[str, Any]) -> None:
    [start] = [c for c in as_launched(config)["head_start_ray_commands"] if "ray start" in c]
    assert re.findall(r"--dashboard-host=(\S+)", start) == ["127.0.0.1"]
    assert not any(address in CLUSTER.read_text() for address in OPEN_PORTS)


def test_what_is_mounted_is_there_and_can_be_installed(config: dict[str, Any], tmp_path: Path) -> None:
    """Build a wheel of what a node is given and nothing else."""
    mounts = {k: v for k, v in config["file_mounts"].items() if k.startswith("~/seqsearch/")}
    for remote, local in mounts.items():
        target = tmp_path / remote.removeprefix("~/")
        copy_of = shutil.copytree if (ROOT / local).is_dir() else shutil.copy
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_of(ROOT / local, target)
    installs = [c for c in config["setup_commands"] if "pip install" in c and "seqsearch" in c]
    assert any("-c ~/seqsearch/constraints.txt ~/seqsearch" in c for c in installs)
    assert (tmp_path / "seqsearch" / "constraints.txt").is_file()
    code = "from setuptools import build_meta as b; import sys; print(b.build_wheel(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=tmp_path / "seqsearch", check=True, capture_output=True
    )
    assert list(tmp_path.glob("seqsearch-*.whl"))


def test_the_commands_are_valid_shell(config: dict[str, Any]) -> None:
    ready = as_launched(config)
    commands = [c for key, value in ready.items() if key.endswith("_commands") for c in value]
    assert len(commands) > 8
    for command in commands:
        subprocess.run(["bash", "-n", "-c", command], check=True)


def blocks(language: str) -> list[str]:
    text = "\n".join((ROOT / "docs" / page).read_text() for page in PAGES)
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    assert found
    return found


@pytest.mark.parametrize("script", blocks("bash"))
def test_the_scripts_of_the_docs_are_valid_shell(script: str) -> None:
    subprocess.run(["bash", "-n", "-c", script], check=True)


def test_the_scripts_of_the_docs_name_flags_that_exist() -> None:
    from protocols.cli.run_commands import run_command

    known = {name for parameter in run_command("cldyb").params for name in (*parameter.opts, *parameter.secondary_opts)}
    called = re.findall(r"seqsearch cldyb ((?:[^\n]|(?<=\\)\n)*)", "\n".join(blocks("bash")))
    used = {flag for text in called for flag in re.findall(r"(?<=\s)--[a-z-]+", " " + text)}
    assert {"--address", "--workers", "--out", "--resume"} <= used
    assert used <= known, sorted(used - known)


def token_commands() -> list[str]:
    """Those of the pages that make the token file, or fetch it."""
    return [line for b in blocks("bash") for line in b.splitlines() if "umask 077" in line]


@pytest.mark.long
def test_the_commands_of_the_docs_close_a_token_file_that_was_open(tmp_path: Path) -> None:
    commands = [c for c in token_commands() if "get-auth-token" in c]
    assert len(commands) == 2
    for number, command in enumerate(commands):
        token = tmp_path / str(number) / ".ray" / "auth_token"
        token.parent.mkdir(parents=True)
        token.write_text("0" * 64)
        token.chmod(0o644)
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        subprocess.run(["bash", "-c", command], check=True, env={"HOME": str(tmp_path / str(number)), "PATH": path})
        assert (token.stat().st_mode & 0o777, token.read_text()) == (0o600, "0" * 64)
        assert token.parent.stat().st_mode & 0o777 == 0o700


def test_every_command_that_makes_or_fetches_the_token_closes_it() -> None:
    assert len(token_commands()) == 3
    assert all("; chmod go= ~/.ray ~/.ray/auth_token" in c for c in token_commands())


def test_slurm_starts_every_node_with_the_token() -> None:
    [script] = [b for b in blocks("bash") if "#SBATCH" in b]
    before, *_ = script.split("ray start", 1)
    assert "export RAY_AUTH_MODE=token" in before
    assert script.count("ray start") == 2
    assert "--dashboard-host=127.0.0.1" in script


def test_the_manifest_is_closed_to_strangers() -> None:
    [text] = [b for b in blocks("yaml") if "RayCluster" in b]
    documents = {d["kind"]: d for d in yaml.safe_load_all(text)}
    cluster, policy = documents["RayCluster"]["spec"], documents["NetworkPolicy"]["spec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["headGroupSpec"]["rayStartParams"]["dashboard-host"] == "127.0.0.1"
    pods = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    assert {c["image"] for p in pods for c in p["template"]["spec"]["containers"]} == {"YOUR-REGISTRY/seqsearch"}
    assert (
        cluster["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
        == 1
    )
    mine = {"ray.io/cluster": documents["RayCluster"]["metadata"]["name"]}
    assert policy["podSelector"]["matchLabels"] == mine
    assert policy["ingress"] == [{"from": [{"podSelector": {"matchLabels": mine}}]}]
    [volume] = cluster["headGroupSpec"]["template"]["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == documents["PersistentVolumeClaim"]["metadata"]["name"]
