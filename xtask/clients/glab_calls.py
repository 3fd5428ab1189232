"""The requests that the vendor's command line client sends for `ci`, `variable` and `schedule`, with its own paths, queries
and bodies, and a check of the fields it decodes (shapes.py).

Reads FORGEWAY_URL and FORGEWAY_TOKEN; needs nothing but Python; ends with 1 when a step failed.
"""

import io
import sys
import traceback
import zipfile

import fake_runner
import glab_settings
from glab import Refusal, call, collect, eventually, exchange, refused, remove, segment
from shapes import BRIDGE, COMMIT, JOB, LINT, MERGE_REQUEST, PIPELINE, PIPELINE_INFO, PIPELINE_VARIABLE, PROJECT, STATUS

CONFIG = """
stages: [build, test]
default: {tags: [glab]}
compile: {stage: build, script: [make], artifacts: {paths: [out/]}}
nested: {stage: test, trigger: {include: nested.yml}}
install: {stage: test, script: [make install], when: manual}
review: {stage: test, script: [make review], rules: [{if: $CI_MERGE_REQUEST_IID}]}
"""
NESTED = "inner: {script: [make inner], tags: [glab]}\n"


class Run:
    name = "root/smoke.glab"
    path = "projects/" + segment(name)
    id = None
    runner = None
    taken = None
    pipeline = None


STEPS = []


def step(function):
    STEPS.append(function)
    return function


@step
def set_up(run):
    settings = {"path": "smoke.glab", "name": "Smoke glab", "initialize_with_readme": True, "default_branch": "main"}
    run.id = call("POST", "projects", PROJECT, body=settings)["id"]
    made = call("POST", "user/runners", dict, body={"runner_type": "project_type", "project_id": run.id, "tag_list": ["glab"]})
    run.runner = fake_runner.Runner(made["token"])
    actions = [
        {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG},
        {"action": "create", "file_path": "nested.yml", "content": NESTED},
    ]
    body = {"branch": "main", "commit_message": "Begin", "actions": actions}
    call("POST", f"{run.path}/repository/commits", COMMIT, body=body)
    assert call("GET", run.path, PROJECT)["id"] == run.id


def latest(run, branch="main"):
    """The pipeline of a branch that has jobs, else the one of its merge request."""
    pipeline = None
    try:
        pipeline = call("GET", f"{run.path}/pipelines/latest", PIPELINE, {"ref": branch})
        if call("GET", f"{run.path}/pipelines/{pipeline['id']}/jobs", [JOB], {"per_page": 1}):
            return pipeline
    except Refusal:
        pass
    query = {"source_branch": branch, "per_page": 30}
    found = call("GET", f"{run.path}/merge_requests", [MERGE_REQUEST], query)
    if not found:
        return pipeline
    whole = call("GET", f"{run.path}/merge_requests/{found[0]['iid']}", MERGE_REQUEST)
    return call("GET", f"{run.path}/pipelines/{whole['head_pipeline']['id']}", PIPELINE)


def jobs_of(run, pipeline, per_page=100):
    return collect(f"{run.path}/pipelines/{pipeline}/jobs", JOB, {"per_page": per_page})


def newest(run, pipeline, name):
    return next(job for job in jobs_of(run, pipeline, 20) if job["name"] == name)


@step
def ci_status(run):
    run.pipeline = latest(run)
    assert (run.pipeline["status"], run.pipeline["ref"]) == ("pending", "main"), run.pipeline
    assert run.pipeline["web_url"].endswith(f"/smoke.glab/-/pipelines/{run.pipeline['id']}")
    found = {job["name"]: (job["status"], job["stage"]) for job in jobs_of(run, run.pipeline["id"])}
    assert found == {"compile": ("pending", "build"), "install": ("created", "test")}, found
    assert [job["name"] for job in jobs_of(run, run.pipeline["id"], 1)] == ["install", "compile"]


@step
def ci_list(run):
    def found(**more):
        query = {"page": 1, "per_page": 30, "order_by": "id", "sort": "desc", **more}
        return [row["id"] for row in call("GET", f"{run.path}/pipelines", [PIPELINE_INFO], query)]

    own = [run.pipeline["id"]]
    for held in [{}, {"status": "pending"}, {"scope": "pending"}, {"source": "push"}, {"ref": "main"}, {"username": "root"},
                 {"sha": run.pipeline["sha"]}, {"updated_after": "2019-03-15T08:00:00Z"}]:
        assert found(**held) == own, held
    for missed in [{"status": "success"}, {"scope": "tags"}, {"source": "web"}, {"yaml_errors": "true"}, {"username": "none"},
                   {"updated_before": "2019-03-15T08:00:00Z"}]:
        assert found(**missed) == [], missed


