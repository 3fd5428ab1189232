"""Geo nodes through python-gitlab; python_gitlab.py runs these steps among its own."""

from smoke import URL, collector, refused

STEPS, step = collector()


@step
def geo_nodes(run):
    new = {"name": URL, "url": URL, "primary": True}
    made = run.gl.http_post("/geo_nodes", post_data=new)
    assert made["primary"] is True and made["enabled"] is True, made
    assert made["url"] == made["internal_url"] == f"{URL.rstrip('/')}/", made
    node = run.gl.geonodes.get(made["id"])
    assert [one.id for one in run.gl.geonodes.list(get_all=True)] == [node.id]
    changed = run.gl.geonodes.update(node.id, {"name": URL, "url": URL, "files_max_capacity": 12})
    assert changed["files_max_capacity"] == 12, changed
    node.repair()
    assert node.name == URL
    refused(lambda: run.gl.http_post("/geo_nodes", post_data={**new, "name": "two"}), 400)
    refused(run.gl.geonodes.current_failures, 404)


@step
def geo_statuses(run):
    node = run.gl.geonodes.list(get_all=True)[0]
    status = node.status(refresh=True)
    assert status["geo_node_id"] == node.id and status["health_status"] == "Healthy", status
    assert isinstance(status["projects_count"], int), status
    assert status["repositories_checksummed_in_percentage"].endswith("%"), status
    assert [one["geo_node_id"] for one in run.gl.geonodes.status(get_all=True)] == [node.id]
    node.delete()
    refused(lambda: run.gl.geonodes.get(node.id), 404)
