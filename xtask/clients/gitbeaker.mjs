// Drives a running Forgeway through the unmodified @gitbeaker/rest: every step asserts what it got.
//
// Reads FORGEWAY_URL and FORGEWAY_TOKEN; the client is found from the folder this script is started in.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

import { admin } from "./admin.mjs";
import { ciSettings } from "./ci_settings.mjs";
import { deployments } from "./deployments.mjs";
import { geo } from "./geo.mjs";
import { pipelines } from "./pipelines.mjs";
import { reviews } from "./reviews.mjs";

const { Gitlab } = createRequire(join(process.cwd(), "package.json"))("@gitbeaker/rest");

const host = process.env.FORGEWAY_URL;
const api = new Gitlab({ host, token: process.env.FORGEWAY_TOKEN });

/** What later steps need from earlier ones. */
const run = {};

/** The call must fail with that status; answers the client's error. */
async function refused(call, status) {
  try {
    await call();
  } catch (error) {
    assert.equal(error.cause?.response?.status, status, String(error));
    return error;
  }
  throw new Error(`no error, ${status} was expected`);
}

const steps = {
  async authentication() {
    run.user = await api.Users.showCurrentUser();
    assert.equal(run.user.username, "root");
    const { version } = await api.Metadata.show();
    assert.match(version, /^\d+\.\d+\.\d+/);
    const stranger = new Gitlab({ host, token: "wrong" });
    await refused(() => stranger.Users.showCurrentUser(), 401);
  },

  async projects() {
    run.project = await api.Projects.create({ name: "Smoke Beaker", path: "smoke-beaker", defaultBranch: "main" });
    assert.equal(run.project.path_with_namespace, "root/smoke-beaker");
    assert.equal((await api.Projects.show("root/smoke-beaker")).id, run.project.id);
    const listed = await api.Projects.all({ search: "smoke beaker" });
    assert.deepEqual(listed.map((project) => project.id), [run.project.id]);
    const edited = await api.Projects.edit(run.project.id, { description: "made by gitbeaker", topics: ["one", "two"] });
    assert.equal(edited.description, "made by gitbeaker");
    assert.deepEqual(edited.topics, ["one", "two"]);
    await refused(() => api.Projects.show(987654321), 404);
    assert.equal((await api.Projects.star(run.project.id)).star_count, 1);
  },

  async "lists of pages"() {
    const made = [];
    for (let n = 0; n < 5; n += 1) made.push((await api.Projects.create({ name: `beaker page ${n}` })).id);
    const offset = await api.Projects.all({ perPage: 2, orderBy: "id", sort: "asc", pagination: "offset" });
    const ids = offset.map((project) => project.id);
    assert.deepEqual(ids, [...ids].sort((a, b) => a - b));
    for (const id of made) assert.ok(ids.includes(id));
    const keyset = await api.Projects.all({ perPage: 2, orderBy: "id", sort: "desc", pagination: "keyset" });
    assert.deepEqual(keyset.map((project) => project.id), ids.reverse());
    const one = await api.Projects.all({ page: 1, perPage: 2, showExpanded: true });
    assert.equal(one.data.length, 2);
    assert.equal(one.paginationInfo.perPage, 2);
    assert.ok(one.paginationInfo.total >= 6);
    for (const id of made) await api.Projects.remove(id);
  },

  async commits() {
    const made = await api.Commits.create(run.project.id, "main", "Begin", [
      { action: "create", filePath: "README.md", content: "# Beaker\n" },
      { action: "create", filePath: "bin/run", content: Buffer.from("#!/bin/sh\n").toString("base64"), encoding: "base64" },
      { action: "chmod", filePath: "bin/run", executeFilemode: true },
    ]);
    run.first = made.id;
    assert.equal(made.title, "Begin");
    assert.equal(made.stats.additions, 2);
    const second = await api.Commits.create(run.project.id, "main", "Go on", [
      { action: "update", filePath: "README.md", content: "# Beaker\n\nMore\n" },
    ]);
    const listed = await api.Commits.all(run.project.id, { withStats: true });
    assert.deepEqual(listed.map((commit) => commit.id), [second.id, made.id]);
    assert.equal(listed[0].stats.additions, 2);
    assert.deepEqual((await api.Commits.show(run.project.id, second.id)).parent_ids, [made.id]);
    const diff = await api.Commits.showDiff(run.project.id, second.id);
    assert.equal(diff[0].new_path, "README.md");
    assert.ok(diff[0].diff.includes("+More"));
    assert.deepEqual(await api.Commits.allReferences(run.project.id, made.id), [{ type: "branch", name: "main" }]);
    await api.Commits.createComment(run.project.id, made.id, "Seen");
    assert.equal((await api.Commits.allComments(run.project.id, made.id))[0].note, "Seen");
    await refused(() => api.Commits.show(run.project.id, "0".repeat(40)), 404);
  },

  async files() {
    const { id } = run.project;
    await api.RepositoryFiles.create(id, "docs/a b.md", "main", "one\n", "Add a page");
    const file = await api.RepositoryFiles.show(id, "docs/a b.md", "main");
    assert.equal(Buffer.from(file.content, "base64").toString(), "one\n");
    await api.RepositoryFiles.edit(id, "docs/a b.md", "main", "one\ntwo\n", "Change the page");
    const raw = await api.RepositoryFiles.showRaw(id, "docs/a b.md", "main");
    assert.equal(typeof raw === "string" ? raw : await raw.text(), "one\ntwo\n");
    const blame = await api.RepositoryFiles.allFileBlames(id, "docs/a b.md", "main", { range: { start: 2, end: 2 } });
    assert.deepEqual(blame.map((part) => part.lines), [["two"]]);
    await api.RepositoryFiles.remove(id, "docs/a b.md", "main", "Remove the page");
    await refused(() => api.RepositoryFiles.show(id, "docs/a b.md", "main"), 404);
  },

  async branches() {
    const { id } = run.project;
    const made = await api.Branches.create(id, "topic/two", run.first);
    assert.equal(made.commit.id, run.first);
    assert.deepEqual((await api.Branches.all(id)).map((branch) => branch.name), ["main", "topic/two"]);
    assert.equal((await api.Branches.show(id, "topic/two")).merged, true);
    await refused(() => api.Branches.create(id, "topic/two", "main"), 400);
  },

  async "picks and reverts"() {
    const { id } = run.project;
    const made = await api.Commits.create(id, "topic/two", "Add b", [
      { action: "create", filePath: "b.txt", content: "b\n" },
    ]);
    assert.deepEqual(await api.Commits.cherryPick(id, made.id, "main", { dryRun: true }), { dry_run: "success" });
    const picked = await api.Commits.cherryPick(id, made.id, "main");
    assert.ok(picked.message.includes(`(cherry picked from commit ${made.id})`));
    const reverted = await api.Commits.revert(id, picked.id, "main");
    assert.equal(reverted.title, 'Revert "Add b"');
    await refused(() => api.Commits.cherryPick(id, "0".repeat(40), "main"), 404);
  },

  async repository() {
    const { id } = run.project;
    const tree = await api.Repositories.allRepositoryTrees(id, { recursive: true });
    assert.ok(tree.some((entry) => entry.path === "bin/run" && entry.mode === "100755"));
    const readme = tree.find((entry) => entry.path === "README.md");
    const blob = await api.Repositories.showBlob(id, readme.id);
    assert.equal(Buffer.from(blob.content, "base64").toString(), "# Beaker\n\nMore\n");
    const compared = await api.Repositories.compare(id, "main", "topic/two");
    assert.deepEqual(compared.commits.map((commit) => commit.title), ["Add b"]);
    assert.equal((await api.Repositories.mergeBase(id, ["main", "topic/two"])).id, run.first);
    assert.ok((await api.Repositories.allContributors(id)).length >= 1);
    const archive = await api.Repositories.showArchive(id, { fileType: "zip", sha: "main" });
    assert.ok(archive.size > 100);
  },

  async tags() {
    const { id } = run.project;
    const made = await api.Tags.create(id, "v1.0", "main", { message: "First" });
    assert.equal(made.message, "First");
    assert.deepEqual((await api.Tags.all(id)).map((tag) => tag.name), ["v1.0"]);
    assert.equal((await api.Tags.show(id, "v1.0")).target, made.target);
    await api.Tags.remove(id, "v1.0");
    await refused(() => api.Tags.show(id, "v1.0"), 404);
  },

  async "protected branches"() {
    const { id } = run.project;
    const made = await api.ProtectedBranches.protect(id, "release/*", { pushAccessLevel: 0, mergeAccessLevel: 30 });
    assert.equal(made.push_access_levels[0].access_level, 0);
    assert.equal(made.merge_access_levels[0].access_level, 30);
    const edited = await api.ProtectedBranches.edit(id, "release/*", { allowForcePush: true });
    assert.equal(edited.allow_force_push, true);
    const names = (await api.ProtectedBranches.all(id)).map((rule) => rule.name);
    assert.deepEqual(names, ["main", "release/*"]);
    await api.ProtectedBranches.unprotect(id, "release/*");
    await refused(() => api.ProtectedBranches.show(id, "release/*"), 404);
  },

  async "protected tags"() {
    const { id } = run.project;
    const made = await api.ProtectedTags.protect(id, "v*", { createAccessLevel: 40 });
    assert.equal(made.create_access_levels[0].access_level, 40);
    await api.ProtectedTags.unprotect(id, "v*");
    assert.deepEqual(await api.ProtectedTags.all(id), []);
  },

  async tokens() {
    const made = await api.Users.createPersonalAccessToken(run.user.id, "beaker", ["read_api"]);
    const reader = new Gitlab({ host, token: made.token });
    assert.equal((await reader.Users.showCurrentUser()).username, "root");
    await refused(() => reader.Projects.create({ name: "not allowed" }), 403);
    await api.PersonalAccessTokens.remove({ tokenId: made.id });
    await refused(() => reader.Users.showCurrentUser(), 401);
  },

  async people() {
    run.person = await api.Users.create({
      username: "bea", name: "Bea", email: "bea@example.org", forceRandomPassword: true, skipConfirmation: true,
    });
    assert.equal(run.person.state, "active");
    assert.equal((await api.Users.edit(run.person.id, { bio: "About me" })).bio, "About me");
    assert.deepEqual((await api.Users.all({ username: "BEA" })).map((user) => user.id), [run.person.id]);
    const mail = await api.UserEmails.create("bea@work.example.org", { userId: run.person.id, skipConfirmation: true });
    assert.equal(mail.email, "bea@work.example.org");
    assert.equal((await api.UserEmails.all({ userId: run.person.id })).length, 1);
    await api.Users.block(run.person.id);
    assert.equal((await api.Users.show(run.person.id)).state, "blocked");
    await api.Users.unblock(run.person.id);
    const token = await api.UserImpersonationTokens.create(run.person.id, "as bea", ["api"], "2099-12-31");
    const bea = new Gitlab({ host, token: token.token });
    assert.equal((await bea.Users.showCurrentUser()).username, "bea");
    await api.UserImpersonationTokens.revoke(run.person.id, token.id);
    await refused(() => bea.Users.showCurrentUser(), 401);
  },

  async groups() {
    run.group = await api.Groups.create("Beaker Group", "beaker-group", { visibility: "private" });
    const inner = await api.Groups.create("Inner", "inner", { parentId: run.group.id });
    assert.equal(inner.full_path, "beaker-group/inner");
    assert.deepEqual((await api.Groups.allSubgroups(run.group.id)).map((group) => group.id), [inner.id]);
    assert.equal((await api.Groups.edit(run.group.id, { description: "by gitbeaker" })).description, "by gitbeaker");
    assert.deepEqual((await api.Groups.search("beaker-g")).map((group) => group.path).sort(), ["beaker-group", "inner"]);
    const friends = await api.Groups.create("Friends", "beaker-friends");
    await api.Groups.share(run.group.id, friends.id, 20, {});
    assert.equal((await api.Groups.show(run.group.id)).shared_with_groups[0].group_id, friends.id);
    await api.Groups.unshare(run.group.id, friends.id, {});
    await api.Groups.transfer(inner.id, { groupId: friends.id });
    assert.equal((await api.Groups.show(inner.id)).full_path, "beaker-friends/inner");
    await api.Groups.remove(friends.id);
    await refused(() => api.Groups.show(987654321), 404);
  },

  async members() {
    const { group, person } = run;
    const made = await api.GroupMembers.add(group.id, 30, { userId: person.id });
    assert.deepEqual([made.username, made.access_level], ["bea", 30]);
    assert.equal((await api.GroupMembers.edit(group.id, person.id, 40, { expiresAt: "2099-12-31" })).access_level, 40);
    const all = await api.GroupMembers.all(group.id, { includeInherited: true });
    assert.deepEqual(all.map((member) => member.username).sort(), ["bea", "root"]);
    assert.equal((await api.GroupMembers.allBillable(group.id)).length, 2);
    const invited = await api.GroupInvitations.add(group.id, 20, { email: "later@example.org" });
    assert.equal(invited.status, "success");
    assert.deepEqual((await api.GroupInvitations.all(group.id)).map((row) => row.invite_email), ["later@example.org"]);
    await api.GroupInvitations.remove(group.id, "later@example.org");
    await api.GroupMembers.remove(group.id, person.id);
    await refused(() => api.GroupMembers.show(group.id, person.id), 404);
  },

  async "push rules"() {
    const { group } = run;
    const rule = await api.GroupPushRules.create(group.id, { denyDeleteTag: true, maxFileSize: 5 });
    assert.deepEqual([rule.deny_delete_tag, rule.max_file_size], [true, 5]);
    const project = await api.Projects.create({ name: "Ruled", namespaceId: group.id });
    assert.equal((await api.ProjectPushRules.show(project.id)).max_file_size, 5);
    assert.equal((await api.ProjectPushRules.edit(project.id, { maxFileSize: 6 })).max_file_size, 6);
    await api.ProjectPushRules.remove(project.id);
    await api.GroupPushRules.remove(group.id);
    await refused(() => api.GroupPushRules.show(group.id), 404);
  },

  async wikis() {
    const { group } = run;
    const page = await api.GroupWikis.create(group.id, "# Hello", "Some page");
    assert.equal(page.slug, "Some-page");
    assert.match((await api.GroupWikis.show(group.id, "Some-page", { renderHtml: true })).content, /<h1[^>]*>Hello</);
    const edited = await api.GroupWikis.edit(group.id, "Some-page", { content: "# Bye", title: "Other page" });
    assert.equal(edited.slug, "Other-page");
    const file = { content: new Blob(["a,b\n"]), filename: "table.csv" };
    assert.match((await api.GroupWikis.uploadAttachment(group.id, file)).file_path, /^uploads\/[0-9a-f]{32}\/table\.csv$/);
    assert.deepEqual((await api.GroupWikis.all(group.id)).map((row) => row.slug), ["Other-page"]);
    await api.GroupWikis.remove(group.id, "Other-page");
    await refused(() => api.GroupWikis.show(group.id, "Other-page"), 404);
  },

  async "people leave"() {
    await api.Groups.remove(run.group.id);
    await api.Users.remove(run.person.id, { hardDelete: true });
    await refused(() => api.Users.show(run.person.id), 404);
  },

  async ends() {
    await api.Branches.remove(run.project.id, "topic/two");
    await api.Projects.remove(run.project.id);
    await refused(() => api.Projects.show("root/smoke-beaker"), 404);
  },
};

const { ends, ...first } = steps;
const all = { ...first };
for (const more of [reviews, pipelines, ciSettings, deployments, geo, admin]) Object.assign(all, more(api, run, refused));
all.ends = ends;

let failed = 0;
for (const [name, step] of Object.entries(all)) {
  try {
    await step();
    console.log(`gitbeaker: ${name}: ok`);
  } catch (error) {
    failed += 1;
    console.log(`gitbeaker: ${name}: FAILED\n${error.stack}\n${error.cause?.description ?? ""}`);
  }
}
const count = Object.keys(all).length;
console.log(`gitbeaker: ${count - failed} of ${count} steps ok`);
process.exitCode = failed > 0 ? 1 : 0;
