// Webhooks, integrations, settings and the rest of administration through @gitbeaker/rest; gitbeaker.mjs runs these
// steps among its own. The client has no class for the features of an installation: python-gitlab tries those.
import assert from "node:assert/strict";

const RECEIVER = "https://hooks.example.com/take";
// Calls are counted by the minute, and the other client exports too.
const UNCOUNTED = {};
for (const kind of ["project", "group"]) {
  for (const limit of ["ImportLimit", "ExportLimit", "DownloadExportLimit"]) UNCOUNTED[`${kind}${limit}`] = 0;
}

/** What `find` answers once that is something: what the server does after it has answered. */
async function eventually(find) {
  for (let n = 0; n < 400; n += 1) {
    const found = await find();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error("nothing came of it");
}

/** The import of a project once it has ended. */
async function endedImport(api, id) {
  const state = await api.ProjectImportExports.showImportStatus(id);
  return ["finished", "failed"].includes(state.import_status) && state;
}

export function admin(api, run, refused) {
  return {
    async "project hooks"() {
      const project = await api.Projects.create({ name: "Told Beaker" });
      const hook = await api.ProjectHooks.add(project.id, RECEIVER, { issuesEvents: true, token: "secret" });
      assert.deepEqual([hook.url, hook.issues_events, hook.token], [RECEIVER, true, undefined]);
      const change = { noteEvents: true, pushEventsBranchFilter: "release-*" };
      const edited = await api.ProjectHooks.edit(project.id, hook.id, RECEIVER, change);
      assert.deepEqual([edited.note_events, edited.push_events_branch_filter], [true, "release-*"]);
      assert.equal((await api.ProjectHooks.show(project.id, hook.id)).alert_status, "executable");
      assert.deepEqual((await api.ProjectHooks.all(project.id)).map((one) => one.id), [hook.id]);
      await refused(() => api.ProjectHooks.add(project.id, "http://127.0.0.1/"), 422);
      await api.ProjectHooks.remove(project.id, hook.id);
      await refused(() => api.ProjectHooks.show(project.id, hook.id), 404);
      await api.Projects.remove(project.id);
    },

    async "group and system hooks"() {
      const group = await api.Groups.create("Told beakers", "told-beaker");
      const hook = await api.GroupHooks.add(group.id, RECEIVER, { subgroupEvents: true });
      assert.deepEqual([hook.group_id, hook.subgroup_events], [group.id, true]);
      await api.GroupHooks.remove(group.id, hook.id);
      await api.Groups.remove(group.id);
      const system = await api.SystemHooks.add(RECEIVER, { mergeRequestsEvents: true });
      assert.deepEqual([system.merge_requests_events, system.repository_update_events], [true, true]);
      assert.deepEqual((await api.SystemHooks.all()).map((one) => one.url), [RECEIVER]);
      // This client shows a hook by a POST, which tries it out.
      assert.equal((await api.SystemHooks.show(system.id)).event_name, "project_create");
      await api.SystemHooks.remove(system.id);
      await refused(() => api.SystemHooks.show(system.id), 404);
    },

    async integrations() {
      const project = await api.Projects.create({ name: "Integrated Beaker" });
      assert.deepEqual(await api.Integrations.all(project.id), []);
      const set = await api.Integrations.edit(project.id, "pumble", { webhook: RECEIVER, pushEvents: false });
      assert.deepEqual([set.active, set.push_events, set.properties.webhook], [true, false, undefined]);
      assert.equal((await api.Integrations.show(project.id, "pumble")).slug, "pumble");
      await refused(() => api.Integrations.edit(project.id, "bugzilla", {}), 400);
      await api.Integrations.disable(project.id, "pumble");
      assert.deepEqual(await api.Integrations.all(project.id), []);
      await api.Projects.remove(project.id);
    },

    async "application settings"() {
      const before = await api.ApplicationSettings.show();
      const change = { homePageUrl: "https://start.example.com" };
      assert.equal((await api.ApplicationSettings.edit(change)).home_page_url, change.homePageUrl);
      await api.ApplicationSettings.edit({ homePageUrl: before.home_page_url ?? "" });
      await refused(() => api.ApplicationSettings.edit({ defaultProjectsLimit: "many" }), 400);
      assert.equal(typeof (await api.ApplicationStatistics.show()).projects, "string");
    },

    async imports() {
      const inner = { githubHostname: "http://127.0.0.1:1" };
      await refused(() => api.Import.importGithubRepository("t", 1, "root", inner), 400);
      const server = ["http://127.0.0.1:1", "ada", "t", "TEA", "pot"];
      await refused(() => api.Import.importBitbucketServerRepository(...server), 400);
      await refused(() => api.Import.importGithubGists("t", inner), 400);
      await refused(() => api.Import.cancelGithubRepositoryImport(987654321), 404);
    },

    // A repository with three issues, from a source on this machine.
    async "finished imports"() {
      await api.ApplicationSettings.edit({ allowLocalRequestsFromWebHooksAndServices: true });
      const source = { githubHostname: process.env.FORGEWAY_IMPORT_SOURCE, newName: "Imported Beaker" };
      const made = await api.Import.importGithubRepository("t", 1, "root", source);
      const state = await eventually(() => endedImport(api, made.id));
      assert.deepEqual([state.import_status, state.import_type], ["finished", "github"]);
      const issues = await api.Issues.all({ projectId: made.id });
      assert.deepEqual(issues.map((one) => one.iid).sort(), [1, 2, 3]);
      await api.Projects.remove(made.id);
      await api.ApplicationSettings.edit({ allowLocalRequestsFromWebHooksAndServices: false });
    },

    async archives() {
      await api.ApplicationSettings.edit(UNCOUNTED);
      const project = await api.Projects.create({ name: "Packed Beaker", initializeWithReadme: true });
      await api.Issues.create(project.id, "It leaks", { labels: "bug" });
      await api.ProjectImportExports.scheduleExport(project.id);
      await eventually(async () => (await api.ProjectImportExports.showExportStatus(project.id)).export_status === "finished");
      const content = await api.ProjectImportExports.download(project.id);
      const file = { content, filename: "packed.tar.gz" };
      const made = await api.ProjectImportExports.import(file, "unpacked-beaker", { namespace: "root" });
      const state = await eventually(() => endedImport(api, made.id));
      assert.deepEqual([state.import_status, state.import_type], ["finished", "gitlab_project"]);
      const [issue] = await api.Issues.all({ projectId: made.id });
      assert.deepEqual([issue.iid, issue.title, issue.labels], [1, "It leaks", ["bug"]]);
      await api.Projects.remove(made.id);
      await api.Projects.remove(project.id);
    },

    async "archives of groups"() {
      const group = await api.Groups.create("Packed beakers", "packed-beaker");
      await api.GroupLabels.create(group.id, "bug", "#ff0000");
      await api.GroupImportExports.scheduleExport(group.id);
      const content = await eventually(() => api.GroupImportExports.download(group.id).catch(() => undefined));
      const file = { content, filename: "packed.tar.gz" };
      await api.GroupImportExports.import(file, "unpacked-beaker", { name: "Unpacked beakers" });
      const names = async () => (await api.GroupLabels.all("unpacked-beaker")).map((one) => one.name);
      await eventually(async () => (await names()).includes("bug"));
      await api.Groups.remove("unpacked-beaker");
      await api.Groups.remove(group.id);
    },

    async "bulk imports"() {
      await api.ApplicationSettings.edit({ bulkImportEnabled: true });
      const entity = {
        sourceType: "group_entity",
        sourceFullPath: "tools",
        destinationNamespace: "",
        destinationSlug: "fetched-beaker",
      };
      const inner = { url: "http://127.0.0.1:1", accessToken: "t" };
      await refused(() => api.Migrations.create(inner, [entity]), 422);
      const source = { url: "https://source.example.com", accessToken: "t" };
      const made = await api.Migrations.create(source, [entity]);
      assert.equal((await api.Migrations.show(made.id)).source_url, source.url);
      assert.ok((await api.Migrations.all()).some((one) => one.id === made.id));
      const [own] = await api.Migrations.allEntities({ bulkImportId: made.id });
      assert.deepEqual([own.entity_type, own.destination_slug], ["group", "fetched-beaker"]);
      assert.equal((await api.Migrations.showEntity(made.id, own.id)).source_full_path, "tools");
      await api.ApplicationSettings.edit({ bulkImportEnabled: false });
    },

    async "audit events"() {
      const project = await api.Projects.create({ name: "Audited Beaker" });
      await api.Projects.edit(project.id, { visibility: "public" });
      const [newest] = await api.AuditEvents.all({ perPage: 1, maxPages: 1 });
      assert.equal((await api.AuditEvents.show(newest.id)).created_at, newest.created_at);
      const own = await api.AuditEvents.all({ projectId: project.id });
      assert.ok(own.length > 0 && own.every((one) => one.entity_id === project.id));
      await api.Projects.remove(project.id);
    },

    async "broadcast messages"() {
      const message = await api.BroadcastMessages.create({ message: "Down at noon", targetAccessLevels: [10, 30] });
      assert.deepEqual([message.active, message.target_access_levels], [true, [10, 30]]);
      assert.equal((await api.BroadcastMessages.edit(message.id, { color: "#000000" })).color, "#000000");
      assert.deepEqual((await api.BroadcastMessages.all()).map((one) => one.id), [message.id]);
      await api.BroadcastMessages.remove(message.id);
      await refused(() => api.BroadcastMessages.show(message.id), 404);
    },

    async "applications and own events"() {
      const scopes = "openid read_user";
      const made = await api.Applications.create("Board", "https://board.example.com", scopes);
      assert.ok(made.secret && made.application_id);
      assert.ok((await api.Applications.all()).some((one) => one.id === made.id));
      await api.Applications.remove(made.id);
      const project = await api.Projects.create({ name: "Active Beaker" });
      const events = await api.Events.all({ action: "created", targetType: "project", perPage: 5, maxPages: 1 });
      assert.ok(events.length > 0 && events.every((one) => one.target_type === "Project"));
      await refused(() => api.Events.all({ action: "slept" }), 400);
      await api.Projects.remove(project.id);
    },
  };
}
