"""Issues, merge requests and approvals through python-gitlab; python_gitlab.py runs these steps among its own."""

import gitlab

from smoke import URL, refused

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def somebody(run, person):
    """The client of one of the people."""
    token = person.impersonationtokens.create({"name": "review", "scopes": ["api"]})
    return gitlab.Gitlab(URL, private_token=token.token)


@step
def labels_and_milestones(run):
    run.reviewed = run.gl.projects.create(
        {"name": "Reviewed", "namespace_id": run.group.id, "initialize_with_readme": True, "default_branch": "main"}
    )
    project, (pia, paul) = run.reviewed, run.people
    for person, level in [(pia, 30), (paul, 40)]:
        if not any(member.id == person.id for member in project.members_all.list(get_all=True)):
            project.members.create({"user_id": person.id, "access_level": level})
    label = project.labels.create({"name": "bug", "color": "#dc143c", "priority": 1})
    assert (label.name, label.priority) == ("bug", 1)
    counted = project.labels.list(with_counts=True, get_all=True)
    assert [(found.name, found.open_issues_count) for found in counted] == [("bug", 0)]
    assert project.milestones.create({"title": "v1", "due_date": "2099-12-31"}).expired is False
    refused(lambda: project.labels.create({"name": "bug", "color": "#ff0000"}), 409)


@step
def issues(run):
    project, (pia, _) = run.reviewed, run.people
    milestone = project.milestones.list(title="v1")[0]
    issue = project.issues.create(
        {"title": "Too slow", "description": "- [x] see\n- [ ] mend", "labels": ["bug"],
         "assignee_ids": [pia.id], "milestone_id": milestone.id, "due_date": "2099-01-31", "weight": 3}
    )
    assert (issue.iid, issue.state, issue.labels) == (1, "opened", ["bug"])
    assert issue.task_completion_status == {"count": 2, "completed_count": 1}
    assert [person["username"] for person in issue.assignees] == ["pia"]
    other = project.issues.create({"title": "Secret", "confidential": True})
    assert [found.iid for found in project.issues.list(labels=["bug"], get_all=True)] == [1]
    assert [found.iid for found in project.issues.list(confidential=True, get_all=True)] == [2]
    assert [found.iid for found in run.group.issues.list(search="slow", get_all=True)] == [1]
    assert {found.iid for found in run.gl.issues.list(scope="all", milestone="v1", get_all=True)} == {1}
    issue.add_spent_time("1h 30m")
    issue.time_estimate("2d")
    stats = project.issues.get(1).time_stats()
    assert (stats["total_time_spent"], stats["human_time_estimate"]) == (5400, "2d")
    _, linked = issue.links.create({"target_project_id": project.id, "target_issue_iid": other.iid})
    assert linked.iid == other.iid
    assert [found.iid for found in issue.links.list(get_all=True)] == [2]
    issue.state_event = "close"
    issue.save()
    assert project.issues.get(1).state == "closed" and project.issues.get(1).attributes["closed_by"]["username"] == "root"
    issue.state_event = "reopen"
    issue.save()
    counts = project.issues_statistics.get().statistics["counts"]
    assert counts == {"all": 2, "closed": 0, "opened": 2}, counts
    other.delete()
    refused(lambda: project.issues.get(2), 404)


@step
def notes_and_reactions(run):
    project, (pia, _) = run.reviewed, run.people
    issue = project.issues.get(1)
    note = issue.notes.create({"body": "I can see it, too"})
    note.body = "I can see it now"
    note.save()
    assert issue.notes.get(note.id).body == "I can see it now"
    emoji = issue.awardemojis.create({"name": "thumbsup"})
    assert project.issues.get(1).upvotes == 1
    issue.awardemojis.delete(emoji.id)
    thread = issue.discussions.create({"body": "Why?"})
    thread.notes.create({"body": "Because"})
    assert len(issue.discussions.get(thread.id).attributes["notes"]) == 2
    as_pia = somebody(run, pia)
    todos = as_pia.todos.list(get_all=True)
    assert [todo.action_name for todo in todos] == ["assigned"], [todo.action_name for todo in todos]
    todos[0].mark_as_done()
    assert as_pia.todos.list(get_all=True) == []
    issue.unsubscribe()
    assert project.issues.get(1).subscribed is False
    issue.subscribe()
    assert project.issues.get(1).subscribed is True
    assert {person["username"] for person in issue.participants()} == {"root", "pia"}
    note.delete()


