"""The requests that the vendor's command line client sends for `ci`, `variable` and `schedule`, with its own paths, queries
and bodies, and a check of the fields it decodes (shapes.py).

Reads FORGEWAY_URL and FORGEWAY_TOKEN; needs nothing but Python; ends with 1 when a step failed.
"""

import io
import json
import os
import sys
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import zipfile

import fake_runner
from shapes import (
    BRIDGE, COMMIT, JOB, LINT, MERGE_REQUEST, PIPELINE, PIPELINE_INFO, PIPELINE_VARIABLE, PROJECT, SCHEDULE, STATUS,
    VARIABLE, decode,
)

API = os.environ["FORGEWAY_URL"] + "/api/v4/"
HEADERS = {"PRIVATE-TOKEN": os.environ["FORGEWAY_TOKEN"], "Accept": "application/json", "User-Agent": "glab/smoke"}

CONFIG = """
stages: [build, test]
default: {tags: [glab]}
compile: {stage: build, script: [make], artifacts: {paths: [out/]}}
nested: {stage: test, trigger: {include: nested.yml}}
install: {stage: test, script: [make install], when: manual}
review: {stage: test, script: [make review], rules: [{if: $CI_MERGE_REQUEST_IID}]}
"""
NESTED = "inner: {script: [make inner], tags: [glab]}\n"
TIMEOUT_SECONDS = 60
WAIT_SECONDS = 20


class Refusal(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


def segment(text):
    """As that client writes a part of a path: dots are escaped, too."""
    return urllib.parse.quote(str(text), safe="$&+:=@~").replace(".", "%2E")


def exchange(method, path, query=None, body=None):
    """One request; answers the status, the headers and the bytes. Bodies are JSON, and a POST without one says so, too."""
    address = API + path
    if query:
        address += "?" + urllib.parse.urlencode(sorted(query.items()))
    headers = dict(HEADERS)
    if method in ("POST", "PUT"):
        headers["Content-Type"] = "application/json"
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, content, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        raise Refusal(error.code, error.read().decode(errors="replace")) from None


def call(method, path, shape, query=None, body=None, status=None):
    """A call whose answer is decoded; `status` where it is not the one that is usual for the method."""
    got, _, content = exchange(method, path, query, body)
    wanted = status or {"GET": 200, "POST": 201, "PUT": 200}[method]
    assert got == wanted, f"{method} {path}: {got} instead of {wanted}"
    return decode(json.loads(content), shape, f"{method} {path}")


def remove(path, query=None):
    status, _, _ = exchange("DELETE", path, query)
    # Groups and projects are only promised to go.
    assert status in (202, 204), f"DELETE {path}: {status}"


def next_link(headers):
    """That client cuts the header at commas and semicolons, whatever stands in the addresses."""
    for link in (headers["Link"] or "").split(","):
        parts = link.split(";")
        if len(parts) > 1 and parts[1].split("=")[1].strip('"') == "next":
            return parts[0].strip("< >")
    return None


def collect(path, shape, query):
    """All pages, as that client walks them: by the link, else by the number of the next page."""
    found, query = [], dict(query)
    for _ in range(100):
        _, headers, content = exchange("GET", path, query)
        found += decode(json.loads(content), [shape], path)
        link = next_link(headers)
        if link:
            query.update(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query, keep_blank_values=True))
        elif headers["X-Next-Page"]:
            query["page"] = headers["X-Next-Page"]
        else:
            return found
    raise AssertionError(f"{path} has no last page")


def refused(call_, status):
    try:
        call_()
    except Refusal as refusal:
        assert refusal.status == status, f"{refusal.status} instead of {status}: {refusal}"
        return refusal
    raise AssertionError(f"no refusal, {status} was expected")


def eventually(find):
    """What `find` answers once that is something: what the server does after it has answered."""
    for _ in range(WAIT_SECONDS * 20):
        if found := find():
            return found
        time.sleep(0.05)
    raise AssertionError(f"nothing came of it within {WAIT_SECONDS} s")


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
    assert run.pipeline["web_url"].endswith(f"/root/smoke.glab/-/pipelines/{run.pipeline['id']}")
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


