"""Pipelines by hand and of merge requests, and statuses from outside, through python-gitlab; python_gitlab.py runs these
steps among its own.
"""

from pipelines import named, statuses
from reviews import somebody
from smoke import collector, eventually, refused

STEPS, step = collector()


@step
def pipelines_by_hand(run):
    project = run.piped
    made = project.pipelines.create(
        {"ref": "main", "variables": [{"key": "GREETING", "value": "bye"},
                                      {"key": "PAPER", "value": "text", "variable_type": "file"}]}
    )
    assert (made.status, made.source, made.ref) == ("pending", "api", "main"), made
    kept = {row.key: (row.value, row.variable_type) for row in made.variables.list(get_all=True)}
    assert kept == {"GREETING": ("bye", "env_var"), "PAPER": ("text", "file")}, kept
    assert run.runner.take().variables()["GREETING"] == "bye"
    assert made.cancel()["status"] == "canceled"
    assert statuses(made) == {"compile": "canceled", "check": "canceled", "install": "canceled"}, statuses(made)
    assert made.cancel()["status"] == "canceled"
    assert made.retry()["status"] == "pending"
    assert len(made.jobs.list(include_retried=True, get_all=True)) > len(made.jobs.list(get_all=True))
    error = refused(lambda: project.pipelines.create({"ref": "none"}), 400)
    assert "Reference not found" in str(error), error
    made.delete()
    refused(lambda: project.pipelines.get(made.id), 404)


@step
def rights_to_pipelines(run):
    project, pipeline, paul = run.piped, run.pipeline, run.people[1]
    project.members.create({"user_id": paul.id, "access_level": 30})
    seen = somebody(run, paul).projects.get(project.id)
    assert seen.pipelines.get(pipeline.id).status == "success"
    refused(seen.pipelines.get(pipeline.id).variables.list, 403)
    refused(seen.pipelines.get(pipeline.id).delete, 403)
    refused(seen.variables.list, 403)
    refused(seen.triggers.list, 403)
    refused(seen.runners.list, 403)
    refused(lambda: seen.jobs.get(named(project, pipeline, "check").id).erase(), 403)


@step
def merge_request_pipelines(run):
    project = run.piped
    project.branches.create({"branch": "topic", "ref": "main"})
    project.files.create({"file_path": "a.txt", "branch": "topic", "content": "a\n", "commit_message": "Add a"})
    request = project.mergerequests.create({"source_branch": "topic", "target_branch": "main", "title": "Topic"})
    listed = request.pipelines.list(get_all=True)
    own = [row for row in listed if row.source == "merge_request_event"]
    assert [(row.ref, row.status) for row in own] == [(f"refs/merge-requests/{request.iid}/head", "pending")], listed
    whole = project.pipelines.get(own[0].id)
    assert statuses(whole) == {"review": "pending"}, statuses(whole)
    asked = request.pipelines.create({})
    assert asked.source == "merge_request_event" and asked.id != own[0].id
    assert project.mergerequests.get(request.iid).head_pipeline["id"] == asked.id
    taken = run.runner.play_all()
    assert taken.count("review") >= 1, taken
    request = project.mergerequests.get(request.iid)
    assert request.head_pipeline["status"] == "success", request.head_pipeline
    request.merge(should_remove_source_branch=True)
    assert project.mergerequests.get(request.iid).state == "merged"


@step
def failed_pipelines_block_merges(run):
    project = run.piped
    run.runner.play_all()
    project.only_allow_merge_if_pipeline_succeeds = True
    project.save()
    config = "nested: {stage: build, trigger: {include: nested.yml}}\ncheck: {stage: test, script: x, tags: [smoke]}\n"
    project.commits.create(
        {"branch": "broken", "start_branch": "main", "commit_message": "Break it",
         "actions": [{"action": "update", "file_path": ".gitlab-ci.yml", "content": config}]}
    )
    request = project.mergerequests.create({"source_branch": "broken", "target_branch": "main", "title": "Broken"})
    for _ in range(2):
        taken = eventually(run.runner.take)
        taken.play() if taken.name == "inner" else taken.fail()
    pipeline = project.pipelines.list(ref="broken", get_all=True)[0]
    child = project.pipelines.list(ref="broken", source="parent_pipeline", get_all=True)[0]
    assert (pipeline.status, child.status) == ("failed", "success")
    # That its child has succeeded is no help.
    request = project.mergerequests.get(request.iid)
    assert request.head_pipeline["id"] == pipeline.id, request.head_pipeline
    assert [row.id for row in request.pipelines.list(get_all=True)] == [pipeline.id]
    refused(request.merge, 405)


@step
def statuses_of_commits(run):
    project = run.piped
    commit_ = project.commits.get("main")
    pipeline = project.pipelines.latest()
    assert pipeline.sha == commit_.id
    commit_.statuses.create(
        {"state": "failed", "name": "ci/outside", "ref": "main", "target_url": "https://ci.example.org/1", "coverage": 12.5}
    )
    # Those of jobs stand beside the one from outside.
    found = {row.name: row.status for row in commit_.statuses.list(get_all=True)}
    assert found["ci/outside"] == "failed" and "compile" in found, found
    outside = next(row for row in commit_.statuses.list(name="ci/outside", get_all=True))
    assert (outside.target_url, outside.coverage, outside.allow_failure) == ("https://ci.example.org/1", 12.5, False)
