"""Pipelines and their jobs through python-gitlab; python_gitlab.py runs these steps among its own."""

import gitlab

from smoke import collector, refused

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
