//! With what, and from where, an issue was written: for those who look after spam.

use db::{Tx, each_backend, error, schema::issue_origins};
use diesel::prelude::*;
use kernel::{Error, Grant, Result, ids::IssueId};

use super::actions::read;
use crate::policy::ReadIssueOrigins;

/// The longest name of a client that is kept.
const LONGEST: usize = 1_024;

/// The user agent and address that created an issue.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = issue_origins, check_for_backend(db::AnyBackend))]
pub struct Origin {
    /// As the client calls itself.
    pub user_agent: String,
    pub ip_address: String,
}

/// Keeps where an issue came from.
pub(super) fn keep(tx: &mut Tx<'_>, issue: IssueId, origin: &Origin) -> Result<()> {
    let agent: String = origin.user_agent.chars().take(LONGEST).collect();
    let row = (
        issue_origins::issue_id.eq(issue),
        issue_origins::user_agent.eq(agent),
        issue_origins::ip_address.eq(&origin.ip_address),
    );
    let row = diesel::insert_into(issue_origins::table).values(row);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
    Ok(())
}

/// Where the issue of that number came from.
///
/// # Errors
/// `NotFound` where that was not kept.
pub fn of(tx: &mut Tx<'_>, grant: &Grant<ReadIssueOrigins>, iid: i64) -> Result<Origin> {
    let issue = read(tx, grant.who(), grant.project(), iid)?;
    let row = issue_origins::table.find(issue.id);
    let found: Option<Origin> = each_backend!(tx, |conn| row
        .select(Origin::as_select())
        .first(conn)
        .optional()
        .map_err(error("Issue")))?;
    found.ok_or_else(|| Error::not_found("UserAgentDetail"))
}
