//! Everything below a top-level group, as one set of people.

use db::{Tx, each_backend, error, schema::members};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Error, Result,
    ids::{MemberId, NamespaceId, UserId},
};

use super::{Member, Place, Source};
use crate::{
    listing::{Bind, Row, rows},
    namespace::{Namespace, store::NamespaceStore},
};

/// A top-level group with all below it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) top: NamespaceId,
    /// Paths of everything below begin with this, and sort before the next one.
    pub(super) from: String,
    pub(super) to: String,
}

impl Tree {
    /// # Errors
    /// `refusal` where the caller does not own the group, or it is not a top-level one.
    pub(super) fn owned(tx: &mut Tx<'_>, place: &Place, refusal: fn(Why) -> Error) -> Result<Self> {
        let Source::Group(id) = place.source else { return Err(refusal(Why::Nested)) };
        let group = tx.namespace(id)?;
        if group.parent_id.is_some() {
            return Err(refusal(Why::Nested));
        }
        if !place.may_manage() {
            return Err(refusal(Why::NotOwner));
        }
        Ok(Self::below(&group))
    }

    fn below(group: &Namespace) -> Self {
        Self::of_top(group.id, &group.full_path.to_lowercase())
    }

    /// The tree of a group by its path in small letters.
    pub(super) fn of_top(top: NamespaceId, key: &str) -> Self {
        // `0` is what follows `/`.
        Self { top, from: format!("{key}/"), to: format!("{key}0") }
    }

    /// `groups` and `inside`, the ids of all groups and projects here, as parts of a statement whose first two values are
    /// those of [`load`](Self::load).
    pub(super) fn parts(&self) -> String {
        format!(
            "groups(id) AS (SELECT CAST({} AS BIGINT) UNION ALL SELECT n.id FROM namespaces n \
             WHERE n.path_key > $1 AND n.path_key < $2 AND n.kind = 'group' AND n.deleted_at IS NULL), \
             inside(id) AS (SELECT p.id FROM projects p \
             WHERE p.path_key > $1 AND p.path_key < $2 AND p.deleted_at IS NULL)",
            self.top
        )
    }

    /// Memberships given anywhere here that meet a condition on rows `m`.
    pub(super) fn members(&self, tx: &mut Tx<'_>, condition: &str) -> Result<Vec<Member>> {
        let text = format!(
            "WITH {} SELECT m.id AS id FROM members m WHERE {condition} \
             AND (m.namespace_id IN (SELECT id FROM groups) OR m.project_id IN (SELECT id FROM inside))",
            self.parts()
        );
        let ids: Vec<MemberId> =
            self.load::<Found>(tx, &text)?.into_iter().map(|found| MemberId(found.id)).collect();
        let query = members::table.filter(members::id.eq_any(ids)).order_by(members::id);
        each_backend!(tx, |conn| query
            .select(Member::as_select())
            .load(conn)
            .map_err(error("Member")))
    }

    /// Memberships of one person anywhere here that have not ended.
    pub(super) fn members_of(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Vec<Member>> {
        let now = tx.now.0;
        let living =
            format!("m.user_id = {user} AND (m.expires_at IS NULL OR m.expires_at > {now})");
        self.members(tx, &living)
    }
}

impl Tree {
    /// Runs a statement that begins with [`parts`](Self::parts).
    pub(super) fn load<T: Row>(&self, tx: &mut Tx<'_>, text: &str) -> Result<Vec<T>> {
        rows(tx, text, &[Bind::Word(self.from.clone()), Bind::Word(self.to.clone())])
    }
}

#[derive(QueryableByName)]
pub(super) struct Found {
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
}

/// Why a tree is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Nested,
    NotOwner,
}

/// The refusal that says nothing.
pub(super) fn plain(_: Why) -> Error {
    Error::BadRequest(String::new())
}
