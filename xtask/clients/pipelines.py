"""Pipelines and jobs through python-gitlab, with a runner that plays them; python_gitlab.py runs these steps among its own."""

import io
import zipfile

import gitlab

import fake_runner
from reviews import somebody
from smoke import collector, eventually, refused

STEPS, step = collector()

CONFIG = r"""
stages: [build, test, deploy]
default:
  tags: [smoke]
variables: {GREETING: hello}
compile:
  stage: build
  script: [make $GREETING]
  artifacts: {paths: [out/], expire_in: 1 week}
check:
  stage: test
  script: [make check]
  coverage: '/Total: (\d+)%/'
  artifacts: {reports: {junit: report.xml}}
nested:
  stage: test
  trigger: {include: nested.yml}
review:
  stage: test
  script: [make review]
  rules: [{if: $CI_MERGE_REQUEST_IID}]
install:
  stage: deploy
  script: [make install]
  when: manual
  resource_group: production
"""
NESTED = "inner: {script: [make inner], tags: [smoke]}\n"


def named(project, pipeline, name):
    """The newest job of that name."""
    found = [job for job in pipeline.jobs.list(get_all=True) if job.name == name]
    return project.jobs.get(found[0].id)


def statuses(pipeline):
    return {job.name: job.status for job in pipeline.jobs.list(get_all=True)}


@step
def lint(run):
    run.piped = run.gl.projects.create(
        {"name": "Piped", "namespace_id": run.group.id, "initialize_with_readme": True, "default_branch": "main"}
    )
    project = run.piped
    good = project.ci_lint.create({"content": CONFIG, "include_jobs": True})
    assert (good.valid, good.errors, good.warnings) == (True, [], []), good
    assert [job["name"] for job in good.jobs] == ["compile", "check", "nested", "review", "install"], good.jobs
    assert good.jobs[0]["tag_list"] == ["smoke"] and good.jobs[4]["when"] == "manual", good.jobs
    assert "make $GREETING" in good.merged_yaml
    simulated = project.ci_lint.create({"content": CONFIG, "dry_run": True, "ref": "main", "include_jobs": True})
    assert "review" not in [job["name"] for job in simulated.jobs], simulated.jobs
    bad = project.ci_lint.create({"content": "compile: {stage: nowhere, script: x}"})
    assert bad.valid is False and "chosen stage" in bad.errors[0], bad.errors
    try:
        project.ci_lint.validate({"content": "compile: {}"})
        raise AssertionError("a job without a script is valid")
    except gitlab.exceptions.GitlabCiLintError:
        pass
    assert run.gl.ci_lint.create({"content": CONFIG, "include_merged_yaml": True}).status == "valid"


@step
def first_pipeline(run):
    project = run.piped
    made = project.commits.create(
        {
            "branch": "main",
            "commit_message": "Add a configuration",
            "actions": [
                {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG},
                {"action": "create", "file_path": "nested.yml", "content": NESTED},
            ],
        }
    )
    assert project.ci_lint.get(include_jobs=True).valid is True
    listed = project.pipelines.list(ref="main", get_all=True)
    assert [(found.sha, found.status, found.source) for found in listed] == [(made.id, "pending", "push")], listed
    pipeline = run.pipeline = project.pipelines.get(listed[0].id)
    assert (pipeline.iid, pipeline.project_id, pipeline.tag, pipeline.yaml_errors) == (1, project.id, False, None)
    assert pipeline.user["username"] == "root" and pipeline.detailed_status["text"] == "pending"
    assert pipeline.web_url.endswith(f"/-/pipelines/{pipeline.id}")
    assert project.pipelines.latest().id == project.pipelines.latest(ref="main").id == pipeline.id
    refused(lambda: project.pipelines.latest(ref="none"), 403)
    refused(lambda: project.pipelines.get(987654321), 404)
    assert project.commits.get(made.id).last_pipeline["id"] == pipeline.id


@step
def pipeline_filters(run):
    project, pipeline = run.piped, run.pipeline

    def found(**filters):
        return [row.id for row in project.pipelines.list(get_all=True, **filters)]

    for held in [{"scope": "pending"}, {"scope": "branches"}, {"status": "pending"}, {"source": "push"}, {"username": "root"},
                 {"sha": pipeline.sha}, {"yaml_errors": False}, {"updated_after": "2020-01-01T00:00:00Z"},
                 {"order_by": "updated_at", "sort": "asc"}]:
        assert found(**held) == [pipeline.id], held
    for missed in [{"scope": "tags"}, {"scope": "finished"}, {"status": "success"}, {"source": "web"}, {"username": "pia"},
                   {"sha": "0" * 40}, {"yaml_errors": True}, {"updated_before": "2020-01-01T00:00:00Z"}, {"ref": "none"}]:
        assert found(**missed) == [], missed
    refused(lambda: project.pipelines.list(scope="none", get_all=True), 400)


