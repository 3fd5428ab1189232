"""Webhooks, integrations, settings and the rest of administration through python-gitlab; python_gitlab.py runs these
steps among its own."""

import io
import os

import gitlab

from smoke import TOKEN, URL, collector, eventually, refused

STEPS, step = collector()

RECEIVER = "https://hooks.example.com/take"
LIMITS = ["import_limit", "export_limit", "download_export_limit"]
UNCOUNTED = {f"{kind}_{limit}": 0 for kind in ("project", "group") for limit in LIMITS}


@step
def project_hooks(run):
    project = run.gl.projects.create({"name": "Told Python"})
    hook = project.hooks.create({"url": RECEIVER, "issues_events": True, "token": "secret"})
    assert (hook.url, hook.push_events, hook.issues_events, hook.project_id) == (RECEIVER, True, True, project.id)
    assert not hasattr(hook, "token"), hook
    hook.push_events_branch_filter = "release-*"
    hook.note_events = True
    hook.save()
    again = project.hooks.get(hook.id)
    assert (again.note_events, again.push_events_branch_filter) == (True, "release-*")
    assert again.alert_status == "executable"
    assert [one.id for one in project.hooks.list(get_all=True)] == [hook.id]
    refused(lambda: project.hooks.create({"url": "ftp://hooks.example.com"}), 422)
    refused(lambda: project.hooks.create({"url": "http://127.0.0.1/"}), 422)
    hook.delete()
    refused(lambda: project.hooks.get(hook.id), 404)
    project.delete()


@step
def group_and_system_hooks(run):
    group = run.gl.groups.create({"name": "Told people", "path": "told-python"})
    hook = group.hooks.create({"url": RECEIVER, "subgroup_events": True})
    assert (hook.group_id, hook.subgroup_events) == (group.id, True)
    hook.delete()
    group.delete()
    system = run.gl.hooks.create({"url": RECEIVER, "merge_requests_events": True})
    assert (system.repository_update_events, system.merge_requests_events) == (True, True)
    assert run.gl.hooks.get(system.id).url == RECEIVER
    system.delete()
    refused(lambda: run.gl.hooks.get(system.id), 404)


@step
def integrations(run):
    project = run.gl.projects.create({"name": "Integrated Python"})
    assert project.integrations.list(get_all=True) == []
    project.integrations.update("pumble", {"webhook": RECEIVER, "push_events": False})
    pumble = project.integrations.get("pumble")
    assert (pumble.active, pumble.push_events) == (True, False)
    assert "webhook" not in pumble.properties, pumble.properties
    assert [one.slug for one in project.services.list(get_all=True)] == ["pumble"]
    refused(lambda: project.integrations.update("bugzilla", {"new_issue_url": RECEIVER}), 400)
    pumble.delete()
    assert project.integrations.list(get_all=True) == []
    project.delete()


@step
def application_settings(run):
    settings = run.gl.settings.get()
    before = settings.home_page_url
    settings.home_page_url = "https://start.example.com"
    settings.save()
    assert run.gl.settings.get().home_page_url == "https://start.example.com"
    refused(lambda: run.gl.settings.update(new_data={"default_projects_limit": "many"}), 400)
    settings.home_page_url = before
    settings.save()
    assert isinstance(run.gl.statistics.get().projects, str)


@step
def imports(run):
    inner = {"personal_access_token": "t", "repo_id": 1, "target_namespace": "root"}
    refused(lambda: run.gl.projects.import_github(**inner, github_hostname="http://127.0.0.1:1"), 400)
    server = ["http://127.0.0.1:1", "ada", "t", "TEA", "pot"]
    refused(lambda: run.gl.projects.import_bitbucket_server(*server), 400)
    project = run.gl.projects.create({"name": "Never imported"})
    state = project.imports.get()
    assert (state.import_status, state.import_error) == ("none", None)
    project.delete()


@step
def finished_imports(run):
    """A repository with three issues, from a source on this machine."""
    run.gl.settings.update(new_data={"allow_local_requests_from_web_hooks_and_services": True})
    source = {"repo_id": 1, "target_namespace": "root", "github_hostname": os.environ["FORGEWAY_IMPORT_SOURCE"]}
    made = run.gl.projects.import_github("t", **source, new_name="Imported Python")
    state = run.gl.projects.get(made["id"], lazy=True).imports.get()
    eventually(lambda: state.refresh() or state.import_status not in ("scheduled", "started"))
    assert (state.import_status, state.import_type) == ("finished", "github"), state
    copy = run.gl.projects.get(made["id"])
    assert sorted(one.iid for one in copy.issues.list(get_all=True)) == [1, 2, 3]
    assert [one.title for one in copy.commits.list(get_all=True)] == ["Begin"]
    copy.delete()
    run.gl.settings.update(new_data={"allow_local_requests_from_web_hooks_and_services": False})


@step
def archives(run):
    # Calls are counted by the minute, and the other client exports too.
    run.gl.settings.update(new_data=UNCOUNTED)
    project = run.gl.projects.create({"name": "Packed Python", "initialize_with_readme": True})
    project.issues.create({"title": "It leaks", "labels": ["bug"]})
    export = project.exports.create({"description": "Packed"})
    eventually(lambda: export.refresh() or export.export_status == "finished")
    archive = io.BytesIO(export.download())
    made = run.gl.projects.import_project(archive, path="unpacked-python", namespace="root", name="Unpacked Python")
    state = run.gl.projects.get(made["id"], lazy=True).imports.get()
    eventually(lambda: state.refresh() or state.import_status not in ("scheduled", "started"))
    assert (state.import_status, state.import_type) == ("finished", "gitlab_project"), state
    copy = run.gl.projects.get(made["id"])
    assert (copy.name, copy.description) == ("Unpacked Python", "Packed")
    assert [(one.iid, one.title, one.labels) for one in copy.issues.list(get_all=True)] == [(1, "It leaks", ["bug"])]
    assert copy.files.get("README.md", ref="main").decode()
    archive.seek(0)
    refused(lambda: run.gl.projects.import_project(archive, path="unpacked-python", namespace="root"), 400)
    copy.delete()
    project.delete()


