//! A project with a merge request, for the tests of merges.

use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

/// A project of ada's with a first commit on `main`.
pub(crate) struct Stage<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) ada: Person<'a>,
    pub(crate) id: ProjectId,
    pub(crate) home: String,
}

impl<'a> Stage<'a> {
    pub(crate) async fn new(app: &'a TestApp) -> Self {
        let ada = app.person("ada");
        let id = app.project(&ada, "forge", Private);
        let home = format!("/projects/{id}");
        let stage = Self { app, ada, id, home };
        stage.commit("main", None, "README.md", "one\n").await;
        stage
    }

    /// As [`new`](Self::new), with a merge request of a branch `feature` with one commit.
    pub(crate) async fn with_merge_request(app: &'a TestApp) -> Self {
        let stage = Self::new(app).await;
        stage.propose("feature", json!({})).await;
        stage
    }

    pub(crate) async fn commit(
        &self,
        branch: &str,
        from: Option<&str>,
        file: &str,
        content: &str,
    ) -> String {
        self.commit_saying(branch, from, file, content, &format!("Write {file}")).await
    }

    pub(crate) async fn commit_saying(
        &self,
        branch: &str,
        from: Option<&str>,
        file: &str,
        content: &str,
        message: &str,
    ) -> String {
        let path = format!("{}/repository/files/{file}?ref={branch}", self.home);
        let known = from.is_none() && self.ada.get(&path).await.status == 200;
        let deed = if known { "update" } else { "create" };
        let action = json!({ "action": deed, "file_path": file, "content": content });
        let mut body = json!({ "branch": branch, "commit_message": message, "actions": [action] });
        if let Some(from) = from {
            body["start_branch"] = json!(from);
        }
        let made =
            self.ada.post(&format!("{}/repository/commits", self.home), body).await.created();
        made["id"].as_str().expect("an id").to_owned()
    }

    /// A merge request into `main` of a new branch with one commit; its number.
    pub(crate) async fn propose(&self, branch: &str, more: Value) -> i64 {
        self.commit(branch, Some("main"), &format!("{branch}.txt"), "new\n").await;
        let mut body =
            json!({ "source_branch": branch, "target_branch": "main", "title": "Add it" });
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        let made = self.ada.post(&format!("{}/merge_requests", self.home), body).await.created();
        made["iid"].as_i64().expect("a number")
    }

    pub(crate) async fn set(&self, settings: Value) {
        self.ada.put(&self.home, settings).await.ok();
    }

    pub(crate) fn one(&self, iid: i64) -> String {
        format!("{}/merge_requests/{iid}", self.home)
    }

    pub(crate) async fn shown(&self, iid: i64) -> Value {
        self.ada.get(&self.one(iid)).await.ok()
    }

    pub(crate) async fn merge(&self, iid: i64, how: Value) -> Answer {
        self.ada.put(&format!("{}/merge", self.one(iid)), how).await
    }

    pub(crate) async fn tip(&self, branch: &str) -> Value {
        let path = format!("{}/repository/branches/{branch}", self.home);
        self.ada.get(&path).await.ok()["commit"].clone()
    }

    pub(crate) async fn has_branch(&self, branch: &str) -> bool {
        self.ada.get(&format!("{}/repository/branches/{branch}", self.home)).await.status == 200
    }

    /// Makes issues by ada.
    pub(crate) fn issues(&self, count: i64) {
        use db::schema::issues::dsl;
        use diesel::prelude::*;
        let (project, author) = (self.id, self.app.user("ada").id);
        self.app.write(move |tx| {
            for iid in 1..=count {
                let row = (
                    dsl::project_id.eq(project),
                    dsl::iid.eq(iid),
                    dsl::title.eq("Something"),
                    dsl::state.eq("opened"),
                    dsl::issue_type.eq("issue"),
                    dsl::severity.eq("unknown"),
                    dsl::author_id.eq(author),
                    dsl::confidential.eq(false),
                    dsl::relative_position.eq(iid),
                    dsl::created_at.eq(tx.now),
                    dsl::updated_at.eq(tx.now),
                );
                let row = diesel::insert_into(dsl::issues).values(row);
                db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("Issue")))?;
            }
            Ok(())
        });
    }

    pub(crate) fn issue_states(&self) -> Vec<String> {
        use db::schema::issues::dsl;
        use diesel::prelude::*;
        let project = self.id;
        self.app.write(move |tx| {
            let all = dsl::issues.filter(dsl::project_id.eq(project)).order(dsl::iid);
            db::each_backend!(tx, |conn| all
                .select(dsl::state)
                .load(conn)
                .map_err(db::error("Issue")))
        })
    }

    pub(crate) async fn notes(&self, iid: i64) -> Vec<String> {
        use db::schema::{merge_requests, notes};
        use diesel::prelude::*;
        let project = self.id;
        let found: Vec<String> = self.app.write(move |tx| {
            let of = merge_requests::table
                .filter(merge_requests::project_id.eq(project).and(merge_requests::iid.eq(iid)))
                .select(merge_requests::id);
            let id: i64 = db::each_backend!(tx, |conn| of
                .first::<kernel::ids::MergeRequestId>(conn)
                .map_err(db::error("Merge request")))?
            .0;
            let all = notes::table
                .filter(notes::item_kind.eq("MergeRequest").and(notes::item_id.eq(id)))
                .order(notes::id)
                .select(notes::body);
            db::each_backend!(tx, |conn| all.load(conn).map_err(db::error("Note")))
        });
        found
    }
}

/// These fields of a record.
pub(crate) fn texts(record: &Value, fields: &[&str]) -> Vec<Value> {
    fields.iter().map(|field| record[field].clone()).collect()
}
