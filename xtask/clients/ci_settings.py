"""Variables, schedules, triggers and runners through python-gitlab; python_gitlab.py runs these steps among its own."""

import fake_runner
from reviews import somebody
from smoke import collector, eventually, refused

STEPS, step = collector()


@step
def variables(run):
    project = run.piped
    made = project.variables.create({"key": "TOKEN", "value": "longEnough1", "masked": True, "protected": True})
    assert (made.variable_type, made.value, made.masked, made.protected, made.raw) == (
        "env_var", "longEnough1", True, True, False), made
    assert made.environment_scope == "*"
    made.value = "longEnough2"
    made.save()
    assert project.variables.get("TOKEN").value == "longEnough2"
    error = refused(lambda: project.variables.create({"key": "TOKEN", "value": "x"}), 400)
    assert "(TOKEN) has already been taken" in str(error), error
    error = refused(lambda: project.variables.create({"key": "SHORT", "value": "x", "masked": True}), 400)
    assert "is invalid" in str(error), error
    refused(lambda: project.variables.create({"key": "NOT A KEY", "value": "x"}), 400)
    project.variables.create({"key": "TOKEN", "value": "staging", "environment_scope": "staging/*"})
    error = refused(lambda: project.variables.get("TOKEN"), 409)
    assert "filter[environment_scope]" in str(error), error
    chosen = project.variables.get("TOKEN", filter={"environment_scope": "staging/*"})
    assert chosen.value == "staging"
    project.variables.update("TOKEN", {"key": "TOKEN", "value": "s2", "filter": {"environment_scope": "staging/*"}})
    assert {row.value for row in project.variables.list(get_all=True)} == {"longEnough2", "s2"}
    project.variables.delete("TOKEN", filter={"environment_scope": "*"})
    assert [row.environment_scope for row in project.variables.list(get_all=True)] == ["staging/*"]
    project.variables.delete("TOKEN")
    error = refused(lambda: project.variables.get("TOKEN"), 404)
    assert "404 Variable Not Found" in str(error), error


@step
def variables_of_groups_and_the_instance(run):
    group, gl = run.group, run.gl
    group.variables.create({"key": "REGION", "value": "north"})
    row = group.variables.get("REGION")
    row.value, row.variable_type = "south", "file"
    row.save()
    assert [(found.value, found.variable_type) for found in group.variables.list(get_all=True)] == [("south", "file")]
    gl.variables.create({"key": "SMOKE_PLANET", "value": "$earth", "raw": True})
    planet = gl.variables.get("SMOKE_PLANET")
    assert (planet.value, planet.raw) == ("$earth", True) and not hasattr(planet, "environment_scope")
    pipeline = run.piped.pipelines.create({"ref": "main"})
    known = run.runner.take().variables()
    assert (known["REGION"], known["SMOKE_PLANET"]) == ("south", "$earth"), known
    pipeline.delete()
    row.delete()
    planet.delete()
    refused(lambda: group.variables.get("REGION"), 404)
    refused(lambda: gl.variables.get("SMOKE_PLANET"), 404)
    refused(somebody(run, run.people[0]).variables.list, 403)


@step
def schedules(run):
    project = run.piped
    made = project.pipelineschedules.create(
        {"description": "Nightly", "ref": "main", "cron": "0 1 * * *", "cron_timezone": "Europe/Berlin"}
    )
    assert (made.active, made.cron_timezone, made.owner["username"], made.last_pipeline) == (
        True, "Europe/Berlin", "root", None), made
    assert made.next_run_at and made.ref in ["main", "refs/heads/main"]
    made.cron, made.active = "30 2 * * 1", False
    made.save()
    assert [row.id for row in project.pipelineschedules.list(scope="inactive", get_all=True)] == [made.id]
    assert project.pipelineschedules.list(scope="active", get_all=True) == []
    error = refused(lambda: project.pipelineschedules.create({"description": "x", "ref": "main", "cron": "never"}), 400)
    assert "cron" in str(error), error
    variable = made.variables.create({"key": "GREETING", "value": "morning"})
    assert (variable.key, variable.value, variable.variable_type) == ("GREETING", "morning", "env_var")
    variable.value = "evening"
    variable.save()
    schedule = project.pipelineschedules.get(made.id)
    assert [row["value"] for row in schedule.attributes["variables"]] == ["evening"]
    # Of the answer this client makes its own copy anew.
    played = project.pipelineschedules.get(made.id)
    assert played.play()["message"] == "201 Created"
    waiting = eventually(lambda: project.pipelines.list(source="schedule", get_all=True))
    assert [row.id for row in schedule.pipelines.list(get_all=True)] == [row.id for row in waiting] and len(waiting) == 1
    assert project.pipelineschedules.get(made.id).last_pipeline["id"] == waiting[0].id
    assert run.runner.take().variables()["GREETING"] == "evening"
    # Otherwise this client waits a minute and asks again.
    refused(lambda: schedule.play(obey_rate_limit=False), 429)
    variable.delete()
    assert project.pipelineschedules.get(made.id).attributes["variables"] == []


