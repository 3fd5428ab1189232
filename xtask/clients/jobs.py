"""Jobs through python-gitlab, with a runner that plays them; python_gitlab.py runs these steps among its own."""

import io
import zipfile

import fake_runner
from pipelines import named, statuses
from smoke import collector, eventually, refused

STEPS, step = collector()


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
