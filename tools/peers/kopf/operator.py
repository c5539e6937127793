"""An operator as people write it with kopf: handlers, a timer, a daemon's finalizer, status, children and events."""

import os

import kopf
import kubernetes

NAME = os.environ.get("OPERATOR_NAME", "kopf")


@kopf.on.startup()
def configure(settings, **_):
    kubernetes.config.load_kube_config()
    settings.persistence.finalizer = "peers.example.com/kopf"
    settings.watching.server_timeout = 20


@kopf.on.create("peers.example.com", "v1", "teapots")
def brewed(spec, name, namespace, logger, **_):
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{name}-settings"},
        "data": {"tea": spec.get("tea", "green")},
    }
    kopf.adopt(settings)
    kubernetes.client.CoreV1Api().create_namespaced_config_map(namespace, settings)
    logger.info("brewed")
    return {"by": NAME}


@kopf.on.update("peers.example.com", "v1", "teapots", field="spec.tea")
def changed(old, new, name, namespace, body, **_):
    api = kubernetes.client.CoreV1Api()
    api.patch_namespaced_config_map(f"{name}-settings", namespace, {"data": {"tea": new}})
    kopf.event(body, type="Normal", reason="Changed", message=f"from {old} to {new}")
    return {"from": old, "to": new}


@kopf.on.delete("peers.example.com", "v1", "teapots")
def poured_out(name, namespace, **_):
    leaves = {"metadata": {"name": f"{name}-leaves"}}
    kubernetes.client.CoreV1Api().create_namespaced_config_map(namespace, leaves)


@kopf.timer("peers.example.com", "v1", "teapots", interval=0.5)
def cools(status, patch, **_):
    if status.get("coolings", 0) < 3:
        patch.status["coolings"] = status.get("coolings", 0) + 1


@kopf.on.event("", "v1", "configmaps", labels={"tea": kopf.PRESENT})
def seen(event, name, logger, **_):
    logger.info(f"saw {name}: {event['type']}")