@step
def owners_of_schedules(run):
    project, pia = run.piped, run.people[0]
    seen = somebody(run, pia).projects.get(project.id)
    schedule = seen.pipelineschedules.get(project.pipelineschedules.list()[0].id)
    schedule.description = "Mine"
    refused(schedule.save, 403)
    schedule.take_ownership()
    assert schedule.owner["username"] == "pia"
    schedule.description = "Mine"
    schedule.save()
    assert project.pipelineschedules.get(schedule.id).description == "Mine"
    schedule.delete()
    refused(lambda: project.pipelineschedules.get(schedule.id), 404)


@step
def triggers(run):
    project, pia = run.piped, run.people[0]
    made = project.triggers.create({"description": "from outside"})
    assert (made.description, made.owner["username"], made.last_used) == ("from outside", "root", None), made
    assert len(made.token) > 20
    shown = somebody(run, pia).projects.get(project.id).triggers.get(made.id)
    assert len(shown.token) == 4 and made.token.removeprefix("glptt-").startswith(shown.token), shown.token
    made.description = "from far outside"
    made.save()
    assert [row.description for row in project.triggers.list(get_all=True)] == ["from far outside"]
    pipeline = project.trigger_pipeline("main", made.token, variables={"GREETING": "tag"})
    assert (pipeline.source, pipeline.status, pipeline.user["username"]) == ("trigger", "pending", "root"), pipeline
    variables_ = run.runner.take().variables()
    assert variables_["GREETING"] == "tag" and variables_["CI_PIPELINE_TRIGGERED"] == "true"
    assert project.triggers.get(made.id).last_used
    refused(lambda: project.trigger_pipeline("main", "wrong"), 404)
    refused(lambda: project.trigger_pipeline("none", made.token), 400)
    pipeline.delete()
    made.delete()
    refused(lambda: project.trigger_pipeline("main", made.token), 404)


@step
def runners(run):
    project, gl = run.piped, run.gl
    made = gl.user.runners.create(
        {"runner_type": "project_type", "project_id": project.id, "tag_list": ["one", "two"], "maximum_timeout": 1200}
    )
    runner = gl.runners.get(made.id)
    assert (runner.runner_type, runner.is_shared, runner.active, runner.paused) == ("project_type", False, True, False)
    assert (runner.status, runner.online, runner.contacted_at) == ("never_contacted", None, None) or runner.online is False
    assert (sorted(runner.tag_list), runner.maximum_timeout, runner.run_untagged) == (["one", "two"], 1200, True), runner
    assert [held["id"] for held in runner.projects] == [project.id] and not hasattr(runner, "token")
    runner.description, runner.tag_list, runner.locked = "mended", ["three"], True
    runner.save()
    again = gl.runners.get(made.id)
    assert (again.description, again.tag_list, again.locked) == ("mended", ["three"], True), again
    gl.runners.update(made.id, {"active": False})
    assert made.id in [row.id for row in gl.runners_all.list(paused=True, type="project_type", get_all=True)]
    assert [row.id for row in gl.runners_all.list(tag_list=["three"], get_all=True)] == [made.id]
    assert [row.id for row in project.runners.list(status="never_contacted", get_all=True)] == [made.id]
    assert made.id in [row.id for row in gl.runners.list(get_all=True)]
    refused(lambda: gl.runners_all.list(type="none"), 400)
    error = refused(lambda: gl.runners.update(made.id, {"maximum_timeout": 1}), 400)
    assert "needs to be at least 10 minutes" in str(error), error
    gl.runners.verify(made.token)
    reset = gl.http_post(f"/runners/{made.id}/reset_authentication_token")
    assert reset["token"] != made.token and "token_expires_at" in reset, reset
    refused(lambda: gl.runners.verify(made.token), 403)
    gl.runners.verify(reset["token"])
    runner.delete()
    refused(lambda: gl.runners.get(made.id), 404)