@step
def archives_of_groups(run):
    group = run.gl.groups.create({"name": "Packed people", "path": "packed-python"})
    group.labels.create({"name": "bug", "color": "#ff0000"})
    export = group.exports.create()
    archive = io.BytesIO(eventually(lambda: download(export)))
    run.gl.groups.import_group(archive, path="unpacked-python", name="Unpacked people")
    copy = run.gl.groups.get("unpacked-python")
    eventually(lambda: [one.name for one in copy.labels.list(get_all=True)] == ["bug"])
    copy.delete()
    group.delete()


def download(export):
    """What an export holds; nothing while it is written."""
    try:
        return export.download()
    except gitlab.exceptions.GitlabGetError as error:
        assert error.response_code == 404, error
        return None


@step
def bulk_imports(run):
    """A project that the server fetches from itself."""
    run.gl.settings.update(
        new_data={"bulk_import_enabled": True, "allow_local_requests_from_web_hooks_and_services": True}
    )
    project = run.gl.projects.create({"name": "Fetched Python", "initialize_with_readme": True})
    group = run.gl.groups.create({"name": "Fetchers", "path": "fetchers-python"})
    entity = {
        "source_type": "project_entity",
        "source_full_path": project.path_with_namespace,
        "destination_namespace": group.full_path,
        "destination_slug": "here",
    }
    source = {"url": URL, "access_token": TOKEN}
    made = run.gl.bulk_imports.create({"configuration": source, "entities": [entity]})
    assert made.id in [one.id for one in run.gl.bulk_imports.list(get_all=True)]
    assert made.entities.list(get_all=True)[0].destination_slug == "here"
    # It looks every ten seconds whether the archive is there.
    for _ in range(6):
        try:
            eventually(lambda: made.refresh() or made.status not in ("created", "started"))
            break
        except AssertionError:
            continue
    fetched = made.entities.list(get_all=True)[0]
    assert (made.status, fetched.status, fetched.failures) == ("finished", "finished", []), (made, fetched)
    assert run.gl.projects.get("fetchers-python/here").default_branch == "main"
    assert run.gl.bulk_import_entities.list(get_all=True)[0].bulk_import_id == made.id
    run.gl.settings.update(
        new_data={"bulk_import_enabled": False, "allow_local_requests_from_web_hooks_and_services": False}
    )
    group.delete()
    project.delete()


@step
def features(run):
    feature = run.gl.features.set("python_smoke", True, user="root")
    assert (feature.name, feature.state) == ("python_smoke", "conditional")
    assert "python_smoke" in [one.name for one in run.gl.features.list(get_all=True)]
    feature.delete()
    assert "python_smoke" not in [one.name for one in run.gl.features.list(get_all=True)]


@step
def audit_events(run):
    project = run.gl.projects.create({"name": "Audited Python"})
    project.visibility = "public"
    project.save()
    newest = run.gl.audit_events.list(get_all=False)[0]
    assert run.gl.audit_events.get(newest.id).created_at == newest.created_at
    own = project.audit_events.list(get_all=True)
    assert own and {one.entity_type for one in own} == {"Project"}, own
    assert project.audit_events.get(own[0].id).details == own[0].details
    project.delete()


@step
def broadcast_messages(run):
    message = run.gl.broadcastmessages.create({"message": "Down at noon", "target_access_levels": [10, 30]})
    assert (message.active, message.target_access_levels) == (True, [10, 30])
    message.color = "#000000"
    message.save()
    assert run.gl.broadcastmessages.get(message.id).color == "#000000"
    assert [one.id for one in run.gl.broadcastmessages.list(get_all=True)] == [message.id]
    message.delete()
    refused(lambda: run.gl.broadcastmessages.get(message.id), 404)


@step
def appearance_and_topics(run):
    appearance = run.gl.appearance.get()
    appearance.title = "Smoke"
    appearance.save()
    assert run.gl.appearance.get().title == "Smoke"
    topic = run.gl.topics.create({"name": "smoke-python", "title": "Smoke"})
    assert topic.total_projects_count == 0
    topic.delete()
    variable = run.gl.variables.create({"key": "SMOKE_PYTHON", "value": "yes"})
    assert run.gl.variables.get("SMOKE_PYTHON").value == "yes"
    variable.delete()
    application = run.gl.applications.create(
        {"name": "Board", "redirect_uri": "https://board.example.com", "scopes": "openid read_user"}
    )
    assert application.secret and application.application_id
    assert application.id in [one.id for one in run.gl.applications.list(get_all=True)]
    application.delete()


@step
def own_events(run):
    project = run.gl.projects.create({"name": "Active Python"})
    mine = run.gl.events.list(action="created", target_type="project", get_all=False)
    assert mine and {one.target_type for one in mine} == {"Project"}, mine
    oldest = run.gl.events.list(sort="asc", get_all=False)[0]
    assert oldest.created_at <= mine[0].created_at
    assert run.gl.events.list(before="2001-01-01", get_all=True) == []
    refused(lambda: run.gl.events.list(action="slept", get_all=True), 400)
    project.delete()
