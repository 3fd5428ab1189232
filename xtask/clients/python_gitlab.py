"""Drives a running Forgeway through the unmodified python-gitlab: every step asserts what it got.

Reads FORGEWAY_URL, FORGEWAY_TOKEN and FORGEWAY_PASSWORD; ends with 1 when a step failed.
"""

import base64
import hashlib
import io
import sys
import tarfile
import traceback

import gitlab
import requests

import admin
import ci_settings
import deployments
import geo
import jobs
import pipeline_sources
import pipelines
import reviews
from smoke import PASSWORD, STEPS, TOKEN, URL, Run, refused, step


@step
def authentication(run):
    run.gl.auth()
    assert run.gl.user.username == "root"
    assert run.gl.user.is_admin is True
    version, revision = run.gl.version()
    assert version.split(".")[0].isdigit(), version
    assert revision
    refused(gitlab.Gitlab(URL, private_token="wrong").auth, 401)


@step
def password_grant(run):
    answer = requests.post(
        f"{URL}/oauth/token",
        data={"grant_type": "password", "username": "root", "password": PASSWORD},
        timeout=30,
    )
    assert answer.status_code == 200, answer.text
    bearer = gitlab.Gitlab(URL, oauth_token=answer.json()["access_token"])
    bearer.auth()
    assert bearer.user.username == "root"


@step
def users(run):
    found = run.gl.users.list(username="root", get_all=True)
    assert [user.username for user in found] == ["root"]
    assert run.gl.users.get(found[0].id).username == "root"
    refused(lambda: run.gl.users.get(987654321), 404)


@step
def projects(run):
    run.project = run.gl.projects.create(
        {"name": "Smoke Python", "path": "smoke-python", "default_branch": "main", "visibility": "private"}
    )
    project = run.project
    assert project.path_with_namespace == "root/smoke-python"
    assert project.visibility == "private"
    assert run.gl.projects.get(project.id).name == "Smoke Python"
    assert run.gl.projects.get("root/smoke-python").id == project.id
    assert [p.id for p in run.gl.projects.list(search="smoke python", get_all=True)] == [project.id]
    refused(lambda: run.gl.projects.get("root/none"), 404)
    error = refused(lambda: run.gl.projects.create({"name": "Smoke Python", "path": "smoke-python"}), 400)
    assert "has already been taken" in str(error.response_body)


@step
def project_settings(run):
    project = run.project
    project.description = "made by python-gitlab"
    project.topics = ["one", "two"]
    project.save()
    again = run.gl.projects.get(project.id)
    assert again.description == "made by python-gitlab"
    assert again.topics == ["one", "two"]
    project.star()
    assert run.gl.projects.get(project.id).star_count == 1
    project.unstar()
    project.archive()
    assert run.gl.projects.get(project.id).archived is True
    project.unarchive()
    assert run.gl.projects.get(project.id).archived is False


@step
def project_lists(run):
    made = [run.gl.projects.create({"name": f"page {n}"}).id for n in range(5)]
    listed = run.gl.projects.list(iterator=True, per_page=2, order_by="id", sort="asc")
    assert listed.total >= 6 and listed.per_page == 2
    ids = [project.id for project in listed]
    assert ids == sorted(ids) and set(made) <= set(ids)
    keyset = run.gl.projects.list(iterator=True, pagination="keyset", order_by="id", sort="desc", per_page=2)
    assert [project.id for project in keyset] == ids[::-1]
    for project in made:
        run.gl.projects.delete(project)