@step
def runners_of_projects_and_groups(run):
    project, group, gl = run.piped, run.group, run.gl
    other = gl.projects.create({"name": "Other", "namespace_id": group.id})
    made = gl.user.runners.create({"runner_type": "project_type", "project_id": project.id})
    assert other.runners.create({"runner_id": made.id}).id == made.id
    assert made.id in [row.id for row in other.runners.list(type="project_type", get_all=True)]
    assert sorted(held["id"] for held in gl.runners.get(made.id).projects) == sorted([project.id, other.id])
    refused(lambda: other.runners.create({"runner_id": made.id}), 400)
    other.runners.delete(made.id)
    refused(lambda: other.runners.delete(made.id), 404)
    error = refused(lambda: project.runners.delete(made.id), 403)
    assert "Only one project associated with the runner" in str(error), error
    of_group = gl.user.runners.create({"runner_type": "group_type", "group_id": group.id})
    assert [row.id for row in group.runners.list(type="group_type", get_all=True)] == [of_group.id]
    error = refused(lambda: other.runners.create({"runner_id": of_group.id}), 403)
    assert "Runner is a group runner" in str(error), error
    assert [held["id"] for held in gl.runners.get(of_group.id).groups] == [group.id]
    for row in [made, of_group]:
        gl.runners.delete(row.id)
    other.delete()


@step
def registration_by_token(run):
    project, gl = run.piped, run.gl
    token = gl.http_post(f"/projects/{project.id}/runners/reset_registration_token")["token"]
    assert gl.projects.get(project.id).runners_token == token
    made = gl.runners.create({"token": token, "description": "registered", "tag_list": "a,b", "run_untagged": False})
    assert made.token and "token_expires_at" in made.attributes
    shown = gl.runners.get(made.id)
    assert (shown.runner_type, sorted(shown.tag_list), shown.run_untagged) == ("project_type", ["a", "b"], False), shown
    old = fake_runner.register(token, description="old", tag_list="a", locked=True)
    listed = {row.description: row for row in project.runners.list(type="project_type", get_all=True)}
    assert (listed["old"].name, listed["old"].online) == ("fake-runner", True), listed["old"]
    assert old.verify()["token"] == old.token
    old.unregister()
    gl.runners.delete(made.id)
    refused(lambda: gl.runners.create({"token": "wrong"}), 403)
    shared = fake_runner.register(gl.http_post("/runners/reset_registration_token")["token"])
    held = gl.runners.get(shared.verify()["id"])
    assert (held.runner_type, held.is_shared, held.status) == ("instance_type", True, "online"), held
    shared.unregister()


@step
def calls_without_info(run):
    made = run.gl.user.runners.create({"runner_type": "project_type", "project_id": run.piped.id, "run_untagged": True})
    program = fake_runner.Runner(made.token)
    program.take()
    program.verify()
    # A call that tells nothing of the program takes nothing back.
    shown = run.gl.runners.get(made.id)
    assert (shown.name, shown.version, shown.platform) == ("fake-runner", "18.11.4", "linux"), shown
    program.unregister()


@step
def runner_leaves(run):
    runner = run.gl.runners.get(run.runner.verify()["id"])
    assert (runner.status, runner.online, runner.version, runner.architecture) == ("online", True, "18.11.4", "amd64"), runner
    run.runner.unregister()
    refused(lambda: run.gl.runners.get(runner.id), 404)
