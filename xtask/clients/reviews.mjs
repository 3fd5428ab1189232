// Issues, merge requests and approvals through @gitbeaker/rest; gitbeaker.mjs runs these steps among its own.
import assert from "node:assert/strict";

export function reviews(api, run, refused) {
  return {
    async issues() {
      run.reviewed = await api.Projects.create({ name: "Reviewed", initializeWithReadme: true, defaultBranch: "main" });
      const { id } = run.reviewed;
      await api.ProjectLabels.create(id, "bug", "#dc143c");
      const made = await api.Issues.create(id, "Too slow", {
        description: "- [ ] mend", labels: "bug", assigneeIds: [run.user.id], dueDate: "2099-01-31",
      });
      assert.deepEqual([made.iid, made.state, made.labels], [1, "opened", ["bug"]]);
      const other = await api.Issues.create(id, "Later", { confidential: true });
      assert.deepEqual((await api.Issues.all({ projectId: id, labels: "bug" })).map((issue) => issue.iid), [1]);
      assert.deepEqual((await api.Issues.all({ projectId: id, not: { labels: "bug" } })).map((issue) => issue.iid), [2]);
      assert.equal((await api.Issues.addSpentTime(id, 1, "1h 30m")).total_time_spent, 5400);
      await api.IssueLinks.create(id, 1, id, 2);
      assert.equal((await api.IssueLinks.all(id, 1)).length, 1);
      assert.equal((await api.Issues.edit(id, 2, { stateEvent: "close" })).state, "closed");
      await api.Issues.remove(id, 2);
      await refused(() => api.Issues.show(2, { projectId: id }), 404);
      assert.equal(other.confidential, true);
    },

    async "notes and threads"() {
      const { id } = run.reviewed;
      const note = await api.IssueNotes.create(id, 1, "I see it, too");
      assert.equal((await api.IssueNotes.edit(id, 1, note.id, { body: "I see it" })).body, "I see it");
      const thread = await api.IssueDiscussions.create(id, 1, "Why?");
      await api.IssueDiscussions.addNote(id, 1, thread.id, "Because");
      assert.equal((await api.IssueDiscussions.show(id, 1, thread.id)).notes.length, 2);
      await api.IssueAwardEmojis.award(id, 1, "thumbsup");
      assert.equal((await api.Issues.show(1, { projectId: id })).upvotes, 1);
      await api.Issues.createTodo(id, 1);
      const todos = await api.TodoLists.all({ projectId: id });
      assert.ok(todos.some((todo) => todo.action_name === "marked"));
      await api.TodoLists.done();
      assert.deepEqual(await api.TodoLists.all({ projectId: id }), []);
    },

    async "merge requests"() {
      const { id } = run.reviewed;
      await api.Commits.create(id, "quicker", "Make it quick", [
        { action: "create", filePath: "quick.txt", content: "one\ntwo\n" },
      ], { startBranch: "main" });
      const made = await api.MergeRequests.create(id, "quicker", "main", "Make it quick", { description: "Closes #1" });
      assert.deepEqual([made.iid, made.state], [1, "opened"]);
      await refused(() => api.MergeRequests.create(id, "quicker", "main", "Again"), 409);
      assert.equal((await api.MergeRequests.allCommits(id, 1)).length, 1);
      assert.equal((await api.MergeRequests.allDiffs(id, 1))[0].new_path, "quick.txt");
      assert.deepEqual((await api.MergeRequests.allIssuesClosed(id, 1)).map((issue) => issue.iid), [1]);
      const { diff_refs: refs } = await api.MergeRequests.show(id, 1);
      const thread = await api.MergeRequestDiscussions.create(id, 1, "Two is much", {
        position: {
          baseSha: refs.base_sha, startSha: refs.start_sha, headSha: refs.head_sha,
          positionType: "text", oldPath: "quick.txt", newPath: "quick.txt", newLine: "2",
        },
      });
      assert.equal(thread.notes[0].type, "DiffNote");
    },

    async approvals() {
      const { id } = run.reviewed;
      await api.MergeRequestApprovals.editConfiguration(id, { mergeRequestsAuthorApproval: true });
      const rule = await api.MergeRequestApprovals.createApprovalRule(id, "Keepers", 1, { userIds: [run.user.id] });
      assert.equal(rule.approvals_required, 1);
      await refused(() => api.MergeRequests.merge(id, 1), 405);
      await api.MergeRequestApprovals.approve(id, 1);
      const state = await api.MergeRequestApprovals.showApprovalState(id, 1);
      assert.equal(state.rules[0].approved, true);
    },

    async "statuses and a merge"() {
      const { id } = run.reviewed;
      const { sha } = await api.MergeRequests.show(id, 1);
      await api.Commits.editStatus(id, sha, "success", { name: "ci/outside" });
      assert.equal((await api.Commits.allStatuses(id, sha)).length, 1);
      const merged = await api.MergeRequests.merge(id, 1, { shouldRemoveSourceBranch: true });
      assert.equal(merged.state, "merged");
      assert.equal((await api.Issues.show(1, { projectId: id })).state, "closed");
      await refused(() => api.Branches.show(id, "quicker"), 404);
      await api.Projects.remove(id);
    },
  };
}
