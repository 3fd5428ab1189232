//! Rows of approval settings, of approvals, and of the authors of a merge request's commits.

use std::collections::{BTreeSet, HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        approval_settings as settings, approvals, merge_request_committers as committers,
        merge_request_rules as counting, merge_requests,
    },
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ApprovalRuleId, MergeRequestId, ProjectId, UserId},
};

use super::model::{Approval, ApprovalSettings};
use crate::merge_request::{MergeRequest, MergeRequestState};

pub trait ApprovalStore {
    fn approval_settings(&mut self, project: ProjectId) -> Result<ApprovalSettings>;
    fn save_approval_settings(
        &mut self,
        project: ProjectId,
        wanted: &ApprovalSettings,
    ) -> Result<()>;
    /// Who approved these merge requests, in the order in which they did.
    fn approvals_of(
        &mut self,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, Vec<Approval>>>;
    fn insert_approval(&mut self, id: MergeRequestId, user: UserId) -> Result<()>;
    /// Tells whether there was one.
    fn delete_approval(&mut self, id: MergeRequestId, user: UserId) -> Result<bool>;
    /// Takes back those of these people, or of everybody. Returns whose there were.
    fn delete_approvals(
        &mut self,
        id: MergeRequestId,
        of: Option<&HashSet<UserId>>,
    ) -> Result<Vec<UserId>>;
    fn committers_of(
        &mut self,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, HashSet<UserId>>>;
    fn save_committers(&mut self, id: MergeRequestId, people: &[UserId]) -> Result<()>;
    /// Writes down whether nobody has to approve any more.
    fn save_approved(&mut self, id: MergeRequestId, approved: bool) -> Result<()>;
    /// Writes down which rules count for these merge requests.
    fn save_counting_rules(
        &mut self,
        all: &[(MergeRequestId, BTreeSet<ApprovalRuleId>)],
    ) -> Result<()>;
    /// The merge requests from a branch that can still be approved.
    fn approvable_from(&mut self, project: ProjectId, branch: &str) -> Result<Vec<MergeRequest>>;
    /// The merge requests of a project that are not over.
    fn approvable(&mut self, project: ProjectId) -> Result<Vec<MergeRequest>>;
}

impl ApprovalStore for Tx<'_> {
    fn approval_settings(&mut self, project: ProjectId) -> Result<ApprovalSettings> {
        let found = each_backend!(self, |conn| settings::table
            .find(project)
            .select(ApprovalSettings::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Approval settings")))?;
        Ok(found.unwrap_or_default())
    }

    fn save_approval_settings(
        &mut self,
        project: ProjectId,
        wanted: &ApprovalSettings,
    ) -> Result<()> {
        let row = (
            settings::reset_on_push.eq(wanted.reset_on_push),
            settings::selective_removals.eq(wanted.selective_removals),
            settings::no_overriding.eq(wanted.no_overriding),
            settings::author_approval.eq(wanted.author_approval),
            settings::no_committer_approval.eq(wanted.no_committer_approval),
            settings::require_password.eq(wanted.require_password),
        );
        each_backend!(self, |conn| diesel::insert_into(settings::table)
            .values((settings::project_id.eq(project), row))
            .on_conflict(settings::project_id)
            .do_update()
            .set(row)
            .execute(conn)
            .map_err(error("Approval settings")))?;
        Ok(())
    }

    fn approvals_of(
        &mut self,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, Vec<Approval>>> {
        let rows: Vec<Approval> = each_backend!(self, |conn| approvals::table
            .filter(approvals::merge_request_id.one_of(ids))
            .order(approvals::id)
            .select(Approval::as_select())
            .load(conn)
            .map_err(error("Approval")))?;
        let mut all: HashMap<_, Vec<Approval>> = HashMap::new();
        for row in rows {
            all.entry(row.merge_request_id).or_default().push(row);
        }
        Ok(all)
    }

    fn insert_approval(&mut self, id: MergeRequestId, user: UserId) -> Result<()> {
        let row = (
            approvals::merge_request_id.eq(id),
            approvals::user_id.eq(user),
            approvals::created_at.eq(self.now),
        );
        let row = diesel::insert_into(approvals::table).values(row);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Approval")))?;
        Ok(())
    }

    fn delete_approval(&mut self, id: MergeRequestId, user: UserId) -> Result<bool> {
        let row = approvals::table
            .filter(approvals::merge_request_id.eq(id).and(approvals::user_id.eq(user)));
        let row = diesel::delete(row);
        let gone = each_backend!(self, |conn| row.execute(conn).map_err(error("Approval")))?;
        Ok(gone > 0)
    }

    fn delete_approvals(
        &mut self,
        id: MergeRequestId,
        of: Option<&HashSet<UserId>>,
    ) -> Result<Vec<UserId>> {
        let all = self.approvals_of(&[id])?.remove(&id).unwrap_or_default();
        let people = all.into_iter().map(|approval| approval.user_id);
        let people: Vec<UserId> =
            people.filter(|user| of.is_none_or(|of| of.contains(user))).collect();
        let rows = approvals::table
            .filter(approvals::merge_request_id.eq(id).and(approvals::user_id.one_of(&people)));
        let rows = diesel::delete(rows);
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Approval")))?;
        Ok(people)
    }

    fn committers_of(
        &mut self,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, HashSet<UserId>>> {
        let rows: Vec<(MergeRequestId, UserId)> = each_backend!(self, |conn| committers::table
            .filter(committers::merge_request_id.one_of(ids))
            .select((committers::merge_request_id, committers::user_id))
            .load(conn)
            .map_err(error("User")))?;
        let mut all: HashMap<_, HashSet<UserId>> = HashMap::new();
        for (id, user) in rows {
            all.entry(id).or_default().insert(user);
        }
        Ok(all)
    }

    fn save_committers(&mut self, id: MergeRequestId, people: &[UserId]) -> Result<()> {
        let old = committers::table.filter(committers::merge_request_id.eq(id));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("User")))?;
        let row =
            |user: &UserId| (committers::merge_request_id.eq(id), committers::user_id.eq(*user));
        let rows: Vec<_> = people.iter().map(row).collect();
        let rows = diesel::insert_into(committers::table).values(rows);
        each_backend!(self, |conn| rows.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn save_approved(&mut self, id: MergeRequestId, approved: bool) -> Result<()> {
        let other = merge_requests::table.find(id).filter(merge_requests::approved.ne(approved));
        let update = diesel::update(other).set(merge_requests::approved.eq(approved));
        each_backend!(self, |conn| update.execute(conn).map_err(error("Merge request")))?;
        Ok(())
    }

    fn save_counting_rules(
        &mut self,
        all: &[(MergeRequestId, BTreeSet<ApprovalRuleId>)],
    ) -> Result<()> {
        let ids: Vec<MergeRequestId> = all.iter().map(|(id, _)| *id).collect();
        let known: Vec<(MergeRequestId, ApprovalRuleId)> =
            each_backend!(self, |conn| counting::table
                .filter(counting::merge_request_id.one_of(&ids))
                .select((counting::merge_request_id, counting::rule_id))
                .load(conn)
                .map_err(error("Approval rule")))?;
        let mut before: HashMap<MergeRequestId, BTreeSet<ApprovalRuleId>> = HashMap::new();
        for (id, rule) in known {
            before.entry(id).or_default().insert(rule);
        }
        for (id, rules) in all {
            let before = before.remove(id).unwrap_or_default();
            if before == *rules {
                continue;
            }
            let gone: Vec<ApprovalRuleId> = before.difference(rules).copied().collect();
            let gone = counting::table
                .filter(counting::merge_request_id.eq(id).and(counting::rule_id.one_of(&gone)));
            let gone = diesel::delete(gone);
            each_backend!(self, |conn| gone.execute(conn).map_err(error("Approval rule")))?;
            let row = |rule: &ApprovalRuleId| {
                (counting::merge_request_id.eq(*id), counting::rule_id.eq(*rule))
            };
            let rows: Vec<_> = rules.difference(&before).map(row).collect();
            let rows = diesel::insert_into(counting::table).values(rows);
            each_backend!(self, |conn| rows.execute(conn).map_err(error("Approval rule")))?;
        }
        Ok(())
    }

    fn approvable_from(&mut self, project: ProjectId, branch: &str) -> Result<Vec<MergeRequest>> {
        let states =
            [MergeRequestState::Opened, MergeRequestState::Closed, MergeRequestState::Locked];
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::source_project_id.eq(project))
            .filter(merge_requests::source_branch.eq(branch))
            .filter(merge_requests::state.eq_any(states))
            .order(merge_requests::id)
            .select(MergeRequest::as_select())
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn approvable(&mut self, project: ProjectId) -> Result<Vec<MergeRequest>> {
        let states = [MergeRequestState::Opened, MergeRequestState::Locked];
        let rows = merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::state.eq_any(states))
            .order(merge_requests::id);
        each_backend!(self, |conn| rows
            .select(MergeRequest::as_select())
            .load(conn)
            .map_err(error("Merge request")))
    }
}
