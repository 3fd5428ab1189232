// Variables, schedules, triggers and runners through @gitbeaker/rest; gitbeaker.mjs runs these steps among its own.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const WAIT_SECONDS = 20;

/** The rows of a list once it has some: what the server does after it has answered. */
async function eventually(list) {
  for (let waited = 0; waited < WAIT_SECONDS; waited += 0.05) {
    const rows = await list();
    if (rows.length > 0) return rows;
    await sleep(50);
  }
  throw new Error(`nothing came of it within ${WAIT_SECONDS} s`);
}

/** What variables of projects and groups have in common. */
async function variablesOf(resource, id, refused) {
  const made = await resource.create(id, "TOKEN", "longEnough1", { masked: true, protected: true });
  assert.deepEqual([made.key, made.value, made.masked, made.protected], ["TOKEN", "longEnough1", true, true]);
  assert.equal((await resource.edit(id, "TOKEN", "longEnough2", { variableType: "file" })).variable_type, "file");
  assert.equal((await resource.show(id, "TOKEN")).value, "longEnough2");
  assert.deepEqual((await resource.all(id)).map((row) => row.key), ["TOKEN"]);
  await refused(() => resource.create(id, "TOKEN", "x"), 400);
  await resource.remove(id, "TOKEN");
  await refused(() => resource.show(id, "TOKEN"), 404);
}

export function ciSettings(api, run, refused) {
  return {
    async variables() {
      const { id } = run.piped;
      await variablesOf(api.ProjectVariables, id, refused);
      const group = await api.Groups.create("Beaker variables", "beaker-variables");
      await variablesOf(api.GroupVariables, group.id, refused);
      await api.Groups.remove(group.id);
      await api.ProjectVariables.create(id, "SCOPED", "all");
      await api.ProjectVariables.create(id, "SCOPED", "staging", { environmentScope: "staging" });
      await refused(() => api.ProjectVariables.show(id, "SCOPED"), 409);
      const filter = { environment_scope: "staging" };
      assert.equal((await api.ProjectVariables.show(id, "SCOPED", { filter })).value, "staging");
      assert.equal((await api.ProjectVariables.edit(id, "SCOPED", "s2", { filter })).value, "s2");
    },

    async "variables of the instance"() {
      const variables = api.InstanceLevelCICDVariables;
      await variables.create("BEAKER_PLANET", "earth", { raw: true });
      assert.equal((await variables.edit("BEAKER_PLANET", "moon")).value, "moon");
      assert.deepEqual((await variables.all()).map((row) => [row.key, row.raw]), [["BEAKER_PLANET", true]]);
      // Its remove() sends a GET.
      assert.equal((await variables.show("BEAKER_PLANET")).value, "moon");
      const address = `${process.env.FORGEWAY_URL}/api/v4/admin/ci/variables/BEAKER_PLANET`;
      const headers = { "Private-Token": process.env.FORGEWAY_TOKEN };
      assert.equal((await fetch(address, { method: "DELETE", headers })).status, 204);
      await refused(() => variables.show("BEAKER_PLANET"), 404);
    },

    async schedules() {
      const { id } = run.piped;
      const made = await api.PipelineSchedules.create(id, "Nightly", "main", "0 1 * * *", { cronTimezone: "Asia/Tokyo" });
      assert.deepEqual([made.cron_timezone, made.active, made.owner.username], ["Asia/Tokyo", true, "root"]);
      assert.equal((await api.PipelineSchedules.edit(id, made.id, { active: false })).active, false);
      assert.deepEqual((await api.PipelineSchedules.all(id, { scope: "inactive" })).map((row) => row.id), [made.id]);
      const variables = api.PipelineScheduleVariables;
      await variables.create(id, made.id, "GREETING", "morning", { variableType: "file" });
      assert.equal((await variables.edit(id, made.id, "GREETING", "evening")).value, "evening");
      const shown = await api.PipelineSchedules.show(id, made.id);
      assert.deepEqual(shown.variables.map((row) => [row.key, row.value, row.variable_type]), [["GREETING", "evening", "file"]]);
      assert.equal((await api.PipelineSchedules.run(id, made.id)).message, "201 Created");
      const [pipeline] = await eventually(() => api.PipelineSchedules.allTriggeredPipelines(id, made.id));
      assert.equal(pipeline.source, "schedule");
      await variables.remove(id, made.id, "GREETING");
      assert.equal((await api.PipelineSchedules.takeOwnership(id, made.id)).owner.username, "root");
      await api.PipelineSchedules.remove(id, made.id);
      await refused(() => api.PipelineSchedules.show(id, made.id), 404);
    },

    async triggers() {
      const { id } = run.piped;
      const made = await api.PipelineTriggerTokens.create(id, "from outside");
      assert.equal((await api.PipelineTriggerTokens.edit(id, made.id, { description: "far" })).description, "far");
      assert.equal((await api.PipelineTriggerTokens.show(id, made.id)).token, made.token);
      assert.deepEqual((await api.PipelineTriggerTokens.all(id)).map((row) => row.description), ["far"]);
      const pipeline = await api.PipelineTriggerTokens.trigger(id, "main", made.token, { variables: { GREETING: "hi" } });
      assert.equal(pipeline.source, "trigger");
      const kept = await api.Pipelines.allVariables(id, pipeline.id);
      assert.equal(kept.find((row) => row.key === "GREETING")?.value, "hi");
      await refused(() => api.PipelineTriggerTokens.trigger(id, "main", "wrong"), 404);
      await api.PipelineTriggerTokens.remove(id, made.id);
      await refused(() => api.PipelineTriggerTokens.show(id, made.id), 404);
    },

    async runners() {
      const { id } = run.piped;
      const shown = await api.Runners.show(run.runner.id);
      assert.deepEqual([shown.runner_type, shown.status, shown.tag_list], ["project_type", "online", ["beaker"]]);
      const edited = await api.Runners.edit(run.runner.id, { description: "mended", tagList: ["beaker", "more"], paused: true });
      assert.deepEqual([edited.description, edited.tag_list.sort(), edited.paused], ["mended", ["beaker", "more"], true]);
      const ids = async (options) => (await api.Runners.all(options)).map((row) => row.id);
      assert.ok((await ids({ paused: true, tagList: ["more"] })).includes(run.runner.id));
      assert.ok((await ids({ owned: true })).includes(run.runner.id));
      assert.deepEqual(await ids({ projectId: id, type: "project_type" }), [run.runner.id]);
      const other = await api.Projects.create({ name: "Beaker other" });
      assert.equal((await api.Runners.enable(other.id, run.runner.id)).id, run.runner.id);
      await api.Runners.disable(other.id, run.runner.id);
      await refused(() => api.Runners.disable(id, run.runner.id), 403);
      await api.Projects.remove(other.id);
    },

    async "a runner leaves"() {
      await api.Runners.verify({ token: run.runner.token });
      await api.Runners.remove({ token: run.runner.token });
      await refused(() => api.Runners.show(run.runner.id), 404);
      const again = await api.Runners.register((await api.Projects.show(run.piped.id)).runners_token);
      await api.Runners.remove({ runnerId: again.id });
      await api.Projects.remove(run.piped.id);
    },
  };
}
