"""Drives a running Forgeway through the client that generate.py made: every step asserts what it got.

Reads FORGEWAY_URL and FORGEWAY_TOKEN; ends with 1 when a step failed.
"""

import os
import sys
import traceback
from types import SimpleNamespace

import forgeway_client as client
from forgeway_client import models

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def refused(kind, call, *args, **kwargs):
    """The call must fail with that exception; answers it."""
    try:
        call(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no error, {kind.__name__} was expected")


@step
def version(run):
    metadata = client.MetadataApi(run.api).get_api_v4_version()
    assert isinstance(metadata, models.Metadata)
    assert metadata.version.split(".")[0].isdigit(), metadata.version
    assert metadata.revision


@step
def wrong_token(run):
    stranger = client.ApiClient(client.Configuration(host=os.environ["FORGEWAY_URL"], api_key={"token": "wrong"}))
    error = refused(client.exceptions.UnauthorizedException, client.MetadataApi(stranger).get_api_v4_version)
    assert "401 Unauthorized" in error.body


@step
def users(run):
    """An administrator gets the long form."""
    me = client.UsersApi(run.api).get_api_v4_users(username="root")
    assert len(me) == 1
    run.root = me[0].actual_instance
    assert isinstance(run.root, models.AdminUser) and run.root.is_admin is True
    assert run.root.username == "root"


@step
def create_project(run):
    body = models.PostApiV4ProjectsBody(
        name="Smoke Generated", path="smoke-generated", visibility="private", default_branch="main",
        topics=["one", "two"], initialize_with_readme=True,
    )
    run.project = client.ProjectsApi(run.api).post_api_v4_projects(body).actual_instance
    assert isinstance(run.project, models.ProjectEntity)
    assert run.project.path_with_namespace == "root/smoke-generated"
    assert run.project.visibility == "private" and run.project.topics == ["one", "two"]
    run.id = str(run.project.id)


@step
def refused_project(run):
    body = models.PostApiV4ProjectsBody(name="Smoke Generated", path="smoke-generated")
    error = refused(client.exceptions.BadRequestException, client.ProjectsApi(run.api).post_api_v4_projects, body)
    assert "has already been taken" in error.body


@step
def get_project(run):
    projects = client.ProjectsApi(run.api)
    assert projects.get_api_v4_projects_id("root/smoke-generated").actual_instance.id == run.project.id
    refused(client.exceptions.NotFoundException, projects.get_api_v4_projects_id, "root/none")


@step
def list_projects(run):
    projects = client.ProjectsApi(run.api)
    answer = projects.get_api_v4_projects_with_http_info(
        search="smoke gen", topic=["one", "two"], owned=True, order_by="id", sort="asc", per_page=1, page=1
    )
    assert answer.headers["x-total"] == "1" and answer.headers["x-per-page"] == "1"
    assert [project.actual_instance.id for project in answer.data] == [run.project.id]
    short = projects.get_api_v4_projects(search="smoke gen", simple=True)[0].actual_instance
    assert type(short) is models.BasicProject
    assert projects.get_api_v4_projects(topic=["one", "three"]) == []


@step
def commit(run):
    action = models.PostApiV4ProjectsIdRepositoryCommitsBodyActionsInner(
        action="create", file_path="docs/first page.md", content="# One\n"
    )
    body = models.PostApiV4ProjectsIdRepositoryCommitsBody(branch="main", commit_message="Add a page", actions=[action])
    made = client.CommitsApi(run.api).post_api_v4_projects_id_repository_commits(run.id, body)
    assert made.title == "Add a page" and made.stats.additions == 1
    commits = client.CommitsApi(run.api).get_api_v4_projects_id_repository_commits(run.id, ref_name="main")
    assert commits[0].id == made.id and len(commits) == 2


@step
def files(run):
    files = client.RepositoryFilesApi(run.api)
    file = files.get_api_v4_projects_id_repository_files_file_path(run.id, "docs/first page.md", ref="main")
    assert file.size == 6 and file.encoding == "base64"
    raw = files.get_api_v4_projects_id_repository_files_file_path_raw(run.id, "docs/first page.md", ref="main")
    assert bytes(raw) == b"# One\n"
    refused(
        client.exceptions.NotFoundException,
        files.get_api_v4_projects_id_repository_files_file_path, run.id, "none.md", ref="main",
    )


@step
def branches(run):
    branches = client.BranchesApi(run.api)
    body = models.PostApiV4ProjectsIdRepositoryBranchesBody(branch="feature/one", ref="main")
    made = branches.post_api_v4_projects_id_repository_branches(run.id, body)
    assert made.name == "feature/one" and made.commit.title == "Add a page"
    names = [branch.name for branch in branches.get_api_v4_projects_id_repository_branches(run.id, search="feature")]
    assert names == ["feature/one"]
    branches.delete_api_v4_projects_id_repository_branches_branch(run.id, "feature/one")
    refused(
        client.exceptions.NotFoundException,
        branches.get_api_v4_projects_id_repository_branches_branch, run.id, "feature/one",
    )


@step
def labels(run):
    """Their fields differ from list to list."""
    labels = client.LabelsApi(run.api)
    body = models.PostApiV4ProjectsIdLabelsBody(name="bug", color="#ff0000")
    assert labels.post_api_v4_projects_id_labels(run.id, body).name == "bug"
    counted = labels.get_api_v4_projects_id_labels(run.id, with_counts=True)
    plain = labels.get_api_v4_projects_id_labels(run.id)
    assert [label.open_issues_count for label in counted + plain] == [0, None]


@step
def issues(run):
    issues = client.IssuesApi(run.api)
    body = models.PostApiV4ProjectsIdIssuesBody(title="First", labels=["bug"], due_date="2030-01-31")
    made = issues.post_api_v4_projects_id_issues(run.id, body)
    assert made.title == "First" and made.state == "opened" and made.author.username == "root"
    listed = issues.get_api_v4_projects_id_issues(run.id, labels=["bug"], iids=[made.iid], state="opened")
    assert [issue.id for issue in listed] == [made.id]
    close = models.PutApiV4ProjectsIdIssuesIssueIidBody(state_event="close")
    closed = issues.put_api_v4_projects_id_issues_issue_iid(run.id, made.iid, close)
    assert closed.state == "closed" and closed.closed_by.id == run.root.id
    refused(client.exceptions.NotFoundException, issues.get_api_v4_projects_id_issues_issue_iid, run.id, 987)


@step
def uploads(run):
    made = client.UploadsApi(run.api).post_api_v4_projects_id_uploads(run.id, file=("notes.txt", b"text"))
    assert made.alt == "notes.txt" and made.full_path.endswith("notes.txt")


@step
def delete_project(run):
    projects = client.ProjectsApi(run.api)
    assert projects.delete_api_v4_projects_id(run.id).message == "202 Accepted"
    refused(client.exceptions.NotFoundException, projects.get_api_v4_projects_id, "root/smoke-generated")


def main():
    token = {"token": os.environ["FORGEWAY_TOKEN"]}
    run = SimpleNamespace(api=client.ApiClient(client.Configuration(host=os.environ["FORGEWAY_URL"], api_key=token)))
    failed = []
    for function in STEPS:
        name = function.__name__.replace("_", " ")
        try:
            function(run)
            print(f"generated client: {name}: ok")
        except Exception:
            failed.append(name)
            print(f"generated client: {name}: FAILED\n{traceback.format_exc()}")
    print(f"generated client: {len(STEPS) - len(failed)} of {len(STEPS)} steps ok")
    sys.exit(1 if failed else 0)


main()
