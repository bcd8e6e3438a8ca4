"""``docs/rayjob.yaml``: its fields are KubeRay's, its command resumes a run, and only its own pods reach Ray's ports."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from protocols.cli.run_commands import run_command
from seqsearch.core.installation import ROOT

FIELDS = {
    "RayJob": """activeDeadlineSeconds backoffLimit clusterSelector deletionStrategy entrypoint entrypointNumCpus
        entrypointNumGpus entrypointResources jobId managedBy metadata preRunningDeadlineSeconds rayClusterSpec runtimeEnvYAML
        shutdownAfterJobFinishes submissionMode submitterConfig submitterPodTemplate suspend ttlSecondsAfterFinished""",
    "RayCluster": """authOptions autoscalerOptions enableInTreeAutoscaling gcsFaultToleranceOptions headGroupSpec
        headServiceAnnotations historyServerOptions managedBy networkPolicy rayVersion suspend tlsOptions upgradeStrategy
        workerGroupSpecs""",
    "head": "enableIngress headService ingressOptions labels rayStartParams resources serviceType template",
    "workers": """groupName idleTimeoutSeconds labels maxReplicas minReplicas numOfHosts priority rayStartParams replicas
        resources scaleStrategy suspend template""",
}
"""Of the definition of RayJob in KubeRay (version v1, commit feeaf72fa of 2026-08-19)."""


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    return {d["kind"]: d for d in yaml.safe_load_all((ROOT / "docs/rayjob.yaml").read_text())}


def fields(kind: str) -> set[str]:
    return set(FIELDS[kind].split())


def test_every_field_is_one_of_kuberays(documents: dict[str, Any]) -> None:
    job = documents["RayJob"]["spec"]
    cluster = job["rayClusterSpec"]
    head, [workers] = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    assert set(job) <= fields("RayJob")
    assert set(cluster) <= fields("RayCluster")
    assert set(head) <= fields("head")
    assert {"groupName", "minReplicas", "maxReplicas", "template"} <= set(workers) <= fields("workers")
    assert job["submissionMode"] in ("K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode")
    assert cluster["authOptions"] == {"mode": "token"}
    assert "restartPolicy" not in head["template"]["spec"], "refused in SidecarMode"


def test_the_run_lies_on_the_volume_and_only_pods_of_the_job_and_the_operator_come_in(
    documents: dict[str, Any],
) -> None:
    cluster = documents["RayJob"]["spec"]["rayClusterSpec"]
    head = cluster["headGroupSpec"]["template"]
    [volume], [container] = head["spec"]["volumes"], head["spec"]["containers"]
    assert volume["persistentVolumeClaim"]["claimName"] == documents["PersistentVolumeClaim"]["metadata"]["name"]
    assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/runs"}]
    mine = documents["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]
    assert all(t["metadata"]["labels"] == mine for t in (head, cluster["workerGroupSpecs"][0]["template"]))
    [rule] = documents["NetworkPolicy"]["spec"]["ingress"]
    own, operator = rule["from"]
    assert own == {"podSelector": {"matchLabels": mine}}
    assert operator["podSelector"]["matchExpressions"][0]["values"] == ["kuberay", "kuberay-operator"]


@pytest.mark.parametrize("there", [False, True])
def test_the_command_begins_a_run_and_resumes_one_that_is_there(
    there: bool, documents: dict[str, Any], tmp_path: Path
) -> None:
    """A stand-in for ``seqsearch`` prints its arguments."""
    stand_in, run = tmp_path / "seqsearch", tmp_path / "mine"
    stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    stand_in.chmod(0o755)
    if there:
        run.mkdir()
        (run / "config.json").touch()
    entrypoint = documents["RayJob"]["spec"]["entrypoint"].replace("/runs/mine", str(run))
    done = subprocess.run(
        shlex.split(entrypoint), env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    name, *words = done.stdout.split()
    assert name == "cldyb"
    assert words[words.index("--resume" if there else "--out") + 1] == str(run)
    assert ("--methods" in words) != there
    known = {flag for p in run_command("cldyb").params for flag in (*p.opts, *p.secondary_opts)}
    assert {w for w in words if w.startswith("--")} <= known
