// Environments, deployments, exports and alerts through @gitbeaker/rest; gitbeaker.mjs runs these steps among its own.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const { Gitlab } = createRequire(join(process.cwd(), "package.json"))("@gitbeaker/rest");

const CONFIG = "deploy: {script: [make deploy], environment: production, tags: [nowhere]}\n";
const host = process.env.FORGEWAY_URL;
const headers = { "PRIVATE-TOKEN": process.env.FORGEWAY_TOKEN, "Content-Type": "application/json" };

/** A call that the client does not have. */
async function call(method, path, body) {
  const sent = { method, headers, body: body && JSON.stringify(body) };
  return fetch(`${host}/api/v4${path}`, sent);
}

/** What `find` answers once that is something. */
async function eventually(find) {
  for (let n = 0; n < 400; n += 1) {
    const found = await find();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error("nothing came of it");
}

export function deployments(api, run, refused) {
  const reported = (environment, status, ref = "main") =>
    api.Deployments.create(run.deployed.id, environment, run.deployedSha, ref, false, { status });

  return {
    async environments() {
      run.deployed = await api.Projects.create({ name: "Deployed", initializeWithReadme: true, defaultBranch: "main" });
      const { id } = run.deployed;
      run.deployedSha = (await api.Branches.show(id, "main")).commit.id;
      const made = await api.Environments.create(id, "review/One", { externalUrl: "https://one.example.org" });
      assert.deepEqual([made.tier, made.state], ["development", "available"]);
      const edited = await api.Environments.edit(id, made.id, { tier: "testing" });
      assert.equal(edited.tier, "testing");
      assert.equal((await api.Environments.show(id, made.id)).external_url, "https://one.example.org");
      assert.deepEqual((await api.Environments.all(id, { search: "review" })).map((row) => row.id), [made.id]);
      await refused(() => api.Environments.remove(id, made.id), 403);
      assert.equal((await api.Environments.stop(id, made.id)).state, "stopped");
      await api.Environments.remove(id, made.id);
      await refused(() => api.Environments.show(id, made.id), 404);
      await refused(() => api.Environments.removeReviewApps(id), 400);
      const before = new Date(Date.now() - 8 * 86_400_000).toISOString();
      assert.match((await api.Environments.stopStale(id, before)).message, /requested stop/);
    },

    async "deployments that are reported"() {
      const { id } = run.deployed;
      const made = await reported("staging", "running");
      assert.deepEqual([made.status, made.deployable, made.environment.name], ["running", null, "staging"]);
      assert.equal((await api.Deployments.edit(id, made.id, "success")).status, "success");
      assert.equal((await reported("staging", "success")).id, made.id);
      const failed = await reported("staging", "failed");
      const listed = await api.Deployments.all(id, { environment: "staging", orderBy: "iid", sort: "desc" });
      assert.deepEqual(listed.map((row) => row.id), [failed.id, made.id]);
      assert.deepEqual((await api.Deployments.all(id, { status: "failed" })).map((row) => row.id), [failed.id]);
      assert.equal((await api.Environments.show(id, made.environment.id)).last_deployment.id, made.id);
      await refused(() => reported("staging", "success", run.deployedSha), 400);
      await refused(() => api.Deployments.setApproval(id, made.id, "approved"), 400);
      await refused(() => api.Deployments.remove(id, made.id), 400);
      await api.Deployments.remove(id, failed.id);
      await refused(() => api.Deployments.show(id, failed.id), 404);
    },

    async "merge requests of deployments"() {
      const { id } = run.deployed;
      const actions = [{ action: "create", filePath: "one.txt", content: "one\n" }];
      await api.Commits.create(id, "one", "Add one", actions, { startBranch: "main" });
      const { iid } = await api.MergeRequests.create(id, "one", "main", "One");
      await eventually(async () => (await api.MergeRequests.show(id, iid)).detailed_merge_status === "mergeable");
      await api.MergeRequests.merge(id, iid);
      run.deployedSha = (await api.Branches.show(id, "main")).commit.id;
      const made = await reported("staging", "success");
      const brought = await eventually(async () => {
        const found = await api.Deployments.allMergeRequests(id, made.id);
        return found.length > 0 && found;
      });
      assert.deepEqual(brought.map((row) => row.iid), [iid]);
      const listed = await api.MergeRequests.all({ projectId: id, environment: "staging" });
      assert.deepEqual(listed.map((row) => row.iid), [iid]);
    },

    async "approvals of deployments"() {
      const { id } = run.deployed;
      const made = await api.ProjectProtectedEnvironments.create(id, "production", [{ accessLevel: 30 }], {
        requiredApprovalCount: 1,
      });
      assert.deepEqual([made.deploy_access_levels[0].access_level, made.required_approval_count], [30, 1]);
      assert.equal((await api.ProjectProtectedEnvironments.all(id)).length, 1);
      const dan = await api.Users.create({
        email: "dan@example.org", username: "dan", name: "Dan", forceRandomPassword: true, skipConfirmation: true,
      });
      await api.ProjectMembers.add(id, 30, { userId: dan.id });
      const { token } = await api.UserImpersonationTokens.create(dan.id, "deploys", ["api"]);
      const actions = [{ action: "create", filePath: ".gitlab-ci.yml", content: CONFIG }];
      await new Gitlab({ host, token }).Commits.create(id, "two", "Deploy", actions, { startBranch: "main" });
      const [blocked] = await eventually(async () => {
        const found = await api.Deployments.all(id, { environment: "production" });
        return found.length > 0 && found;
      });
      assert.deepEqual([blocked.status, blocked.deployable.status], ["blocked", "manual"]);
      const approval = await api.Deployments.setApproval(id, blocked.id, "approved", { comment: "Go" });
      assert.deepEqual([approval.status, approval.comment], ["approved", "Go"]);
      assert.equal((await api.Deployments.show(id, blocked.id)).pending_approval_count, 0);
      await api.ProjectProtectedEnvironments.remove(id, "production");
      await refused(() => api.ProjectProtectedEnvironments.show(id, "production"), 404);
      await api.Users.remove(dan.id, { hardDelete: true });
    },

    async "vulnerabilities and their exports"() {
      const { id } = run.deployed;
      assert.deepEqual(await api.ProjectVulnerabilities.all(id), []);
      const made = await (await call("POST", `/security/projects/${id}/vulnerability_exports`, {})).json();
      assert.deepEqual([made.status, made.project_id, made.format], ["created", id, "csv"]);
      const path = `/security/vulnerability_exports/${made.id}`;
      await eventually(async () => (await call("GET", path)).status === 200);
      const file = await call("GET", `${path}/download`);
      assert.equal(file.headers.get("content-type"), "text/csv");
      assert.match(await file.text(), /^Group Name,Project Name,Tool,/);
    },

    async alerts() {
      const { id } = run.deployed;
      const new_ = { name: "Monitor", active: true };
      const made = await (await call("POST", `/projects/${id}/alert_management_integrations`, new_)).json();
      const send = (key) =>
        fetch(made.url, {
          method: "POST",
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
          body: JSON.stringify({ title: "Disk is full", severity: "high" }),
        });
      assert.deepEqual(await (await send(made.token)).json(), [{ iid: 1, title: "Disk is full" }]);
      assert.equal((await send("wrong")).status, 401);
      const [alert] = await (await call("GET", `/projects/${id}/alert_management_alerts`)).json();
      assert.deepEqual([alert.event_count, alert.severity, alert.status], [1, "high", "triggered"]);
      await api.Projects.remove(id);
    },
  };
}