@step
def merge_requests(run):
    project, (pia, paul) = run.reviewed, run.people
    project.files.create({"file_path": "quick.txt", "branch": "quicker", "start_branch": "main",
                          "content": "one\ntwo\n", "commit_message": "Make it quick"})
    request = project.mergerequests.create(
        {"source_branch": "quicker", "target_branch": "main", "title": "Draft: Make it quick",
         "description": "Closes #1", "reviewer_ids": [pia.id], "remove_source_branch": True}
    )
    assert (request.iid, request.state, request.draft) == (1, "opened", True)
    refused(lambda: project.mergerequests.create(
        {"source_branch": "quicker", "target_branch": "main", "title": "Again"}), 409)
    request.title = "Make it quick"
    request.save()
    assert project.mergerequests.get(1).draft is False
    assert [commit.title for commit in request.commits()] == ["Make it quick"]
    assert [change["new_path"] for change in request.changes()["changes"]] == ["quick.txt"]
    assert len(request.diffs.list(get_all=True)) == 1
    assert [issue.iid for issue in request.closes_issues()] == [1]
    assert [found.iid for found in project.mergerequests.list(state="opened", get_all=True)] == [1]
    assert [found.iid for found in run.group.mergerequests.list(source_branch="quicker", get_all=True)] == [1]
    refs = project.mergerequests.get(1).diff_refs
    thread = request.discussions.create(
        {"body": "Two is much", "position": {**refs, "position_type": "text", "new_path": "quick.txt",
                                             "old_path": "quick.txt", "new_line": 2}}
    )
    assert thread.attributes["notes"][0]["position"]["new_line"] == 2
    thread.resolved = True
    thread.save()
    assert project.mergerequests.get(1).blocking_discussions_resolved is True


@step
def approvals(run):
    project, (pia, _) = run.reviewed, run.people
    config = project.approvals.get()
    config.merge_requests_author_approval = False
    config.save()
    rule = project.approvalrules.create({"name": "Readers", "approvals_required": 1, "user_ids": [pia.id]})
    assert [person["username"] for person in rule.eligible_approvers] == ["pia"]
    request = project.mergerequests.get(1)
    assert request.approvals.get().approvals_left == 1
    refused(request.merge, 405)
    as_pia = somebody(run, pia).projects.get(project.id, lazy=True).mergerequests.get(1)
    as_pia.approve()
    state = request.approval_state.get()
    assert [entry["approved"] for entry in state.rules if entry["name"] == "Readers"] == [True]
    assert request.approvals.get().approved is True


@step
def statuses_and_merge(run):
    project = run.reviewed
    project.only_allow_merge_if_pipeline_succeeds = True
    project.save()
    request = project.mergerequests.get(1)
    commit = project.commits.get(request.sha)
    refused(request.merge, 405)
    commit.statuses.create({"state": "running", "name": "ci/outside", "ref": "quicker"})
    request.merge(merge_when_pipeline_succeeds=True)
    assert project.mergerequests.get(1).merge_when_pipeline_succeeds is True
    request.cancel_merge_when_pipeline_succeeds()
    assert project.mergerequests.get(1).merge_when_pipeline_succeeds is False
    commit.statuses.create({"state": "success", "name": "ci/outside", "ref": "quicker"})
    assert project.commits.get(request.sha).last_pipeline["status"] == "success"
    assert [status.status for status in commit.statuses.list(get_all=True)] == ["success"]
    refused(lambda: request.merge(sha="0" * 40), 409)
    request.merge()
    merged = project.mergerequests.get(1)
    assert (merged.state, merged.merged_by["username"]) == ("merged", "root")
    assert project.commits.get("main").id == merged.merge_commit_sha
    assert project.issues.get(1).state == "closed"
    refused(lambda: project.branches.get("quicker"), 404)
    assert "merged" in {event.state for event in merged.resourcestateevents.list(get_all=True)}