@step
def files(run):
    files = run.project.files
    made = files.create(
        {"file_path": "docs/first.md", "branch": "main", "content": "# One\n", "commit_message": "Add a page"}
    )
    assert made.file_path == "docs/first.md"
    file = files.get("docs/first.md", ref="main")
    assert file.decode() == b"# One\n"
    assert file.size == 6 and file.encoding == "base64"
    assert file.content_sha256 == hashlib.sha256(b"# One\n").hexdigest()
    file.content = "# One\n\nTwo\n"
    file.save(branch="main", commit_message="Add a line")
    assert files.raw("docs/first.md", ref="main") == b"# One\n\nTwo\n"
    blame = files.blame("docs/first.md", ref="main")
    assert [part["lines"] for part in blame] == [["# One"], ["", "Two"]]
    head = files.head("docs/first.md", ref="main")
    assert head["X-Gitlab-File-Path"] == "docs/first.md" and head["X-Gitlab-Size"] == "11"
    data = base64.b64encode(bytes(range(256))).decode()
    files.create(
        {"file_path": "raw.bin", "branch": "main", "content": data, "encoding": "base64", "commit_message": "Add bytes"}
    )
    assert files.raw("raw.bin", ref="main") == bytes(range(256))
    files.delete(file_path="raw.bin", branch="main", commit_message="Remove bytes")
    refused(lambda: files.get("raw.bin", ref="main"), 404)
    refused(
        lambda: files.create(
            {"file_path": "docs/first.md", "branch": "main", "content": "x", "commit_message": "Again"}
        ),
        400,
    )


@step
def commits(run):
    project = run.project
    made = project.commits.create(
        {
            "branch": "main",
            "commit_message": "Change three files\n\nReviewed-by: Somebody <somebody@example.com>\n",
            "actions": [
                {"action": "create", "file_path": "a.txt", "content": "a\n"},
                {"action": "create", "file_path": "run.sh", "content": "#!/bin/sh\n", "execute_filemode": True},
                {"action": "update", "file_path": "docs/first.md", "content": "# Uno\n"},
                {"action": "move", "file_path": "docs/zero.md", "previous_path": "docs/first.md"},
            ],
        }
    )
    assert made.title == "Change three files"
    assert made.stats["total"] == made.stats["additions"] + made.stats["deletions"]
    run.first = made.id
    listed = project.commits.list(ref_name="main", get_all=True)
    assert listed[0].id == made.id and len(listed) == 5
    # As an argument of its own, `path` would replace the request's address.
    touching = project.commits.list(query_parameters={"path": "a.txt"}, get_all=True)
    assert [commit.id for commit in touching] == [made.id]
    trailers = project.commits.list(ref_name="main", per_page=1, page=1, trailers=True)[0].trailers
    assert trailers == {"Reviewed-by": "Somebody <somebody@example.com>"}, trailers
    commit = project.commits.get(made.id[:10])
    assert commit.id == made.id and commit.parent_ids == [listed[1].id]
    changed = {(diff["old_path"], diff["new_path"]) for diff in commit.diff(get_all=True)}
    assert ("docs/first.md", "docs/zero.md") in changed or ("docs/zero.md", "docs/zero.md") in changed, changed
    assert {"type": "branch", "name": "main"} in commit.refs("branch")
    commit.comments.create({"note": "Well done"})
    assert [comment.note for comment in commit.comments.list(get_all=True)] == ["Well done"]
    refused(lambda: project.commits.get("0" * 40), 404)
    refused(commit.signature, 404)


@step
def commit_conflicts(run):
    error = refused(
        lambda: run.project.commits.create(
            {
                "branch": "main",
                "commit_message": "Again",
                "actions": [{"action": "create", "file_path": "a.txt", "content": "b\n"}],
            }
        ),
        400,
    )
    assert "A file with this name already exists" in str(error)


@step
def branches(run):
    project = run.project
    branch = project.branches.create({"branch": "feature/one", "ref": "main"})
    assert branch.commit["id"] == run.first and branch.default is False
    assert [b.name for b in project.branches.list(get_all=True)] == ["feature/one", "main"]
    assert [b.name for b in project.branches.list(search="^feat", get_all=True)] == ["feature/one"]
    assert project.branches.get("feature/one").name == "feature/one"
    refused(lambda: project.branches.create({"branch": "feature/one", "ref": "main"}), 400)
    refused(lambda: project.branches.get("none"), 404)