@step
def jobs_and_bridges(run):
    project, pipeline = run.piped, run.pipeline
    expected = {"compile": "pending", "check": "created", "install": "created"}
    assert statuses(pipeline) == expected, statuses(pipeline)
    assert [job.name for job in pipeline.jobs.list(scope=["pending"], get_all=True)] == ["compile"]
    assert {job.name for job in project.jobs.list(scope=["created", "manual"], get_all=True)} == {"check", "install"}
    bridges = pipeline.bridges.list(get_all=True)
    assert [(bridge.name, bridge.status, bridge.downstream_pipeline) for bridge in bridges] == [("nested", "created", None)]
    job = named(project, pipeline, "compile")
    assert (job.stage, job.ref, job.tag_list, job.pipeline["id"]) == ("build", "main", ["smoke"], pipeline.id)
    assert job.commit["id"] == pipeline.sha and job.user["username"] == "root" and job.runner is None
    assert job.trace() == b""
    refused(job.artifacts, 404)
    refused(lambda: project.jobs.get(bridges[0].id), 404)
    refused(lambda: project.jobs.list(scope=["none"], get_all=True), 400)
    error = refused(job.retry, 403)
    assert "Job is not retryable" in str(error), error


@step
def runner_takes_a_job(run):
    project, pipeline = run.piped, run.pipeline
    made = run.gl.user.runners.create(
        {"runner_type": "project_type", "project_id": project.id, "description": "fake", "tag_list": ["smoke"],
         "run_untagged": False}
    )
    assert made.token.startswith("glrt-"), made
    run.runner = fake_runner.Runner(made.token)
    assert run.runner.verify()["id"] == made.id
    taken = run.taken = run.runner.take()
    assert (taken.name, taken.script()) == ("compile", ["make $GREETING"])
    variables = taken.variables()
    assert variables["CI_PIPELINE_SOURCE"] == "push" and variables["GREETING"] == "hello"
    assert run.runner.take() is None
    job = named(project, pipeline, "compile")
    assert (job.status, job.runner["id"], job.runner["description"]) == ("running", made.id, "fake")
    assert job.started_at and job.finished_at is None and job.duration >= 0
    assert project.pipelines.get(pipeline.id).status == "running"


@step
def log_of_a_running_job(run):
    job = run.piped.jobs.get(run.taken.id)
    for line in ["Running with fake-runner\n", "$ make hello\n"]:
        run.taken.write(line)
        # Nobody waits for the next line to see this one.
        assert job.trace() == run.taken.log, job.trace()


@step
def pieces_of_a_log(run):
    taken = run.taken
    taken.write("one piece\n")
    size = len(taken.log)

    def patch(start, piece):
        span = f"{start}-{start + len(piece) - 1}"
        return fake_runner.send("PATCH", f"/jobs/{taken.id}/trace", piece, JOB_TOKEN=taken.token, Content_Range=span)

    # Sent twice, it is kept once; with a gap, the runner is told where to go on.
    assert patch(size - 10, b"one piece\n").expect(202).headers["Range"] == f"0-{size}"
    assert patch(size + 5, b"x").expect(416).headers["Range"] == f"0-{size}"
    fake_runner.send("PATCH", f"/jobs/{taken.id}/trace", b"x", JOB_TOKEN=taken.token).expect(400)
    fake_runner.send("PATCH", f"/jobs/{taken.id}/trace", b"x", JOB_TOKEN="wrong", Content_Range=f"{size}-{size}").expect(403)
    fake_runner.send("PUT", f"/jobs/{taken.id}", {"token": taken.token, "state": "running"}).expect(200)


@step
def job_succeeds(run):
    taken, job = run.taken, run.piped.jobs.get(run.taken.id)
    taken.write("done\n")
    taken.upload_artifacts({"out/program": b"built\n", "out/sub/notes.txt": b"noted\n"})
    taken.end("success")
    job.refresh()
    assert job.status == "success" and job.finished_at and job.trace() == taken.log
    again = fake_runner.send("PUT", f"/jobs/{taken.id}", {"token": taken.token, "state": "success"}).expect(403)
    assert again.headers["Job-Status"] == "success"


@step
def artifacts(run):
    project, pipeline = run.piped, run.pipeline
    job = named(project, pipeline, "compile")
    assert job.artifacts_file["filename"] == "artifacts.zip", job.artifacts_file
    kinds = {artifact["file_type"] for artifact in job.attributes["artifacts"]}
    assert kinds == {"archive", "metadata", "trace"}, kinds
    names = zipfile.ZipFile(io.BytesIO(job.artifacts())).namelist()
    assert names == ["out/program", "out/sub/notes.txt"], names
    assert job.artifact("out/sub/notes.txt") == b"noted\n"
    refused(lambda: job.artifact("out/none"), 404)
    assert job.artifacts_expire_at
    job.keep_artifacts()
    job.refresh()
    assert job.artifacts_expire_at is None
    # The pipeline has not succeeded.
    refused(lambda: project.artifacts.download(ref_name="main", job="compile"), 404)


