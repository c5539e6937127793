"""Tests as people write them, with the official client and the fixture, on the single executable."""

import time

import pytest
from kubernetes import client, config, watch


@pytest.fixture(scope="session")
def api(konverge_cluster):
    config.load_kube_config(str(konverge_cluster.kubeconfig))
    return client.ApiClient()


@pytest.fixture
def namespace(api, request):
    name = request.node.name.replace("_", "-")[:60]
    client.CoreV1Api(api).create_namespace({"metadata": {"name": name}})
    return name


def test_a_deployment_becomes_available(api, namespace):
    apps = client.AppsV1Api(api)
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "example/web"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    apps.create_namespaced_deployment(namespace, {"metadata": {"name": "web"}, "spec": spec})
    for event in watch.Watch().stream(apps.list_namespaced_deployment, namespace, timeout_seconds=60):
        if event["object"].status.available_replicas == 2:
            return
    pytest.fail("the Deployment never became available")


def test_a_custom_resource_is_validated(api, namespace):
    replicas = {"type": "integer", "minimum": 1}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"replicas": replicas}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget"}
    definition = {
        "metadata": {"name": "widgets.suite.example.com"},
        "spec": {"group": "suite.example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    extensions = client.ApiextensionsV1Api(api)
    extensions.create_custom_resource_definition(definition)
    deadline = time.monotonic() + 60
    while not established(extensions.read_custom_resource_definition("widgets.suite.example.com")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    objects = client.CustomObjectsApi(api)

    def create(name, count):
        widget = {"apiVersion": "suite.example.com/v1", "kind": "Widget", "metadata": {"name": name}}
        body = {**widget, "spec": {"replicas": count}}
        return objects.create_namespaced_custom_object("suite.example.com", "v1", namespace, "widgets", body)

    assert create("good", 1)["metadata"]["uid"]
    with pytest.raises(client.ApiException) as refused:
        create("bad", 0)
    assert refused.value.status == 422


def established(definition):
    conditions = definition.status.conditions or [] if definition.status else []
    return any(one.type == "Established" and one.status == "True" for one in conditions)