@step
def picks_and_reverts(run):
    project = run.project
    made = project.commits.create(
        {
            "branch": "feature/one",
            "commit_message": "Add b",
            "actions": [{"action": "create", "file_path": "b.txt", "content": "b\n"}],
        }
    )
    commit = project.commits.get(made.id)
    dry = project.manager.gitlab.http_post(
        f"/projects/{project.id}/repository/commits/{made.id}/cherry_pick",
        post_data={"branch": "main", "dry_run": True},
    )
    assert dry == {"dry_run": "success"}, dry
    commit.cherry_pick(branch="main")
    picked = project.commits.list(ref_name="main", per_page=1, page=1)[0]
    assert picked.message.startswith("Add b") and f"(cherry picked from commit {made.id})" in picked.message
    again = refused(lambda: commit.cherry_pick(branch="main"), 400)
    assert '"error_code":"empty"' in again.response_body.decode().replace(" ", ""), again.response_body
    reverted = project.commits.get(picked.id).revert(branch="main")
    assert reverted["title"] == 'Revert "Add b"'
    refused(lambda: project.files.get("b.txt", ref="main"), 404)


@step
def repository(run):
    project = run.project
    tree = project.repository_tree(ref="main", get_all=True)
    assert [entry["name"] for entry in tree] == ["docs", "a.txt", "run.sh"], tree
    assert tree[2]["mode"] == "100755" and tree[0]["type"] == "tree"
    deep = project.repository_tree(recursive=True, get_all=True)
    assert "docs/zero.md" in [entry["path"] for entry in deep]
    blob = tree[1]["id"]
    assert base64.b64decode(project.repository_blob(blob)["content"]) == b"a\n"
    assert project.repository_raw_blob(blob) == b"a\n"
    compared = project.repository_compare("main", "feature/one")
    assert [commit["title"] for commit in compared["commits"]] == ["Add b"]
    assert [diff["new_path"] for diff in compared["diffs"]] == ["b.txt"]
    assert compared["diffs"][0]["diff"].startswith("@@ -0,0 +1 @@")
    assert project.repository_merge_base(["main", "feature/one"])["id"] == run.first
    authors = project.repository_contributors()
    assert sum(author["commits"] for author in authors) == 7, authors
    archive = tarfile.open(fileobj=io.BytesIO(project.repository_archive(sha="main")), mode="r:gz")
    assert any(name.endswith("/docs/zero.md") for name in archive.getnames())
    assert isinstance(project.languages(), dict)


@step
def tags(run):
    project = run.project
    light = project.tags.create({"tag_name": "v1.0", "ref": "main"})
    assert light.message is None
    noted = project.tags.create({"tag_name": "v1.1", "ref": run.first, "message": "The second"})
    assert noted.message == "The second" and noted.commit["id"] == run.first and noted.target != run.first
    assert [tag.name for tag in project.tags.list(order_by="name", sort="asc", get_all=True)] == ["v1.0", "v1.1"]
    assert project.tags.get("v1.1").target == noted.target
    refused(lambda: project.tags.create({"tag_name": "v1.0", "ref": "main"}), 400)
    project.tags.delete("v1.0")
    refused(lambda: project.tags.get("v1.0"), 404)


@step
def protected_branches(run):
    rules = run.project.protectedbranches
    names = [rule.name for rule in rules.list(get_all=True)]
    assert names == ["main"], names
    made = rules.create(
        {"name": "release/*", "push_access_level": 0, "merge_access_level": 30, "allow_force_push": False}
    )
    assert made.push_access_levels[0]["access_level"] == 0
    assert made.merge_access_levels[0]["access_level_description"] == "Developers + Maintainers"
    rule = rules.get("release/*")
    rule.allow_force_push = True
    rule.save()
    assert rules.get("release/*").allow_force_push is True
    refused(lambda: rules.create({"name": "release/*"}), 409)
    rule.delete()
    refused(lambda: rules.get("release/*"), 404)


@step
def protected_tags(run):
    rules = run.project.protectedtags
    made = rules.create({"name": "v*", "create_access_level": 40})
    assert made.create_access_levels[0]["access_level"] == 40
    assert [rule.name for rule in rules.list(get_all=True)] == ["v*"]
    rules.delete("v*")
    refused(lambda: rules.get("v*"), 404)


@step
def tokens(run):
    me = run.gl.users.get(run.gl.user.id)
    made = me.personal_access_tokens.create({"name": "smoke", "scopes": ["read_api"]})
    assert made.scopes == ["read_api"] and made.token
    reader = gitlab.Gitlab(URL, private_token=made.token)
    reader.auth()
    assert reader.personal_access_tokens.get("self").name == "smoke"
    refused(lambda: reader.projects.create({"name": "not allowed"}), 403)
    assert "smoke" in [token.name for token in run.gl.personal_access_tokens.list(get_all=True)]
    again = run.gl.personal_access_tokens.get(made.id)
    rotated = again.rotate()
    refused(gitlab.Gitlab(URL, private_token=made.token).auth, 401)
    newer = gitlab.Gitlab(URL, private_token=rotated["token"])
    newer.auth()
    newer.personal_access_tokens.delete("self")
    refused(newer.auth, 401)


