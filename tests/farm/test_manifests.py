"""The manifests for Kubernetes are what Kubernetes, KubeRay, Ray and our own command line take."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from loopbook.cli.app import app
from loopbook.farm.machine import MEASURING, TIMING, abilities_of
from loopbook.targets import THREADS_VARIABLE

FOLDER = Path(__file__).parents[2] / "examples" / "kubernetes"

KUBERNETES = "1.34"

OURS = json.loads((FOLDER / "ray-cluster.schema.json").read_text())

DOCUMENTS: list[dict[str, Any]] = [
    document
    for file in sorted(FOLDER.glob("*.yaml"))
    for document in yaml.safe_load_all(file.read_text())
]

each_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=[f"{one['kind']}-{one['metadata']['name']}" for one in DOCUMENTS]
)


def check(document: dict[str, Any]) -> None:
    """Raises what the schema that is broken says."""
    import jsonschema
    import kubernetes_validate

    if document["kind"] != "RayCluster":
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
        return
    jsonschema.validate(document, OURS, cls=jsonschema.Draft202012Validator)
    for group in groups(document):
        body = {"apiVersion": "v1", "kind": "PodTemplate", "template": group["template"]}
        kubernetes_validate.validate(body, KUBERNETES, strict=True)


def groups(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    return [cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"]]


def containers(part: Any) -> Iterator[dict[str, Any]]:
    """Of everything in a document."""
    if isinstance(part, dict):
        yield from part.get("containers") or ()
        for value in part.values():
            yield from containers(value)
    elif isinstance(part, list):
        for value in part:
            yield from containers(value)


def the(kind: str) -> dict[str, Any]:
    (found,) = [one for one in DOCUMENTS if one["kind"] == kind]
    return copy.deepcopy(found)


@each_document
def test_each_document_fits_its_schema(document):
    check(document)


def test_the_schemas_refuse_what_would_not_work():
    from jsonschema import ValidationError

    policy, cluster = the("NetworkPolicy"), the("RayCluster")
    policy["spec"]["podSelektor"] = {}
    template, old_way, label = (copy.deepcopy(cluster) for _ in range(3))
    groups(template)[1]["template"]["spec"]["containers"][0]["securityContext"]["procMount"] = 1
    groups(old_way)[1]["rayStartParams"] = {"labels": "loopbook/isa=avx2"}
    groups(label)[1]["labels"]["loopbook/cpu"] = "AMD EPYC"
    for broken in (policy, template, old_way, label):
        with pytest.raises(ValidationError):
            check(broken)


def test_nodes_are_what_tasks_are_placed_by():
    head, *nodes = groups(the("RayCluster"))
    assert abilities_of(head.get("labels", {})) is None
    assert len({node["labels"]["loopbook/sequential"] for node in nodes}) == len(nodes) == 2
    for node in nodes:
        able = abilities_of(node["labels"])
        assert able is not None
        assert set(MEASURING) <= set(able.kinds)
        assert node["resources"] == {TIMING: "1"}
        assert able.hardware["sequential"].startswith(f"{node['labels']['loopbook/isa']}-1t-")
        # Whole cores, guaranteed: as many as threads are told and labels say.
        (container,) = containers(node)
        threads = environment(container)[THREADS_VARIABLE]["value"]
        assert f"-{threads}t-" in able.hardware["openmp"]
        needed = container["resources"]
        assert needed["limits"] == needed["requests"]
        assert needed["limits"]["cpu"] == threads


def test_jails_can_be_made_on_nodes_and_where_labels_are_printed():
    """Kubernetes lets /proc be unmasked only in pods with users of their own."""
    pods = [group["template"]["spec"] for group in groups(the("RayCluster"))[1:]]
    for pod in (*pods, the("Job")["spec"]["template"]["spec"]):
        assert pod["hostUsers"] is False
        (container,) = pod["containers"]
        rights = container["securityContext"]
        assert rights["procMount"] == "Unmasked"
        assert rights["seccompProfile"] == rights["appArmorProfile"] == {"type": "Unconfined"}
        assert rights["allowPrivilegeEscalation"] is False


@each_document
def test_no_password_is_on_a_command_line_or_in_a_manifest(document):
    for container in containers(document):
        known = environment(container)
        words = " ".join([*container.get("command", ()), *container.get("args", ())])
        assert "PGPASSWORD" not in words
        assert "postgresql://" not in words
        for name in ("PGPASSWORD", "STORE", "RAY_AUTH_TOKEN"):
            assert "value" not in known.get(name, {})
        if "STORE" in known:
            assert "PGPASSWORD" in known


def test_our_command_line_knows_the_commands():
    found = [words for one in DOCUMENTS for words in commands(one)]
    assert sorted(words[:2] for words in found) == [
        ["farm", "dispatch"],
        ["farm", "labels"],
        ["serve", "--host"],
    ]
    for words in found:
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            command = command.commands[words[0]]  # pyright: ignore
            words = words[1:]
        command.make_context("loopbook", words)  # raises where it does not know an option


def commands(document: dict[str, Any]) -> Iterator[list[str]]:
    """Those of ours that containers run, without their first word."""
    for container in containers(document):
        words = [*container.get("command", ()), *container.get("args", ())]
        lines = [words] if words[:1] == ["loopbook"] else map(shlex.split, words[2:])
        for line in lines:
            if "loopbook" in line:
                yield line[line.index("loopbook") + 1 :]


def environment(container: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in container.get("env", ())}
