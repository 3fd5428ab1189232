"""The requests for `variable` and `schedule`; glab_calls.py runs these steps among its own."""

from glab import call, eventually, exchange, refused, remove, segment
from shapes import PIPELINE_VARIABLE, SCHEDULE, VARIABLE

STEPS = []


def step(function):
    STEPS.append(function)
    return function


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
