"""Environments, deployments, exports and alerts through python-gitlab; python_gitlab.py runs these steps among its own."""

import gitlab
import requests

from smoke import URL, collector, eventually, refused

STEPS, step = collector()

CONFIG = "deploy: {script: [make deploy], environment: production, tags: [nowhere]}\n"
HEADER = "Group Name,Project Name,Tool,Scanner Name,Status,Vulnerability,"


def reported(run, environment, status, **more):
    """A deployment of the first commit that somebody reports."""
    new = {"environment": environment, "sha": run.deployed_sha, "ref": "main", "tag": False, "status": status, **more}
    return run.deployed.deployments.create(new)


@step
def environments(run):
    run.deployed = run.gl.projects.create({"name": "Deployed", "initialize_with_readme": True, "default_branch": "main"})
    project = run.deployed
    run.deployed_sha = project.branches.get("main").commit["id"]
    made = project.environments.create({"name": "review/One", "external_url": "https://one.example.org"})
    assert (made.tier, made.state, made.slug[:11]) == ("development", "available", "review-one-"), made
    made.external_url = "https://two.example.org"
    made.save()
    assert project.environments.get(made.id).external_url == "https://two.example.org"
    assert [found.id for found in project.environments.list(search="review", get_all=True)] == [made.id]
    assert project.environments.list(states="stopped", get_all=True) == []
    refused(made.delete, 403)
    assert made.stop()["state"] == "stopped"
    assert [found.id for found in project.environments.list(states="stopped", get_all=True)] == [made.id]
    made.delete()
    refused(lambda: project.environments.get(made.id), 404)
    error = refused(lambda: project.environments.create({"name": "/odd"}), 400)
    assert "can contain only letters" in str(error.response_body), error


@step
def reported_deployments(run):
    project = run.deployed
    made = reported(run, "staging", "running")
    assert (made.status, made.deployable, made.environment["name"]) == ("running", None, "staging"), made
    made.status = "success"
    made.save()
    shown = project.deployments.get(made.id)
    assert (shown.status, shown.iid, shown.user["username"]) == ("success", 1, "root"), shown
    assert reported(run, "staging", "success").id == made.id
    failed = reported(run, "staging", "failed")

    def found(**filters):
        return [row.id for row in project.deployments.list(get_all=True, **filters)]

    assert found() == [made.id, failed.id] and found(order_by="iid", sort="desc") == [failed.id, made.id]
    assert found(environment="staging", status="failed") == [failed.id] and found(environment="none") == []
    assert project.environments.get(made.environment["id"]).last_deployment["id"] == made.id
    for odd in [{"sha": "0" * 40}, {"ref": "none"}, {"ref": run.deployed_sha}, {"tag": True}]:
        refused(lambda odd=odd: reported(run, "staging", "success", **odd), 400)
    refused(lambda: project.deployments.list(status="none", get_all=True), 400)


@step
def deployed_merge_requests(run):
    project = run.deployed
    action = {"action": "create", "file_path": "one.txt", "content": "one\n"}
    project.commits.create({"branch": "one", "start_branch": "main", "commit_message": "Add one", "actions": [action]})
    request = project.mergerequests.create({"source_branch": "one", "target_branch": "main", "title": "One"})
    eventually(lambda: project.mergerequests.get(request.iid).detailed_merge_status == "mergeable")
    request.merge()
    run.deployed_sha = project.branches.get("main").commit["id"]
    made = reported(run, "staging", "success")
    brought = eventually(lambda: made.mergerequests.list(get_all=True))
    assert [found.iid for found in brought] == [request.iid]
    listed = project.mergerequests.list(environment="staging", deployed_after="2020-01-01T00:00:00Z", get_all=True)
    assert [found.iid for found in listed] == [request.iid]
    assert project.mergerequests.list(environment="production", get_all=True) == []


@step
def approved_deployments(run):
    project, pia = run.deployed, run.people[0]
    protected = project.protected_environments.create(
        {"name": "production", "deploy_access_levels": [{"access_level": 30}], "required_approval_count": 1}
    )
    assert protected.deploy_access_levels[0]["access_level"] == 30 and protected.required_approval_count == 1, protected
    assert [found.name for found in project.protected_environments.list(get_all=True)] == ["production"]
    project.members.create({"user_id": pia.id, "access_level": 30})
    token = pia.impersonationtokens.create({"name": "deploys", "scopes": ["api"]}).token
    seen = gitlab.Gitlab(URL, private_token=token).projects.get(project.id)
    action = {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG}
    seen.commits.create({"branch": "two", "start_branch": "main", "commit_message": "Deploy", "actions": [action]})
    [blocked] = eventually(lambda: project.deployments.list(environment="production", get_all=True))
    assert (blocked.status, blocked.deployable["status"]) == ("blocked", "manual"), blocked
    refused(lambda: seen.deployments.get(blocked.id).approval("approved"), 400)
    approval = project.deployments.get(blocked.id).approval("approved", comment="Go")
    assert (approval["status"], approval["user"]["username"], approval["comment"]) == ("approved", "root", "Go"), approval
    shown = project.deployments.get(blocked.id)
    assert (shown.pending_approval_count, shown.approvals[0]["comment"]) == (0, "Go"), shown
    project.protected_environments.delete("production")
    refused(lambda: project.protected_environments.get("production"), 404)


@step
def vulnerability_exports(run):
    project = run.deployed
    made = run.gl.http_post(f"/security/projects/{project.id}/vulnerability_exports")
    assert (made["status"], made["project_id"], made["format"]) == ("created", project.id, "csv"), made
    path = f"/security/vulnerability_exports/{made['id']}"
    done = eventually(lambda: (found := run.gl.http_get(path))["status"] == "finished" and found)
    assert done["_links"]["download"].endswith(f"{path}/download"), done
    file = run.gl.http_get(f"{path}/download", raw=True)
    assert file.headers["Content-Type"] == "text/csv" and file.text.startswith(HEADER), file.text
    refused(lambda: run.gl.http_get("/security/vulnerability_exports/987654321"), 404)


@step
def alerts(run):
    project = run.deployed
    path = f"/projects/{project.id}/alert_management_integrations"
    made = run.gl.http_post(path, post_data={"name": "Monitor", "active": True})
    told = {"title": "Disk is full", "severity": "high", "hosts": ["one", "two"]}

    def send(key):
        return requests.post(made["url"], json=told, headers={"Authorization": f"Bearer {key}"}, timeout=30)

    for _ in range(2):
        answer = send(made["token"])
        assert (answer.status_code, answer.json()) == (200, [{"iid": 1, "title": "Disk is full"}]), answer.text
    assert (send("wrong").status_code, send("wrong").content) == (401, b"")
    [alert] = run.gl.http_list(f"/projects/{project.id}/alert_management_alerts", get_all=True)
    assert (alert["event_count"], alert["severity"], alert["hosts"]) == (2, "high", ["one", "two"]), alert
    project.delete()