@step
def forks(run):
    fork = run.project.forks.create({"path": "smoke-fork", "name": "Smoke Fork"})
    assert fork.forked_from_project["id"] == run.project.id
    assert [p.id for p in run.project.forks.list(get_all=True)] == [fork.id]
    run.gl.projects.delete(fork.id)


@step
def people(run):
    gl = run.gl
    for name in ["pia", "paul"]:
        fields = {"username": name, "name": name.title(), "email": f"{name}@example.org"}
        run.people.append(gl.users.create({**fields, "force_random_password": True, "skip_confirmation": True}))
    pia = run.people[0]
    error = refused(lambda: gl.users.create({"username": "pia", "name": "P", "email": "p@example.org", "password": "Tr1ck-y-enough"}), 409)
    assert "Username has already been taken" in str(error)
    assert [user.username for user in gl.users.list(search="pia@example.org", get_all=True)] == ["pia"]
    pia.note, pia.bio = "a note", "About me"
    pia.save()
    again = gl.users.get(pia.id)
    assert (again.note, again.bio, again.state) == ("a note", "About me", "active")
    assert pia.block() is not None and gl.users.get(pia.id).state == "blocked"
    pia.unblock()
    assert gl.users.get(pia.id).state == "active"
    pia.customattributes.set("team", "red")
    assert [user.id for user in gl.users.list(custom_attributes={"team": "red"}, get_all=True)] == [pia.id]
    token = pia.impersonationtokens.create({"name": "as pia", "scopes": ["api"]})
    as_pia = gitlab.Gitlab(URL, private_token=token.token)
    as_pia.auth()
    assert as_pia.user.username == "pia" and not hasattr(as_pia.user, "is_admin")
    status = as_pia.user.status.get()
    status.message, status.emoji = "On leave", "palm_tree"
    status.save()
    assert gl.users.get(pia.id).status.get().message == "On leave"
    mail = as_pia.user.emails.create({"email": "pia@work.example.org"})
    assert [email.email for email in as_pia.user.emails.list(get_all=True)] == ["pia@work.example.org"]
    mail.delete()
    token.delete()
    refused(as_pia.auth, 401)


@step
def groups(run):
    gl = run.gl
    run.group = gl.groups.create({"name": "Smoke Group", "path": "smoke-group", "visibility": "private"})
    group = run.group
    inner = gl.groups.create({"name": "Inner", "path": "inner", "parent_id": group.id})
    assert inner.full_path == "smoke-group/inner" and inner.visibility == "private"
    error = refused(lambda: gl.groups.create({"name": "Other", "path": "smoke-group"}), 400)
    assert "has already been taken" in str(error)
    assert [found.id for found in group.subgroups.list(get_all=True)] == [inner.id]
    assert [found.id for found in group.descendant_groups.list(get_all=True)] == [inner.id]
    group.description = "made by python-gitlab"
    group.save()
    assert gl.groups.get("smoke-group").description == "made by python-gitlab"
    assert [found.path for found in gl.groups.list(search="smoke-g", top_level_only=True, get_all=True)] == ["smoke-group"]
    project = gl.projects.create({"name": "In a group", "namespace_id": inner.id})
    assert group.projects.list(get_all=True) == []
    assert [found.id for found in group.projects.list(include_subgroups=True, get_all=True)] == [project.id]
    friends = gl.groups.create({"name": "Friends", "path": "smoke-friends", "visibility": "private"})
    group.share(friends.id, 30)
    shared = gl.groups.get(group.id).shared_with_groups
    assert [(link["group_id"], link["group_access_level"]) for link in shared] == [(friends.id, 30)]
    group.unshare(friends.id)
    inner.transfer(friends.id)
    assert gl.groups.get(inner.id).full_path == "smoke-friends/inner"
    friends.delete()