@step
def whole_pipeline(run):
    project, pipeline = run.piped, run.pipeline
    played = [eventually(run.runner.take), eventually(run.runner.take)]
    by_name = {taken.name: taken for taken in played}
    assert sorted(by_name) == ["check", "inner"]
    handed = by_name["check"].payload["dependencies"]
    assert [(one["name"], one["artifacts_file"]["filename"]) for one in handed] == [("compile", "artifacts.zip")], handed
    archive = fake_runner.send("GET", f"/jobs/{handed[0]['id']}/artifacts", JOB_TOKEN=handed[0]["token"]).expect(200)
    assert zipfile.ZipFile(io.BytesIO(archive.body)).read("out/program") == b"built\n"
    assert by_name["inner"].payload["dependencies"] == []
    for taken in played:
        taken.play()
    assert statuses(pipeline) == {"compile": "success", "check": "success", "install": "manual"}, statuses(pipeline)
    bridge = pipeline.bridges.list(get_all=True)[0]
    assert bridge.status == "success" and bridge.downstream_pipeline["source"] == "parent_pipeline", bridge
    child = project.pipelines.get(bridge.downstream_pipeline["id"])
    assert child.status == "success"
    assert [row.id for row in project.pipelines.list(get_all=True)] == [pipeline.id]
    assert [row.id for row in project.pipelines.list(source="parent_pipeline", get_all=True)] == [child.id]
    pipeline.refresh()
    assert (pipeline.status, pipeline.coverage) == ("success", "75.00"), pipeline
    assert pipeline.started_at and pipeline.finished_at and pipeline.duration is not None
    assert named(project, pipeline, "check").coverage == 75.0


@step
def child_pipelines_stay_below(run):
    project, pipeline = run.piped, run.pipeline
    # The child is newer, and of the same branch and commit: all the same it is not what has come of them.
    assert project.pipelines.latest().id == pipeline.id
    assert project.pipelines.latest(ref="main").id == pipeline.id
    assert project.commits.get(pipeline.sha).last_pipeline["id"] == pipeline.id


@step
def reports_of_tests(run):
    pipeline = run.pipeline
    report = pipeline.test_report.get()
    assert (report.total_count, report.success_count, report.failed_count) == (2, 1, 1), report
    assert [case["name"] for case in report.test_suites[0]["test_cases"]] == ["carries", "adds"], report
    assert pipeline.test_report_summary.get().total["count"] == 2


@step
def artifacts_of_a_branch(run):
    project = run.piped
    # The child pipeline, newer and successful, too, stands in nobody's way.
    assert project.artifacts.raw(ref_name="main", artifact_path="out/program", job="compile") == b"built\n"
    archive = zipfile.ZipFile(io.BytesIO(project.artifacts.download(ref_name="main", job="compile")))
    assert "out/program" in archive.namelist()


@step
def manual_jobs(run):
    project, pipeline = run.piped, run.pipeline
    job = named(project, pipeline, "install")
    job.play(post_data={"job_variables_attributes": [{"key": "TARGET", "value": "moon"}]})
    assert job.status == "pending", job.status
    refused(lambda: named(project, pipeline, "install").play(), 400)
    group = project.resource_groups.get("production")
    assert group.process_mode == "unordered"
    group.process_mode = "oldest_first"
    group.save()
    assert [row.process_mode for row in project.resource_groups.list(get_all=True)] == ["oldest_first"]
    assert group.upcoming_jobs.list(get_all=True) == []
    refused(lambda: project.resource_groups.get("none"), 404)
    taken = run.runner.take()
    assert taken.name == "install" and taken.variables()["TARGET"] == "moon"
    assert job.cancel()["status"] == "canceled"
    told = fake_runner.send("PUT", f"/jobs/{taken.id}", {"token": taken.token, "state": "success"}).expect(403)
    assert told.headers["Job-Status"] == "canceled"
    again = job.retry()
    assert again["id"] != job.id and again["status"] == "pending", again
    assert again["user"]["username"] == "root", again["user"]


@step
def failed_jobs(run):
    project, pipeline = run.piped, run.pipeline
    taken = run.runner.take()
    assert taken.name == "install"
    taken.fail()
    job = named(project, pipeline, "install")
    assert (job.status, job.failure_reason, job.allow_failure) == ("failed", "script_failure", True), job
    job.erase()
    job.refresh()
    assert job.erased_at and job.trace() == b""
    refused(job.erase, 403)
    compiled = named(project, pipeline, "compile")
    compiled.delete_artifacts()
    compiled.refresh()
    assert not hasattr(compiled, "artifacts_file") and compiled.trace() != b""


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