def variable_commands(holder, scope):
    """`variable set|get|list|export|update|delete` in a project or group; `scope` where keys are told apart by it."""
    sent = {
        "key": "SERVER_TOKEN", "value": "some:value", "environment_scope": scope, "masked": False, "masked_and_hidden": False,
        "protected": False, "variable_type": "env_var", "raw": False, "description": "",
    }
    own, query = f"{holder}/variables/SERVER_TOKEN", {"filter[environment_scope]": scope}
    made = call("POST", f"{holder}/variables", VARIABLE, body=sent)
    assert (made["key"], made["environment_scope"]) == ("SERVER_TOKEN", scope), made
    assert call("GET", own, VARIABLE, query)["value"] == "some:value"
    listed = call("GET", f"{holder}/variables", [VARIABLE], {"page": 1, "per_page": 20})
    assert [(row["key"], row["protected"], row["masked"]) for row in listed] == [("SERVER_TOKEN", False, False)], listed
    change = {
        "value": "long-enough", "environment_scope": scope, "filter": {"environment_scope": scope}, "masked": True,
        "protected": True, "raw": True, "variable_type": "file", "description": "",
    }
    changed = call("PUT", own, VARIABLE, body=change)
    assert (changed["value"], changed["masked"], changed["protected"], changed["raw"], changed["variable_type"]) == (
        "long-enough", True, True, True, "file"), changed
    refused(lambda: call("POST", f"{holder}/variables", VARIABLE, body=sent), 400)
    remove(own, query)
    refused(lambda: call("GET", own, VARIABLE, query), 404)


@step
def variables(run):
    variable_commands(run.path, "*")
    variable_commands(run.path, "review/*")
    group = call("POST", "groups", dict, body={"name": "Smoke glab", "path": "smoke.glab.group"})
    variable_commands("groups/" + segment("smoke.glab.group"), "*")
    remove(f"groups/{group['id']}")
    call("GET", "admin/ci/variables", [VARIABLE], {"page": 1, "per_page": 20})


@step
def hidden_variables(run):
    body = {"key": "HIDDEN", "value": "long-enough", "masked": False, "masked_and_hidden": True, "description": "why"}
    made = call("POST", f"{run.path}/variables", VARIABLE, body=body)
    # Who does not know of hidden variables must not show this one in logs all the same.
    assert made["masked"] is True, made
    remove(f"{run.path}/variables/HIDDEN", {"filter[environment_scope]": "*"})


@step
def schedules(run):
    body = {"description": "Nightly", "ref": "main", "cron": "0 1 * * *", "cron_timezone": "UTC", "active": True}
    number = call("POST", f"{run.path}/pipeline_schedules", SCHEDULE, body=body)["id"]
    own = f"{run.path}/pipeline_schedules/{number}"
    call("POST", f"{own}/variables", PIPELINE_VARIABLE, body={"key": "FOO", "value": "bar"})
    listed = call("GET", f"{run.path}/pipeline_schedules", [SCHEDULE])
    assert [(row["id"], row["cron"], row["owner"]["username"], row["active"]) for row in listed] == [
        (number, "0 1 * * *", "root", True)], listed
    changed = call("PUT", own, SCHEDULE, body={"description": "Weekly", "cron": "0 1 * * 0", "active": False})
    assert (changed["description"], changed["active"], changed["cron_timezone"]) == ("Weekly", False, "UTC"), changed
    call("POST", f"{own}/variables", PIPELINE_VARIABLE, body={"key": "BAR", "value": "x"})
    assert call("PUT", f"{own}/variables/FOO", PIPELINE_VARIABLE, body={"value": "baz"})["value"] == "baz"
    # Its answer is decoded, so it must not be empty.
    assert call("DELETE", f"{own}/variables/BAR", PIPELINE_VARIABLE, status=202)["key"] == "BAR"
    exchange("POST", f"{own}/play")
    eventually(lambda: call("GET", own, SCHEDULE)["last_pipeline"])
    shown = call("GET", own, SCHEDULE)
    assert [(row["key"], row["value"]) for row in shown["variables"]] == [("FOO", "baz")], shown
    assert shown["last_pipeline"]["ref"] == "main", shown
    remove(own)
    refused(lambda: call("GET", own, SCHEDULE), 404)


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
