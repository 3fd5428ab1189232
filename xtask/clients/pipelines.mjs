// Pipelines and jobs through @gitbeaker/rest, with a runner that plays them; gitbeaker.mjs runs these steps among its own.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const CONFIG = `
stages: [build, test]
default: {tags: [beaker]}
compile: {stage: build, script: [make], artifacts: {paths: [out/]}}
nested: {stage: test, trigger: {include: nested.yml}}
install: {stage: test, script: [make install], when: manual, resource_group: production/one}
review: {stage: test, script: [make review], rules: [{if: $CI_MERGE_REQUEST_IID}]}
`;
const NESTED = "inner: {script: [make inner], tags: [beaker]}\n";

/** Plays all that waits for this runner to success; answers the names of the jobs. */
export function playAll(token) {
  const runner = fileURLToPath(new URL("fake_runner.py", import.meta.url));
  return JSON.parse(execFileSync("python3", [runner, token], { encoding: "utf8" }));
}

export function pipelines(api, run, refused) {
  const statuses = async (pipelineId) => {
    const jobs = await api.Jobs.all(run.piped.id, { pipelineId });
    return Object.fromEntries(jobs.map((job) => [job.name, job.status]));
  };
  const newest = async (pipelineId, name) =>
    (await api.Jobs.all(run.piped.id, { pipelineId })).find((job) => job.name === name);

  return {
    async lint() {
      run.piped = await api.Projects.create({ name: "Piped", initializeWithReadme: true, defaultBranch: "main" });
      const { id } = run.piped;
      const good = await api.Lint.lint(id, CONFIG, { includeJobs: true });
      assert.deepEqual([good.valid, good.errors], [true, []]);
      assert.deepEqual(good.jobs.map((job) => job.name), ["compile", "nested", "install", "review"]);
      const bad = await api.Lint.lint(id, "compile: {stage: nowhere, script: x}");
      assert.equal(bad.valid, false);
      assert.equal(bad.errors.length, 1);
    },

    async "a pipeline of a push"() {
      const { id } = run.piped;
      const commit = await api.Commits.create(id, "main", "Begin", [
        { action: "create", filePath: ".gitlab-ci.yml", content: CONFIG },
        { action: "create", filePath: "nested.yml", content: NESTED },
      ]);
      assert.equal((await api.Lint.check(id, { dryRun: true, ref: "main" })).valid, true);
      const listed = await api.Pipelines.all(id, { ref: "main", status: "pending", orderBy: "updated_at", sort: "asc" });
      assert.deepEqual(listed.map((row) => [row.sha, row.source]), [[commit.id, "push"]]);
      assert.deepEqual(await api.Pipelines.all(id, { scope: "finished" }), []);
      assert.deepEqual(await api.Pipelines.all(id, { yamlErrors: true }), []);
      run.pipeline = await api.Pipelines.showLatest(id, { ref: "main" });
      assert.equal(run.pipeline.id, listed[0].id);
      assert.equal((await api.Pipelines.show(id, "latest")).id, listed[0].id);
      assert.equal((await api.Pipelines.show(id, listed[0].id)).user.username, "root");
      assert.deepEqual(await api.Pipelines.allVariables(id, listed[0].id), []);
      await refused(() => api.Pipelines.show(id, 987654321), 404);
    },

    async "jobs and bridges"() {
      const { id } = run.piped;
      assert.deepEqual(await statuses(run.pipeline.id), { compile: "pending", install: "created" });
      const waiting = await api.Jobs.all(id, { scope: ["pending", "running"] });
      assert.deepEqual(waiting.map((job) => job.name), ["compile"]);
      const bridges = await api.Jobs.allPipelineBridges(id, run.pipeline.id);
      assert.deepEqual(bridges.map((bridge) => [bridge.name, bridge.downstream_pipeline]), [["nested", null]]);
      const job = await api.Jobs.show(id, waiting[0].id);
      assert.deepEqual([job.stage, job.tag_list, job.pipeline.id], ["build", ["beaker"], run.pipeline.id]);
      assert.equal(await api.Jobs.showLog(id, job.id), "");
      await refused(() => api.JobArtifacts.downloadArchive(id, { jobId: job.id }), 404);
    },

    async "jobs that run"() {
      const { id } = run.piped;
      const { runners_token: token } = await api.Projects.show(id);
      run.runner = await api.Runners.register(token, { description: "beaker", tagList: "beaker", runUntagged: false });
      assert.deepEqual(playAll(run.runner.token).sort(), ["compile", "inner"]);
      assert.deepEqual(await statuses(run.pipeline.id), { compile: "success", install: "manual" });
      const [bridge] = await api.Jobs.allPipelineBridges(id, run.pipeline.id);
      assert.deepEqual([bridge.status, bridge.downstream_pipeline.source], ["success", "parent_pipeline"]);
      const done = await api.Pipelines.show(id, run.pipeline.id);
      assert.deepEqual([done.status, done.detailed_status.group], ["success", "success"]);
      const job = await newest(run.pipeline.id, "compile");
      assert.match(await api.Jobs.showLog(id, job.id), /^Running with fake-runner\n/);
      const report = await api.Pipelines.showTestReport(id, run.pipeline.id);
      assert.deepEqual([report.total_count, report.test_suites], [0, []]);
      assert.equal((await api.Pipelines.showTestReportSummary(id, run.pipeline.id)).total.count, 0);
    },

    async "artifacts of a branch"() {
      const compiled = { ref: "main", job: "compile" };
      assert.match(await (await api.JobArtifacts.downloadArchive(run.piped.id, compiled)).text(), /^PK/);
      const file = await api.JobArtifacts.downloadArchive(run.piped.id, { ...compiled, artifactPath: "out/program" });
      assert.equal(await file.text(), "built\n");
    },

    async artifacts() {
      const { id } = run.piped;
      const job = await newest(run.pipeline.id, "compile");
      const text = async (options) => (await api.JobArtifacts.downloadArchive(id, options)).text();
      assert.match(await text({ jobId: job.id }), /^PK/);
      assert.equal(await text({ jobId: job.id, artifactPath: "out/program" }), "built\n");
      assert.equal((await api.JobArtifacts.keep(id, job.id)).artifacts_expire_at, null);
      await api.JobArtifacts.remove(id, { jobId: job.id });
      await refused(() => api.JobArtifacts.downloadArchive(id, { jobId: job.id }), 404);
      assert.ok((await api.Jobs.erase(id, job.id)).erased_at);
      assert.equal(await api.Jobs.showLog(id, job.id), "");
    },

    async "jobs by hand"() {
      const { id } = run.piped;
      const job = await newest(run.pipeline.id, "install");
      const variables = [{ key: "TARGET", value: "moon" }];
      assert.equal((await api.Jobs.play(id, job.id, { jobVariablesAttributes: variables })).status, "pending");
      await refused(() => api.Jobs.play(id, job.id), 400);
      assert.equal((await api.Jobs.cancel(id, job.id)).status, "canceled");
      assert.notEqual((await api.Jobs.retry(id, job.id)).id, job.id);
      const group = await api.ResourceGroups.edit(id, "production/one", { processMode: "newest_first" });
      assert.equal(group.process_mode, "newest_first");
      assert.deepEqual((await api.ResourceGroups.all(id)).map((row) => row.key), ["production/one"]);
      assert.ok(Array.isArray(await api.ResourceGroups.allUpcomingJobs(id, "production/one")));
      assert.deepEqual(playAll(run.runner.token), ["install"]);
    },

    async "pipelines by hand"() {
      const { id } = run.piped;
      const variables = [{ key: "GREETING", value: "bye", variableType: "env_var" }];
      const made = await api.Pipelines.create(id, "main", { variables });
      assert.deepEqual([made.status, made.source], ["pending", "api"]);
      const [kept] = await api.Pipelines.allVariables(id, made.id);
      assert.deepEqual([kept.key, kept.value, kept.variable_type], ["GREETING", "bye", "env_var"]);
      assert.equal((await api.Pipelines.cancel(id, made.id)).status, "canceled");
      assert.equal((await api.Pipelines.retry(id, made.id)).status, "pending");
      await refused(() => api.Pipelines.create(id, "none"), 400);
      await api.Pipelines.remove(id, made.id);
      await refused(() => api.Pipelines.show(id, made.id), 404);
    },

    async "pipelines of merge requests"() {
      const { id } = run.piped;
      await api.Commits.create(id, "topic", "Add a", [{ action: "create", filePath: "a.txt", content: "a\n" }], { startBranch: "main" });
      const { iid } = await api.MergeRequests.create(id, "topic", "main", "Topic");
      const [first] = await api.MergeRequests.allPipelines(id, iid);
      assert.deepEqual([first.source, first.ref], ["merge_request_event", `refs/merge-requests/${iid}/head`]);
      const asked = await api.MergeRequests.createPipeline(id, iid);
      assert.equal((await api.MergeRequests.show(id, iid)).head_pipeline.id, asked.id);
      assert.deepEqual(await statuses(asked.id), { review: "pending" });
    },

    async "statuses of commits"() {
      const { id } = run.piped;
      const made = await api.Commits.editStatus(id, run.pipeline.sha, "failed", {
        name: "ci/outside", ref: "main", pipelineId: run.pipeline.id, targetUrl: "https://ci.example.org/1", coverage: 12.5,
      });
      assert.deepEqual([made.status, made.pipeline_id, made.coverage], ["failed", run.pipeline.id, 12.5]);
      const listed = await api.Commits.allStatuses(id, run.pipeline.sha, { all: true });
      assert.ok(listed.some((row) => row.name === "ci/outside") && listed.some((row) => row.name === "compile"));
      assert.equal((await api.Pipelines.show(id, run.pipeline.id)).status, "failed");
    },
  };
}