@step
def ci_view(run):
    number = run.pipeline["id"]
    pipeline = call("GET", f"{run.path}/pipelines/{number}", PIPELINE)
    assert pipeline["user"]["name"] and pipeline["created_at"]
    commit = call("GET", f"{run.path}/repository/commits/{pipeline['sha']}", COMMIT)
    assert commit["last_pipeline"]["id"] == number
    # By number, and with more on a page than the server gives.
    jobs = collect(f"projects/{pipeline['project_id']}/pipelines/{number}/jobs", JOB, {"per_page": 500})
    bridges = collect(f"projects/{pipeline['project_id']}/pipelines/{number}/bridges", BRIDGE, {"per_page": 500})
    assert {row["name"] for row in jobs + bridges} == {"compile", "install", "nested"}
    assert all(row["created_at"] for row in jobs + bridges)


@step
def ci_get(run):
    commit = call("GET", f"{run.path}/repository/commits/main", COMMIT)
    assert commit["last_pipeline"]["id"] == run.pipeline["id"]
    assert call("GET", f"projects/{run.id}/pipelines/{run.pipeline['id']}/variables", [PIPELINE_VARIABLE]) == []


@step
def ci_trace(run):
    number = newest(run, run.pipeline["id"], "compile")["id"]
    assert call("GET", f"{run.path}/jobs/{number}", JOB)["status"] == "pending"
    run.taken = run.runner.take()
    run.taken.write("one\n")
    assert call("GET", f"{run.path}/jobs/{number}", JOB)["status"] == "running"
    assert exchange("GET", f"{run.path}/jobs/{number}/trace")[2] == b"one\n"


@step
def ci_trace_to_the_end(run):
    number, taken = newest(run, run.pipeline["id"], "compile")["id"], run.taken
    taken.write("two\n")
    taken.upload_artifacts({"out/a": b"a\n"})
    taken.end("success")
    job = call("GET", f"{run.path}/jobs/{number}", JOB)
    assert job["status"] == "success" and job["runner"]["id"] and job["artifacts_file"]["size"] > 0, job
    assert exchange("GET", f"{run.path}/jobs/{number}/trace")[2] == b"one\ntwo\n"


@step
def ci_view_of_a_child(run):
    taken = eventually(run.runner.take)
    assert taken.name == "inner"
    taken.play()
    bridges = call("GET", f"{run.path}/pipelines/{run.pipeline['id']}/bridges", [BRIDGE])
    assert bridges[0]["downstream_pipeline"]["status"] == "success", bridges


@step
def ci_artifact(run):
    _, _, content = exchange("GET", f"{run.path}/jobs/artifacts/main/download", {"job": "compile"})
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == ["out/a"]


@step
def ci_trigger_and_cancel_job(run):
    number = newest(run, run.pipeline["id"], "install")["id"]
    played = call("POST", f"{run.path}/jobs/{number}/play", JOB, body={}, status=200)
    assert (played["status"], played["ref"]) == ("pending", "main") and played["web_url"], played
    # `ci cancel job` asks for the project first and goes on with its number.
    project = call("GET", run.path, PROJECT)["id"]
    assert call("POST", f"projects/{project}/jobs/{number}/cancel", JOB)["status"] == "canceled"


@step
def ci_retry(run):
    number = newest(run, run.pipeline["id"], "compile")["id"]
    again = call("POST", f"{run.path}/jobs/{number}/retry", JOB)
    assert again["id"] != number and again["status"] == "pending" and again["web_url"], again
    assert again["user"]["username"] == "root", again["user"]
    assert call("POST", f"{run.path}/pipelines/{run.pipeline['id']}/retry", PIPELINE)["status"] in ("pending", "running")
    refused(lambda: call("POST", f"{run.path}/jobs/{number}/retry", JOB), 403)


