"""The operator of bench/operator/workload.ts on kopf.

Children and values are looked up in indexes, so an object that is as desired costs no request. Handlers that send requests are
synchronous, as most are that use the official client, and so run in threads: ten workers are ten threads. Indexing needs none.
"""

from datetime import datetime, timezone

import kopf
import kubernetes


@kopf.on.startup()
def configure(settings, **_):
    settings.execution.max_workers = 10
    kubernetes.config.load_kube_config()


def child_of(body):
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": body["metadata"]["name"]},
        "data": {"value": body["spec"]["value"]},
    }
    kopf.adopt(child, owner=body)
    return child


def ensure_child(body, children):
    child = child_of(body)
    namespace, name = child["metadata"]["namespace"], child["metadata"]["name"]
    owner = child["metadata"]["ownerReferences"][0]["uid"]
    if (child["data"], owner) in children.get((namespace, name), []):
        return
    api = kubernetes.client.CoreV1Api()
    try:
        api.create_namespaced_config_map(namespace, child)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise
        api.patch_namespaced_config_map(name, namespace, child)


def status_of(body):
    generation = body["metadata"]["generation"]
    earlier = {condition["type"]: condition for condition in body.get("status", {}).get("conditions", [])}

    def condition(kind, value):
        found = earlier.get(kind, {})
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "type": kind,
            "status": value,
            "reason": "AsExpected",
            "message": "",
            "observedGeneration": generation,
            "lastTransitionTime": found["lastTransitionTime"] if found.get("status") == value else now,
        }

    return {
        "value": body["spec"]["value"],
        "child": body["metadata"]["name"],
        "observedGeneration": generation,
        "conditions": [condition("Ready", "True"), condition("Progressing", "False"), condition("Degraded", "False")],
    }


@kopf.index("", "v1", "configmaps")
async def children(namespace, name, body, meta, **_):
    owners = meta.get("ownerReferences") or [{}]
    return {(namespace, name): (dict(body.get("data") or {}), owners[0].get("uid"))}


@kopf.index("bench.konverge.dev", "v1", "widgets")
async def widgets(namespace, name, body, **_):
    return {(namespace, name): dict(body)}


@kopf.on.create("bench.konverge.dev", "v1", "widgets")
@kopf.on.update("bench.konverge.dev", "v1", "widgets", field="spec")
@kopf.on.resume("bench.konverge.dev", "v1", "widgets")
def reconcile(body, status, patch, children, **_):
    ensure_child(dict(body), children)
    desired = status_of(body)
    if any(status.get(field) != value for field, value in desired.items()):
        patch.status.update(desired)


@kopf.on.event("", "v1", "configmaps", when=lambda event, **_: event["type"] == "DELETED")
def repair(namespace, name, widgets, children, **_):
    for widget in widgets.get((namespace, name), []):
        ensure_child(widget, children)


kopf.configure(quiet=True)
kopf.run(standalone=True, clusterwide=True)
