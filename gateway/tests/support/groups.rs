//! Groups and those who are added to them, as people make them.

use diesel::prelude::*;
use kernel::{AccessLevel, ids::NamespaceId};
use org::access::refresh_group_share;
use serde_json::{Value, json};

use super::{Person, TestApp};

impl Person<'_> {
    /// Makes a private group; inside another one where `parent` is given.
    pub(crate) async fn group(&self, path: &str, parent: Option<i64>) -> i64 {
        self.group_with(path, json!({ "parent_id": parent })).await
    }

    pub(crate) async fn group_with(&self, path: &str, more: Value) -> i64 {
        let mut fields = json!({ "name": path, "path": path });
        for (name, value) in more.as_object().expect("fields") {
            fields[name] = value.clone();
        }
        self.post("/groups", fields).await.created()["id"].as_i64().expect("an id")
    }

    /// Adds somebody, with an account that is made when it is not there.
    pub(crate) async fn adds(&self, username: &str, level: i64, place: &str) -> i64 {
        let id = self.app.id_of(username);
        let fields = json!({ "user_id": id, "access_level": level });
        self.post(&format!("{place}/members"), fields).await.created();
        id
    }
}

impl TestApp {
    /// Shares `group` with the members of `invited`.
    pub(crate) fn invite_group(&self, group: i64, invited: i64, level: AccessLevel) {
        use db::schema::group_group_links::dsl;
        self.write(move |tx| {
            let row = (
                dsl::namespace_id.eq(group),
                dsl::invited_id.eq(invited),
                dsl::access_level.eq(level),
                dsl::created_at.eq(tx.now),
                dsl::updated_at.eq(tx.now),
            );
            let insert = diesel::insert_into(dsl::group_group_links).values(row);
            db::each_backend!(tx, |conn| insert.execute(conn).map_err(db::error("Group")))?;
            refresh_group_share(tx, NamespaceId(group), NamespaceId(invited))
        });
    }

    /// The id of somebody, whose account is made when it is not there.
    pub(crate) fn id_of(&self, username: &str) -> i64 {
        self.person(username);
        self.user(username).id.0
    }
}