@step
def ci_run(run):
    variables = [
        {"key": "GREETING", "value": "bye", "variable_type": "env_var"},
        {"key": "PAPER", "value": "text\n", "variable_type": "file"},
    ]
    made = call("POST", f"{run.path}/pipeline", PIPELINE, body={"ref": "main", "variables": variables})
    assert (made["status"], made["source"]) == ("pending", "api"), made
    kept = call("GET", f"projects/{run.id}/pipelines/{made['id']}/variables", [PIPELINE_VARIABLE])
    assert sorted(kept, key=lambda row: row["key"]) == variables, kept
    assert call("POST", f"projects/{run.id}/pipelines/{made['id']}/cancel", PIPELINE, status=200)["status"] == "canceled"
    refused(lambda: call("POST", f"{run.path}/pipeline", PIPELINE, body={"ref": "none"}), 400)


@step
def ci_run_trig(run):
    trigger = call("POST", f"{run.path}/triggers", dict, body={"description": "glab"})
    body = {"ref": "main", "token": trigger["token"], "variables": {"GREETING": "hi"}}
    made = call("POST", f"{run.path}/trigger/pipeline", PIPELINE, body=body)
    assert (made["source"], made["ref"]) == ("trigger", "main") and made["web_url"], made
    refused(lambda: call("POST", f"{run.path}/trigger/pipeline", PIPELINE, body={**body, "token": "x"}), 404)


@step
def ci_run_for_a_merge_request(run):
    actions = [{"action": "create", "file_path": "a.txt", "content": "a\n"}]
    body = {"branch": "topic", "start_branch": "main", "commit_message": "Add a [skip ci]", "actions": actions}
    call("POST", f"{run.path}/repository/commits", COMMIT, body=body)
    asked = {"source_branch": "topic", "target_branch": "main", "title": "Topic"}
    iid = call("POST", f"{run.path}/merge_requests", MERGE_REQUEST, body=asked)["iid"]
    made = call("POST", f"{run.path}/merge_requests/{iid}/pipelines", PIPELINE_INFO, status=200)
    assert made["source"] == "merge_request_event" and made["web_url"], made
    # The branch's own pipeline was skipped and has no jobs: the one of the merge request is shown.
    assert latest(run, "topic")["id"] == made["id"]
    assert [job["name"] for job in jobs_of(run, made["id"])] == ["review"]


@step
def external_jobs(run):
    sha = run.pipeline["sha"]
    call("POST", f"{run.path}/statuses/{sha}", STATUS, body={"state": "running", "name": "ci/outside", "ref": "main"})
    query = {"all": "true"}
    found = call("GET", f"{run.path}/repository/commits/{sha}/statuses", [STATUS], query)
    assert "ci/outside" in [row["name"] for row in found], found


@step
def ci_lint(run):
    project = call("GET", run.path, PROJECT)["id"]
    # All four are always sent: an empty ref means the default branch.
    body = {"content": CONFIG, "dry_run": False, "include_jobs": False, "ref": ""}
    result = call("POST", f"projects/{project}/ci/lint", LINT, body=body, status=200)
    assert result["valid"] is True and result["errors"] == [] and "make install" in result["merged_yaml"], result
    result = call("POST", f"projects/{project}/ci/lint", LINT, body={**body, "dry_run": True, "include_jobs": True}, status=200)
    assert result["valid"] is True, result
    broken = {**body, "content": "compile: {script: []}\nx: 1"}
    result = call("POST", f"projects/{project}/ci/lint", LINT, body=broken, status=200)
    assert result["valid"] is False and result["errors"], result


STEPS.extend(glab_settings.STEPS)


@step
def ci_delete(run):
    remove(f"{run.path}/pipelines/{run.pipeline['id']}")
    refused(lambda: call("GET", f"{run.path}/pipelines/{run.pipeline['id']}", PIPELINE), 404)
    query = {"status": "canceled", "source": "api", "updated_before": "2999-01-01T00:00:00.123456789Z"}
    for row in call("GET", f"{run.path}/pipelines", [PIPELINE_INFO], query):
        remove(f"{run.path}/pipelines/{row['id']}")
    assert call("GET", f"{run.path}/pipelines", [PIPELINE_INFO], query) == []


@step
def ends(run):
    run.runner.unregister()
    remove(run.path)
    refused(lambda: call("GET", run.path, PROJECT), 404)


def main():
    run, failed = Run(), []
    for function in STEPS:
        name = function.__name__.replace("_", " ")
        try:
            function(run)
            print(f"glab calls: {name}: ok")
        except Exception:
            failed.append(name)
            print(f"glab calls: {name}: FAILED\n{traceback.format_exc()}")
    print(f"glab calls: {len(STEPS) - len(failed)} of {len(STEPS)} steps ok")
    sys.exit(1 if failed else 0)


main()