@step
def members(run):
    group, (pia, paul) = run.group, run.people
    made = group.members.create({"user_id": pia.id, "access_level": 30, "expires_at": "2099-12-31"})
    assert (made.username, made.access_level, made.expires_at) == ("pia", 30, "2099-12-31")
    refused(lambda: group.members.create({"user_id": pia.id, "access_level": 30}), 409)
    made.access_level = 40
    made.save()
    assert group.members.get(pia.id).access_level == 40
    inner = run.gl.groups.create({"name": "Inside", "path": "inside", "parent_id": group.id})
    assert [member.username for member in inner.members.list(get_all=True)] == ["root"]
    inherited = {member.username: member.access_level for member in inner.members_all.list(get_all=True)}
    assert inherited == {"root": 50, "pia": 40}, inherited
    sent = group.invitations.create({"email": ["paul@example.org", "nobody@example.org"], "access_level": 20})
    assert sent.status == "success"
    assert group.members.get(paul.id).access_level == 20
    assert [invited.invite_email for invited in group.invitations.list(get_all=True)] == ["nobody@example.org"]
    group.invitations.delete("nobody@example.org")
    billable = {member.username for member in group.billable_members.list(get_all=True)}
    assert billable == {"root", "pia", "paul"}, billable
    root = next(member for member in group.members.list(get_all=True) if member.username == "root")
    refused(lambda: group.members.delete(root.id), 403)
    group.members.delete(paul.id)
    refused(lambda: group.members.get(paul.id), 404)


@step
def push_rules(run):
    group = run.group
    group.pushrules.create({"commit_message_regex": "^TICKET-", "prevent_secrets": True})
    project = run.gl.projects.create({"name": "Ruled", "namespace_id": group.id, "initialize_with_readme": True})
    rule = project.pushrules.get()
    assert rule.commit_message_regex == "^TICKET-" and rule.prevent_secrets is True
    page = {"file_path": "a.txt", "branch": "main", "content": "a\n"}
    error = refused(lambda: project.files.create({**page, "commit_message": "No ticket"}), 400)
    assert "Commit message does not follow the pattern '^TICKET-'" in str(error)
    project.files.create({**page, "commit_message": "TICKET-1: Add a"})
    rule.commit_message_regex = ""
    rule.save()
    project.files.create({**page, "file_path": "b.txt", "commit_message": "Free again"})
    rule.delete()
    group.pushrules.get().delete()
    refused(group.pushrules.get, 404)


@step
def wikis(run):
    project = run.gl.projects.create({"name": "Written", "namespace_id": run.group.id})
    for holder in [run.group, project]:
        page = holder.wikis.create({"title": "Home page", "content": "# Hello\n\n*you*"})
        assert (page.slug, page.format) == ("Home-page", "markdown")
        assert "<em>you</em>" in holder.wikis.get("Home-page", render_html=True).content
        page.content = "# Bye"
        page.save()
        assert holder.wikis.get("Home-page").content == "# Bye"
        assert [listed.slug for listed in holder.wikis.list(get_all=True)] == ["Home-page"]
        page.delete()
        refused(lambda holder=holder: holder.wikis.get("Home-page"), 404)


for more in [reviews, pipelines, jobs, pipeline_sources, ci_settings, deployments, geo, admin]:
    STEPS.extend(more.STEPS)


@step
def people_leave(run):
    run.group.delete()
    for person in run.people:
        person.delete(hard_delete=True)
        refused(lambda person=person: run.gl.users.get(person.id), 404)


@step
def ends(run):
    project = run.project
    project.branches.delete("feature/one")
    refused(lambda: project.branches.get("feature/one"), 404)
    project.delete()
    refused(lambda: run.gl.projects.get("root/smoke-python"), 404)


def main():
    run, failed = Run(), []
    for function in STEPS:
        name = function.__name__.replace("_", " ")
        try:
            function(run)
            print(f"python-gitlab: {name}: ok")
        except Exception:
            failed.append(name)
            print(f"python-gitlab: {name}: FAILED\n{traceback.format_exc()}")
    print(f"python-gitlab {gitlab.__version__}: {len(STEPS) - len(failed)} of {len(STEPS)} steps ok")
    sys.exit(1 if failed else 0)


main()
